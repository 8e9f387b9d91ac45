package ledger_test

import (
	"context"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/readers/owners"
	"connectorcore/schema"
)

// writer is one authoring write of an owner, a new one whenever it is called.
type writer struct {
	name  string
	count string // counts what the writes have done
	write func(ctx context.Context, n int) error
}

// writers are a write of every kind that an owner has: publish, select, remove and revoke.
func (s *scene) writers(l *ledger.Ledger) []writer {
	t := s.t
	named := func(owner serving.Owner) serving.Generation {
		exact := owners.Exact{Name: keyOf[serving.Name](t, facts.Mint[facts.AttemptID]().String()), Protocol: owners.DefinitionProtocol, Canonical: serving.OpaqueOf([]byte("{}")), Digest: facts.Digest{1},
			Receipt: serving.Receipt{Protocol: owners.ReceiptProtocol, Bytes: serving.OpaqueOf([]byte("receipt")), Digest: facts.Digest{2}}}
		return s.generation(owner, "line of "+owner.String(), exact)
	}
	var all []writer
	for _, owner := range serving.Owners() {
		all = append(all, writer{"publish and select at " + owner.String(), "SELECT (SELECT COUNT(*) FROM owner_generation) + (SELECT COUNT(*) FROM owner_selection)", func(ctx context.Context, n int) error {
			g := named(owner)
			at := s.count("SELECT COUNT(*) FROM owner_selection WHERE selector_digest=?", g.Selector)
			return l.PublishGenerations(ctx, ledger.Publication{Scope: s.scope, Generations: []serving.Generation{g},
				Selects: []ledger.Select{{Line: ledger.Line{Owner: owner, Selector: g.Selector, At: uint64(at)}, Generation: ledger.GenerationName{Owner: owner, Name: g.Name}}}})
		}})
	}
	removable := make([]serving.Generation, 40)
	for i := range removable {
		removable[i] = named(serving.FieldMappings)
	}
	s.publish(removable, nil)
	all = append(all, writer{"remove at field_mappings", "SELECT COUNT(*) FROM owner_standing WHERE standing='removed'", func(ctx context.Context, n int) error {
		return l.RemoveGenerations(ctx, ledger.Removal{Scope: s.scope, Generations: []ledger.GenerationName{{Owner: serving.FieldMappings, Name: removable[n].Name}}})
	}})
	return append(all, writer{"revoke and reenable at credentials", "SELECT COUNT(*) FROM credential_generation_dispatch_gate_ledger", func(ctx context.Context, n int) error {
		id := s.credential[0].ID
		fence := s.count("SELECT fence FROM credential_generation_dispatch_gate_guard WHERE generation_id=?", id)
		move := l.RevokeCredentials
		if fence%2 == 0 {
			move = l.ReenableCredentials
		}
		verdicts, err := move(ctx, []ledger.CredentialMove{{Scope: s.scope, Generation: id, Fence: facts.Fence(fence), Principal: keyOf[facts.OwnerName](t, "operator"), Reason: keyOf[facts.OwnerName](t, "why")}})
		if err == nil && verdicts[0].Refusal != nil {
			return verdicts[0].Refusal
		}
		return err
	}})
}

// Every authoring write and the hold of an attempt take turns, in both orders and at once: a write is either seen by the
// attempt, because it was committed before the hold, or it is refused. While the barriers are held nothing of an owner
// changes, and after the release everything does again.
func TestP47NoOwnerChangesBetweenHoldAndRelease(t *testing.T) {
	s := newScene(t)
	written := make(chan struct{}, 1) // a write has everything but its commit
	l := s.open(s.store.Pool(t, schema.RoleLedger), ledger.AtBoundary(func(b ledger.Boundary) {
		select {
		case written <- struct{}{}:
		default:
		}
	}))
	n := 0
	for _, w := range s.writers(l) {
		first := map[bool]int{}
		for round := range 4 {
			c := s.coordinator()
			outcome := make(chan error, 1)
			n++
			mine := n % 40
			for len(written) > 0 {
				<-written
			}
			go func() { outcome <- w.write(t.Context(), mine) }()
			if round%2 == 0 {
				<-written // the hold comes while the write has the locks, and waits for it
			}
			_, err := s.acquire(t.Context(), s.ledger, c)
			ok(t, err)
			held := s.count(w.count)
			raced := <-outcome
			if raced != nil {
				refused(t, w.name, raced, facts.PublicationBarred)
			}
			if round%2 == 0 && raced != nil {
				t.Errorf("%s: it had the locks first, and was refused", w.name)
			}
			first[raced == nil]++
			n++
			refused(t, w.name+" under the held barriers", w.write(t.Context(), n%40), facts.PublicationBarred)
			if now := s.count(w.count); now != held {
				t.Errorf("%s: %d rows at the hold, %d under it", w.name, held, now)
			}
			ok(t, s.releaseOwners(t.Context(), s.ledger, c))
			ok(t, w.write(t.Context(), n%40))
			if now := s.count(w.count); now <= held {
				t.Errorf("%s: after the release there are %d rows as before", w.name, now)
			}
		}
		t.Logf("%s: the write came first %d times, the hold %d times", w.name, first[true], first[false])
	}
}

// While an attempt activates, every owner's writes are refused until it has released them; an urgent revocation then
// applies forward.
func TestP47WritesAndActivationSerialize(t *testing.T) {
	s := newScene(t)
	writers := s.writers(s.ledger)
	content, ref := s.verified()
	s.walk()
	c := s.coordinator()
	ok(t, s.hold(t.Context(), s.ledger, c))
	outcome := make(chan error, len(writers))
	for i, w := range writers {
		go func() { outcome <- w.write(t.Context(), i) }()
	}
	_, err := s.ledger.ActivateFirst(t.Context(), s.activation(c, content, ref))
	ok(t, err)
	for range writers {
		refused(t, "a write while the attempt activates", <-outcome, facts.PublicationBarred)
	}
	_, err = s.ledger.ReleaseBarrierSet(t.Context(), c, ledger.Activated{Epoch: ref, Accounts: s.accounts})
	ok(t, err)
	for i, w := range writers {
		refused(t, w.name+" before the owner's own release", w.write(t.Context(), i), facts.PublicationBarred)
	}
	ok(t, s.releaseOwners(t.Context(), s.ledger, c))
	for i, w := range writers {
		if err := w.write(t.Context(), i); err != nil {
			t.Errorf("%s after it: %v", w.name, err)
		}
	}
	if n := s.count("SELECT COUNT(*) FROM credential_generation_dispatch_gate_guard WHERE state='revoked'"); n != 1 {
		t.Errorf("%d revoked generations", n)
	}
}
