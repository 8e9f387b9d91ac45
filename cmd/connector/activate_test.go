package main

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"connectorcore/engine/platform"
	"connectorcore/engine/serve"
	"connectorcore/engine/witness"
	"connectorcore/facts"
	servingfacts "connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/proptest/world"
	"connectorcore/readers/owners"
	"connectorcore/schema"
)

// configured installs every shipped pack, authorises all of them, and configures one account that uses all their routes.
func configured(t *testing.T, sh *shell, store *world.Store) (*platform.Owners, owners.Configuration) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	folders, err := filepath.Glob("../../packs/*")
	must(err)
	var generations []facts.PackGenerationID
	for _, folder := range folders {
		folder, err := filepath.Abs(folder)
		must(err)
		generation, err := facts.ParseKey[facts.PackGenerationID](decode[installed](t, sh.done("pack", "install", folder, "--output", "json").out).Generation)
		must(err)
		generations = append(generations, generation)
	}
	opened, err := serve.OpenStore(t.Context(), platform.Store{DSN: store.DSN()}, nil)
	must(err)
	t.Cleanup(func() { _ = opened.Close() })
	_, at, err := opened.Coordinator(t.Context(), witness.File{}, platform.Authority{}, func(string) {})
	must(err)
	revision, err := at.Authorise(t.Context(), generations)
	must(err)
	exact, _ := at.Set().Catalog.CurrentView(t.Context(), at.Scope(), revision).Value()
	view, err := owners.OpenView(at.Scope(), exact)
	must(err)
	account := owners.AccountConfiguration{Account: facts.Mint[facts.AccountID]()}
	account.Organization, err = facts.ParseKey[facts.RemoteIdentity]("org")
	must(err)
	backend, err := facts.ParseKey[facts.OwnerName]("file")
	must(err)
	version, err := facts.ParseKey[facts.SecretVersion]("v-1")
	must(err)
	for _, b := range view.Bindings {
		if b.Kind == servingfacts.InboundRoute {
			account.Routes = append(account.Routes, owners.RouteRef{Pack: b.OwnerPack, Route: b.BusinessKey, Version: b.Version})
		}
		refs, err := owners.DecodeRefs(b.CredentialRefs)
		must(err)
		for _, ref := range refs {
			if !slices.ContainsFunc(account.Credentials, func(m owners.CredentialMapping) bool { return m.Ref == ref }) {
				account.Provider = ref.Provider
				account.Credentials = append(account.Credentials, owners.CredentialMapping{Ref: ref, Generation: facts.Mint[facts.CredentialGenerationID]()})
			}
		}
	}
	slices.SortFunc(account.Credentials, func(a, b owners.CredentialMapping) int {
		if by := a.Ref.Name.Compare(b.Ref.Name); by != 0 {
			return by
		}
		return a.Ref.Provider.Compare(b.Ref.Provider)
	})
	var credentials []owners.CredentialGeneration
	for _, m := range account.Credentials {
		credentials = append(credentials, owners.CredentialGeneration{ID: m.Generation, Identity: m.Ref.Name, Account: account.Account, Provider: m.Ref.Provider, Backend: backend, Version: version})
	}
	must(at.PublishCredentials(t.Context(), credentials))
	c := owners.Configuration{Limits: owners.DefaultLimits(), Accounts: []owners.AccountConfiguration{account}}
	_, err = at.PublishConfiguration(t.Context(), c)
	must(err)
	return at, c
}

