package frozen_test

import (
	"strings"
	"testing"

	"connectorcore/engine/frozen"
	"connectorcore/facts"
	"connectorcore/proptest/stage"

	"github.com/cockroachdb/errors"
)

func TestAnEpochOpensAsWhatItFroze(t *testing.T) {
	s := stage.Serving(t, stage.Single, stage.Batched)
	d := frozen.NewDirectory(s.Reader, s.Owners.Set())
	for i, want := range []struct{ channel, routes, credential string }{
		{"webhooks", "activity comments issues pull_requests", "inbound/webhooks"}, {"batches", "changes properties", "inbound/batches"},
	} {
		premise, epoch, err := d.Account(t.Context(), s.Accounts[i].ID)
		if err != nil || premise != s.Premise() || epoch.Ref != s.Epoch || epoch.Profile != facts.ProfileV2 || epoch.Limits.DepthMax == 0 {
			t.Fatalf("%+v, %v", premise, err)
		}
		channel, err := epoch.Channel(s.Accounts[i].ID, stage.Key[facts.Channel](t, want.channel))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, route := range channel.Routes {
			names = append(names, route.Name.String())
			if route.Mapping == nil || route.Generation != s.Accounts[i].Pack.Generation() {
				t.Errorf("route %s has no mapping or is of generation %s", route.Name, route.Generation)
			}
		}
		if got := strings.Join(names, " "); got != want.routes || channel.Credential.Identity.String() != want.credential || channel.Credential.Account != s.Accounts[i].ID {
			t.Errorf("%s: routes %s, credential %s of %s", want.channel, got, channel.Credential.Identity, channel.Credential.Account)
		}
		if _, err := epoch.Channel(s.Accounts[1-i].ID, stage.Key[facts.Channel](t, want.channel)); !errors.Is(err, facts.SubjectMissing) {
			t.Errorf("another account's channel: %v", err)
		}
	}
	if _, _, err := d.Account(t.Context(), facts.Mint[facts.AccountID]()); !errors.Is(err, facts.SubjectMissing) {
		t.Errorf("an account without a gate: %v", err)
	}
	wrong := s.Epoch
	wrong.Digest = facts.Digest{1}
	if _, err := d.Epoch(t.Context(), wrong); !errors.Is(err, facts.EpochMismatch) {
		t.Errorf("another digest: %v", err)
	}
}

// P04: what an epoch froze is read by exact generation or not at all. Whatever was published since stands in for nothing,
// and a generation that is gone or is not what was frozen stops the epoch from opening, with its owner and name.
func TestP04AnEpochWhoseReadPathIsLostFailsClosed(t *testing.T) {
	s := stage.Serving(t, stage.Single)
	open := func() error {
		_, err := frozen.Open(t.Context(), s.Reader, s.Owners.Set(), s.Epoch)
		return err
	}
	if err := open(); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct{ breaks, mends, names string }{
		"a removed definition":    {"UPDATE owner_standing SET standing = 'removed' WHERE generation_digest IN (SELECT generation_digest FROM owner_generation WHERE owner = 'field_mappings')", "UPDATE owner_standing SET standing = 'present'", "field_mappings"},
		"a removed credential":    {"UPDATE owner_standing SET standing = 'removed' WHERE generation_digest IN (SELECT generation_digest FROM owner_generation WHERE owner = 'credentials')", "UPDATE owner_standing SET standing = 'present'", "credentials"},
		"a removed configuration": {"UPDATE owner_standing SET standing = 'removed' WHERE generation_digest IN (SELECT generation_digest FROM owner_generation WHERE owner = 'configuration')", "UPDATE owner_standing SET standing = 'present'", "configuration"},
		"another receipt":         {"UPDATE owner_generation SET receipt = CONCAT(receipt, ' ') WHERE owner = 'inbound_routes'", "UPDATE owner_generation SET receipt = SUBSTR(receipt, 1, LENGTH(receipt) - 1) WHERE owner = 'inbound_routes'", "inbound_routes"},
	} {
		exec(t, s, c.breaks)
		if err := open(); !errors.Is(err, facts.OwnerDisagrees) || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s: %v", what, err)
		}
		exec(t, s, c.mends)
		if err := open(); err != nil {
			t.Fatalf("%s, mended: %v", what, err)
		}
	}
	exec(t, s, "UPDATE serving_epoch_binding SET definition_digest = REPEAT('x', 32) WHERE ordinal = 0")
	if err := open(); !errors.Is(err, facts.OwnerDisagrees) {
		t.Errorf("another proof: %v", err)
	}
}

func exec(t *testing.T, s *stage.Stage, query string) {
	t.Helper()
	if _, err := s.Store.Admin.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}

// What is remembered of an account is a premise, and is asked again only after it was forgotten.
func TestR11APremiseIsRememberedUntilItIsForgotten(t *testing.T) {
	s := stage.Serving(t, stage.Batched)
	d := frozen.NewDirectory(s.Reader, s.Owners.Set())
	account := s.Accounts[0].ID
	if _, _, err := d.Account(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	exec(t, s, "UPDATE account_serving_gate_guard SET state = 'halting_v2', fence = 7")
	if premise, _, err := d.Account(t.Context(), account); err != nil || premise.Fence != 6 {
		t.Errorf("%+v, %v", premise, err)
	}
	d.Forget(account)
	if _, _, err := d.Account(t.Context(), account); !errors.Is(err, facts.NotServing) {
		t.Errorf("a halting account: %v", err)
	}
}
