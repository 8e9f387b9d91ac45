package platform

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/readers/owners"

	"github.com/cockroachdb/errors"
)

// freeze writes what an epoch writes about the generations that it froze, with an epoch in that state.
func (i *installation) freeze(t testing.TB, state string, digests ...serving.GenerationDigest) facts.EpochID {
	t.Helper()
	epoch := facts.Mint[facts.EpochID]()
	for _, digest := range digests {
		_, err := i.store.Admin.ExecContext(t.Context(), "INSERT INTO owner_reference (generation_digest, epoch_id) VALUES (?,?)", digest, epoch)
		must(t, err)
	}
	_, err := i.store.Admin.ExecContext(t.Context(), "INSERT INTO serving_epoch_guard (epoch_id, state, fence) VALUES (?,?,9)", epoch, state)
	must(t, err)
	return epoch
}

func (i *installation) definitionDigest(t testing.TB, p Pack, kind serving.BindingKind) serving.GenerationDigest {
	name, err := owners.DefinitionName(i.identityOf(t, p, kind))
	must(t, err)
	return i.Owners.author.Generation(i.Scope(), kind.Owner(), name)
}

func (i *installation) installed(t testing.TB, p Pack) bool {
	t.Helper()
	name, err := owners.ManifestName(p.Generation)
	must(t, err)
	answers := []owners.Answer[owners.Exact]{i.named(t.Context(), i.Scope(), serving.Catalog, name, nil)}
	for _, d := range p.Definitions {
		answers = append(answers, i.Set().Definitions(d.Kind).Definition(t.Context(), i.Scope(), i.identityOf(t, p, d.Kind)))
	}
	for _, a := range answers[1:] {
		if a.Standing() != answers[0].Standing() {
			t.Errorf("the pack is partly %s and partly %s", answers[0].Standing(), a.Standing())
		}
	}
	return answers[0].Standing() == owners.Found
}

// P04: neither uninstallation nor replacement nor retention takes away what an epoch references.
func TestP04UninstallationCannotRemoveAReferencedPack(t *testing.T) {
	i := install(t)
	if err := i.UninstallPack(t.Context(), i.pack.Generation); !errors.Is(err, facts.GenerationReferenced) || !strings.Contains(err.Error(), "revision 1, authorises its inbound_route contact") {
		t.Errorf("an authorised pack was uninstalled: %v", err)
	}
	other := i.packOf(t, "other", serving.BindingKinds()...)
	must(t, i.PublishPack(t.Context(), other))
	for _, kind := range serving.BindingKinds() { // one definition is enough to keep the whole
		epoch := i.freeze(t, "active", i.definitionDigest(t, other, kind))
		if err := i.UninstallPack(t.Context(), other.Generation); !errors.Is(err, facts.GenerationReferenced) || !strings.Contains(err.Error(), epoch.String()) || !i.installed(t, other) {
			t.Errorf("a pack whose %s is frozen was uninstalled: %v", kind, err)
		}
		_, err := i.store.Admin.ExecContext(t.Context(), "UPDATE serving_epoch_guard SET state='retired' WHERE epoch_id=?", epoch)
		must(t, err)
	}
	for range 2 {
		must(t, i.UninstallPack(t.Context(), other.Generation))
	}
	if i.installed(t, other) {
		t.Error("an uninstalled pack can be read")
	}
	must(t, i.PublishPack(t.Context(), other))
	if !i.installed(t, other) {
		t.Error("a pack that was installed again cannot be read")
	}
	if err := i.UninstallPack(t.Context(), key[facts.PackGenerationID](t, "never")); !errors.Is(err, facts.SubjectMissing) {
		t.Errorf("a pack that never was: %v", err)
	}
}

// An uninstallation and an authorisation of the same pack at once: the view never names a definition that is gone.
func TestP04UninstallationRacesAuthorisation(t *testing.T) {
	i := install(t)
	for round := range 6 {
		p := i.packOf(t, fmt.Sprint("raced-", round), serving.FieldMapping, serving.PushContract)
		must(t, i.PublishPack(t.Context(), p))
		var removed, authorised error
		var group sync.WaitGroup
		group.Go(func() { removed = i.UninstallPack(t.Context(), p.Generation) })
		group.Go(func() {
			_, authorised = i.Authorise(t.Context(), []facts.PackGenerationID{i.pack.Generation, p.Generation})
		})
		group.Wait()
		if removed == nil && authorised == nil || i.installed(t, p) != (removed != nil) {
			t.Errorf("round %d: uninstalled %v, authorised %v", round, removed, authorised)
		}
		for _, err := range []error{removed, authorised} {
			if err != nil && !errors.Is(err, facts.GenerationReferenced) && !errors.Is(err, facts.WrongState) && !errors.Is(err, facts.SubjectMissing) {
				t.Errorf("round %d: %v", round, err)
			}
		}
	}
}