// From shipped packs of different shape to an account that serves, by commands alone once it is configured.
func TestShippedPacksComeToServeByOneCommand(t *testing.T) {
	store := world.Fresh(t)
	sh := newShell(t).dsn(configOf(store.Login, store.Name))
	command := []string{"activate", "--principal", "maria", "--output", "json"}
	witness := []string{"--store-witness", filepath.Join(sh.dir, "witness")}
	sh.refused(exitUsage, slices.Concat(command, witness), "not founded yet")
	sh.refused(exitUsage, []string{"activate"}, "--principal must name")
	sh.refused(exitUsage, []string{"activate", "--principal", "maria", "--reason", ""}, "--reason must be")
	sh.done(found...)
	sh.refused(exitNotFound, slices.Concat(command, witness), "subject_missing", "no view was authorised yet: run 'connector catalog authorise PACK'")
	sh.refused(exitNotFound, []string{"catalog", "authorise", "shop"}, "subject_missing", "none is installed yet: run 'connector pack install DIR'")
	empty := decode[epochs](t, sh.done("epoch", "show", "--output", "json").out)
	if len(empty.Epochs)+len(empty.Gates) != 0 || empty.Attempt != nil || !strings.Contains(empty.Stands, "no epoch is prepared") {
		t.Errorf("%+v", empty)
	}
	at, c := configured(t, sh, store)
	if text := sh.done("activate", "--abort").err; !strings.Contains(text, "no attempt is open") {
		t.Errorf("aborted: %s", text)
	}
	for round := range 2 {
		a := sh.done(slices.Concat(command, witness)...)
		got := decode[epochs](t, a.out)
		if len(got.Epochs) != 1 || got.Epochs[0].State != "active" || got.Epochs[0].Accounts != 1 || len(got.Gates) != 1 || got.Gates[0] != (gates{"v2_serving", 1}) || got.Attempt != nil {
			t.Errorf("round %d: %+v", round, got)
		}
		if said := strings.Contains(a.err, "acquiring the publication barrier of credentials"); said != (round == 0) {
			t.Errorf("round %d said %s", round, a.err)
		}
	}
	if text := sh.done("epoch", "show").out; !strings.Contains(text, "the deployment serves under epoch ") || !strings.Contains(text, "gates v2_serving") {
		t.Error(text)
	}
	c.Limits.DepthMax++ // what is published now waits for a successor
	if _, err := at.PublishConfiguration(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := decode[epochs](t, sh.done(slices.Concat(command, witness)...).out); len(got.Epochs) != 1 {
		t.Errorf("%+v", got)
	}
}

// What cannot be activated says so by its code, and moves nothing.
func TestWhatIsNotActivatedSaysWhy(t *testing.T) {
	store := world.Fresh(t)
	sh := newShell(t).dsn(configOf(store.Login, store.Name))
	sh.done(found...)
	configured(t, sh, store)
	if _, err := store.Admin.ExecContext(t.Context(), "UPDATE owner_generation SET canonical=CONCAT(canonical, ' ') WHERE owner='credentials' LIMIT 1"); err != nil {
		t.Fatal(err)
	}
	witness := []string{"--store-witness", filepath.Join(sh.dir, "witness")}
	sh.refused(exitFailed, slices.Concat([]string{"activate", "--principal", "maria"}, witness), "generation_malformed", "credentials ")
	if got := decode[epochs](t, sh.done("epoch", "show", "--output", "json").out); len(got.Epochs) != 0 {
		t.Errorf("%+v", got)
	}
	sh.refused(exitUnavailable, []string{"epoch", "show", "--store-dsn-file", deadDSN(t, sh)}, "store_unreachable")
}

// What a daemon cannot begin with is said by the setting that has to change.
func TestADaemonThatCannotServeNamesTheSetting(t *testing.T) {
	store := world.Fresh(t)
	sh := newShell(t).dsn(configOf(store.Login, store.Name))
	sh.done(found...)
	sh.refused(exitUsage, []string{"serve", "--log-level", "error"}, "input serve.application: ")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	free := map[string]string{"serve.listen": "127.0.0.1:0", "serve.operations": "127.0.0.1:0"}
	for setting := range free {
		args := []string{"serve", "--log-level", "error", "--serve-application", "http://" + deadAddress(t)}
		for other, address := range free {
			if other == setting {
				address = taken.Addr().String()
			}
			args = append(args, "--"+strings.ReplaceAll(other, ".", "-"), address)
		}
		sh.refused(exitUsage, args, "input "+setting+" "+taken.Addr().String()+": ", "name an address that is free here")
	}
}

// deadDSN is a file with a DSN at which nobody listens.
func deadDSN(t *testing.T, sh *shell) string {
	t.Helper()
	path := filepath.Join(sh.dir, "dead.dsn")
	if err := os.WriteFile(path, []byte("root:typed-secret@tcp("+deadAddress(t)+")/d"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A revocation that cannot wait ends the attempt that holds the owners' barriers, and is applied.
func TestP47AnUrgentRevocationByCommandEndsTheAttempt(t *testing.T) {
	store := world.Fresh(t)
	sh := newShell(t).dsn(configOf(store.Login, store.Name))
	sh.done(found...)
	at, c := configured(t, sh, store)
	l, err := ledger.Open(store.Pool(t, schema.RoleLedger))
	if err != nil {
		t.Fatal(err)
	}
	attempt := ledger.Coordinator{Set: facts.Mint[facts.BarrierSetID](), Scope: at.Scope(), Attempt: facts.Mint[facts.ActivationAttemptID](), Fence: 1}
	if _, err := l.OpenBarrierSet(t.Context(), attempt); err != nil {
		t.Fatal(err)
	}
	if _, err := at.Set().Credentials.Acquire(t.Context(), owners.Ask{Scope: at.Scope(), Attempt: attempt.Attempt, Fence: 1}); err != nil {
		t.Fatal(err)
	}
	generation := c.Generations()[0].String()
	revoke := []string{"credential", "revoke", generation, "--principal", "maria", "--reason", "it leaked"}
	sh.refused(exitConflict, revoke, "publication_barred")
	if text := sh.done(append(revoke, "--urgent")...).out; !strings.Contains(text, generation) || !strings.Contains(text, "fence 2") {
		t.Errorf("revoked: %s", text)
	}
	if got := decode[epochs](t, sh.done("epoch", "show", "--output", "json").out); got.Attempt != nil {
		t.Errorf("the attempt stands open: %+v", got.Attempt)
	}
}
