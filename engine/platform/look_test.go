package platform

import (
	"slices"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/machines"
	"connectorcore/readers/owners"

	"github.com/cockroachdb/errors"
)

func TestInstalledPacksAreThoseThatCanBeRead(t *testing.T) {
	i := install(t)
	first, second := i.packOf(t, "a-other", serving.FieldMapping), i.packOf(t, "a-other", serving.FieldMapping)
	second.Definitions[0].Version = key[facts.DefinitionVersion](t, "2")
	must(t, i.PublishPack(t.Context(), first))
	must(t, i.PublishPack(t.Context(), second))
	names := func() (all []facts.PackGenerationID) {
		t.Helper()
		packs, err := i.Packs(t.Context())
		must(t, err)
		for _, m := range packs {
			all = append(all, m.Generation)
		}
		return all
	}
	if got := names(); !slices.Equal(got, []facts.PackGenerationID{first.Generation, second.Generation, i.pack.Generation}) {
		t.Errorf("installed are %v", got)
	}
	must(t, i.UninstallPack(t.Context(), first.Generation))
	if got := names(); !slices.Equal(got, []facts.PackGenerationID{second.Generation, i.pack.Generation}) {
		t.Errorf("after an uninstallation %v", got)
	}
}

func TestTheActiveEpochIsTheOneThatServes(t *testing.T) {
	i := install(t)
	i.freeze(t, "verified")
	i.freeze(t, "retired")
	if epoch, active, err := i.Active(t.Context()); err != nil || active {
		t.Errorf("epoch %s is active, %v", epoch, err)
	}
	want := i.freeze(t, "active")
	if epoch, active, err := i.Active(t.Context()); err != nil || !active || epoch != want {
		t.Errorf("epoch %s is active (%v), want %s; %v", epoch, active, want, err)
	}
}

func TestTheCurrentViewAndConfigurationAreGivenWithTheirNames(t *testing.T) {
	i := founded(t)
	view, err := i.View(t.Context())
	must(t, err)
	generation, c, err := i.Configuration(t.Context())
	must(t, err)
	if view.Revision.Number != 0 || !generation.IsZero() || len(c.Accounts) != 0 {
		t.Errorf("before anything was published: %+v, %s", view, generation)
	}
	i = install(t)
	view, err = i.View(t.Context())
	must(t, err)
	generation, c, err = i.Configuration(t.Context())
	must(t, err)
	if view.Revision != i.view || generation != i.configuration || len(c.Accounts) != 1 {
		t.Errorf("%+v, %s", view.Revision, generation)
	}
}

func TestAFirstGenerationAndARotationAreToldApart(t *testing.T) {
	i := install(t)
	first, next, other := i.credentialOf(t, "api"), i.credentialOf(t, "api"), i.credentialOf(t, "api")
	other.Account = facts.Mint[facts.AccountID]()
	if err := i.PublishCredential(t.Context(), first, true); !errors.Is(err, facts.WrongState) {
		t.Errorf("a rotation of nothing: %v", err)
	}
	must(t, i.PublishCredential(t.Context(), first, false))
	must(t, i.PublishCredential(t.Context(), first, false)) // the same again, whose outcome was unknown
	if err := i.PublishCredential(t.Context(), next, false); !errors.Is(err, facts.WrongState) {
		t.Errorf("a second first generation: %v", err)
	}
	must(t, i.PublishCredential(t.Context(), next, true))
	must(t, i.PublishCredential(t.Context(), other, false)) // another account has a line of its own
	current, err := i.CurrentCredentials(t.Context(), []CredentialLine{LineOf(first), LineOf(other), {other.Account, other.Provider, i.credential.Identity}})
	if err != nil || len(current) != 2 || current[LineOf(first)].ID != next.ID || current[LineOf(other)].ID != other.ID {
		t.Errorf("current are %v, %v", current, err)
	}
}

func TestCredentialsAreListedWithTheirGates(t *testing.T) {
	i := install(t)
	next := i.credentialOf(t, "webhook")
	must(t, i.PublishCredentials(t.Context(), []owners.CredentialGeneration{next}))
	by := Authority{key[facts.OwnerName](t, "operator"), key[facts.OwnerName](t, "leaked")}
	fence, err := i.CredentialFence(t.Context(), i.credential.ID)
	must(t, err)
	_, err = i.RevokeCredential(t.Context(), i.credential.ID, fence, by)
	must(t, err)
	spare := i.credentialOf(t, "spare")
	must(t, i.PublishCredentials(t.Context(), []owners.CredentialGeneration{spare}))
	must(t, i.PublishCredentials(t.Context(), []owners.CredentialGeneration{i.credentialOf(t, "spare")}))
	must(t, i.RemoveCredential(t.Context(), spare.ID))
	all, err := i.ListCredentials(t.Context())
	must(t, err)
	got := map[facts.CredentialGenerationID]ListedCredential{}
	for _, l := range all {
		got[l.ID] = l
	}
	old, now, gone := got[i.credential.ID], got[next.ID], got[spare.ID]
	if len(all) != 4 || old.State != machines.CredentialGenerationDispatchGateRevoked || old.Fence != 2 || old.Current || old.Generation.Identity != next.Identity {
		t.Errorf("the revoked one is %+v of %d", old, len(all))
	}
	if !now.Current || now.State != machines.CredentialGenerationDispatchGateEnabled || now.Fence != 1 {
		t.Errorf("the current one is %+v", now)
	}
	if gone.ID.IsZero() || gone.Current || !gone.Generation.ID.IsZero() {
		t.Errorf("the removed one is %+v", gone)
	}
	if _, err := i.CredentialFence(t.Context(), facts.Mint[facts.CredentialGenerationID]()); !errors.Is(err, facts.SubjectMissing) {
		t.Errorf("a generation that never was: %v", err)
	}
}