func TestP04RetentionKeepsWhatIsCurrentOrReferenced(t *testing.T) {
	i := install(t)
	var ids []serving.GenerationDigest
	for n := range 4 {
		id, err := i.PublishConfiguration(t.Context(), i.configurationOf(t, fmt.Sprint("policy ", n)))
		must(t, err)
		name, err := owners.ConfigurationName(id)
		must(t, err)
		ids = append(ids, i.Owners.author.Generation(i.Scope(), serving.Configuration, name))
	}
	epoch := i.freeze(t, "prepared", ids[1])
	report, err := i.RetainConfigurations(t.Context(), 2)
	must(t, err)
	var kept, removed int
	for _, one := range report {
		if one.Removed {
			removed++
		} else if kept++; !strings.Contains(one.Why.Error(), epoch.String()) {
			t.Errorf("kept because %v", one.Why)
		}
	}
	for n, want := range []owners.Standing{owners.Absent, owners.Found, owners.Found, owners.Found} {
		if got := i.exact(t.Context(), ids[n]); got.Standing() != want {
			t.Errorf("configuration %d is %s, want %s", n, got.Standing(), want)
		}
	}
	if kept != 1 || removed != 2 || i.Set().Configuration.Configuration(t.Context(), i.Scope(), i.configuration).Standing() != owners.Absent {
		t.Errorf("%d were kept beyond their time and %d removed: %+v", kept, removed, report)
	}
	again, err := i.RetainViews(t.Context(), 0)
	if err != nil || len(again) != 0 {
		t.Errorf("retention of the only view: %+v, %v", again, err)
	}
}

func TestP04ACredentialInUseIsNotRemoved(t *testing.T) {
	i := install(t)
	if err := i.RemoveCredential(t.Context(), i.credential.ID); !errors.Is(err, facts.GenerationReferenced) || !strings.Contains(err.Error(), "the current configuration maps it") {
		t.Errorf("a mapped generation was removed: %v", err)
	}
	spare, next := i.credentialOf(t, "api"), i.credentialOf(t, "api")
	must(t, i.PublishCredentials(t.Context(), []owners.CredentialGeneration{spare}))
	if err := i.RemoveCredential(t.Context(), spare.ID); !errors.Is(err, facts.GenerationReferenced) {
		t.Errorf("the current generation was removed: %v", err)
	}
	must(t, i.PublishCredentials(t.Context(), []owners.CredentialGeneration{next}))
	must(t, i.RemoveCredential(t.Context(), spare.ID))
	if got := i.Set().Credentials.Credential(t.Context(), i.Scope(), spare.ID); got.Standing() != owners.Absent {
		t.Errorf("a removed generation is %s", got.Standing())
	}
	c := i.configurationOf(t, "3")
	c.Accounts[0].Credentials[0].Generation = spare.ID
	if _, err := i.PublishConfiguration(t.Context(), c); !errors.Is(err, facts.GenerationMalformed) || !strings.Contains(err.Error(), "its owner has no generation "+spare.ID.String()) {
		t.Errorf("a removed generation was mapped: %v", err)
	}
}

// dump is every byte of every table.
func (i *installation) dump(t testing.TB) []byte {
	t.Helper()
	tables, err := i.store.Admin.QueryContext(t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema=DATABASE()")
	must(t, err)
	var names []string
	for tables.Next() {
		var name string
		must(t, tables.Scan(&name))
		names = append(names, name)
	}
	must(t, tables.Close())
	var all bytes.Buffer
	for _, name := range names {
		rows, err := i.store.Admin.QueryContext(t.Context(), "SELECT * FROM `"+name+"`")
		must(t, err)
		columns, err := rows.Columns()
		must(t, err)
		cells := make([][]byte, len(columns))
		at := make([]any, len(columns))
		for n := range cells {
			at[n] = &cells[n]
		}
		for rows.Next() {
			must(t, rows.Scan(at...))
			for _, cell := range cells {
				all.Write(cell)
				all.WriteByte('\n')
			}
		}
		must(t, rows.Close())
	}
	return all.Bytes()
}

// A whole life of a credential, with its secret in use: the bytes stand in no row and in no message.
func TestG04NoSecretIsInTheDatabaseOrInAMessage(t *testing.T) {
	i := install(t)
	f := sealedFolder(t)
	c := i.credentialOf(t, "api")
	c.Version = f.version
	must(t, i.PublishCredentials(t.Context(), []owners.CredentialGeneration{c}))
	got, err := i.Credential(t.Context(), c.ID)
	must(t, err)
	set, err := f.resolve(t, got.Version)
	must(t, err)
	secret, _ := set.Outbound()
	if string(secret.Reveal()) != theSecret {
		t.Fatal("the generation leads to another secret")
	}
	by := Authority{key[facts.OwnerName](t, "operator"), key[facts.OwnerName](t, fmt.Sprint("leaked: ", secret))}
	_, err = i.RevokeCredential(t.Context(), c.ID, 1, by)
	must(t, err)
	messages := []error{i.RemoveCredential(t.Context(), i.credential.ID)}
	_, err = f.resolve(t, key[facts.SecretVersion](t, "webhook-1@"+strings.Repeat("0", 64)))
	messages = append(messages, err, errors.Wrapf(err, "with %+v and %v", set, secret))
	for _, err := range messages {
		if err == nil || leaks(fmt.Sprintf("%+v", err)) {
			t.Errorf("a message: %+v", err)
		}
	}
	dump := i.dump(t)
	if leaks(string(dump)) {
		t.Error("the database holds the secret")
	}
	if !bytes.Contains(dump, []byte(f.version.String())) || !bytes.Contains(dump, []byte("leaked: (secret)")) {
		t.Error("the dump lacks what must be in it")
	}
}
