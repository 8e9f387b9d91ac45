package ledger_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/ledger"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// drive carries an attempt out from wherever it was left: the same calls with the same ids, in their order, after a
// take-over of the set if there is one.
func (s *scene) drive(ctx context.Context, l *ledger.Ledger, c ledger.Coordinator, content ledger.EpochContent) error {
	standing, err := l.PrepareEpoch(ctx, content)
	if err != nil {
		return err
	}
	if _, err := l.JudgeEpoch(ctx, ledger.Judgement{Epoch: standing.Epoch, Found: content}); err != nil {
		return err
	}
	if err := s.walkOver(ctx, l, s.accounts); err != nil {
		return err
	}
	taken, _, err := l.TakeOverBarrierSet(ctx, c)
	switch {
	case err == nil:
		c = taken
	case errors.Is(err, facts.SubjectEnded): // the attempt was over but for its owners
		c.Fence = facts.Fence(s.count("SELECT holder_fence FROM serving_publication_barrier_set_guard WHERE barrier_set_id=?", c.Set))
		return s.releaseOwners(ctx, l, c)
	case !errors.Is(err, facts.SubjectMissing):
		return err
	}
	if err := s.hold(ctx, l, c); err != nil {
		return err
	}
	if _, err := l.ActivateFirst(ctx, s.activation(c, content, standing.Epoch)); err != nil {
		return err
	}
	if _, err := l.ReleaseBarrierSet(ctx, c, ledger.Activated{Epoch: standing.Epoch, Accounts: s.accounts}); err != nil {
		return err
	}
	return s.releaseOwners(ctx, l, c)
}

// crashing is a ledger behind a proxy that dies at its nth boundary: before a COMMIT its connection is cut, so that the
// server never sees it; after one nobody is told. From then on it can do nothing.
func (s *scene) crashing(nth int) (l *ledger.Ledger, ctx context.Context, met *[]ledger.Boundary) {
	proxy := world.NewProxy(s.t, s.store.Login.Address)
	ctx, die := context.WithCancel(s.t.Context())
	met = new([]ledger.Boundary)
	return s.open(s.store.PoolAt(s.t, schema.RoleLedger, proxy.Address(), nil), ledger.AtBoundary(func(b ledger.Boundary) {
		if *met = append(*met, b); len(*met) == nth {
			proxy.CutAll()
			die()
		}
	})), ctx, met
}

// A coordinator dies at each boundary of everything that leads to an activation. What it leaves is whole: every gate
// serves under the active epoch, or none does. Another one takes over and ends the attempt, and the dead one, should it
// come back, is refused.
func TestP48ACrashAtEveryBoundaryIsEndedByOneTakeOver(t *testing.T) {
	for nth, met := 1, 0; nth == 1 || nth <= met; nth++ {
		s := newScene(t)
		content, c := s.content(), s.coordinator()
		ref := facts.EpochRef{ID: content.Candidate.Epoch, Digest: s.author.Epoch(content.Candidate).Digest}
		if nth == 1 {
			l, ctx, clean := s.crashing(-1)
			ok(t, s.drive(ctx, l, c, content))
			met = len(*clean)
			var names []string
			for _, b := range *clean {
				names = append(names, b.String())
			}
			t.Logf("%d boundaries: %q", met, names)
			if got := slices.Compact(slices.Clone(names)); len(got) != 22 || s.states(ref) != "epoch active at 3; sets released at 4; gates v2_serving at 6 under it" {
				t.Fatalf("%d boundaries, then %s", len(got), s.states(ref))
			}
			s = newScene(t)
			content, c = s.content(), s.coordinator()
			ref = facts.EpochRef{ID: content.Candidate.Epoch, Digest: s.author.Epoch(content.Candidate).Digest}
		}
		l, ctx, seen := s.crashing(nth)
		err := s.drive(ctx, l, c, content)
		if len(*seen) < nth || err == nil && nth < met {
			t.Fatalf("boundary %d: it came to %d and died of %v", nth, len(*seen), err)
		}
		at := (*seen)[nth-1]
		left := s.states(ref)
		active, serving := strings.Contains(left, "epoch active"), strings.HasSuffix(left, "gates v2_serving at 6 under it")
		if active != serving || !active && strings.Contains(left, "v2_serving") {
			t.Errorf("%s left %s", at, left)
		}
		ok(t, s.drive(t.Context(), s.ledger, c, content))
		if got := s.states(ref); got != "epoch active at 3; sets released at 4; gates v2_serving at 6 under it" {
			t.Errorf("%s left %s, and the successor %s", at, left, got)
		}
		if n := s.count("SELECT COUNT(*) FROM owner_publication_barrier_guard WHERE state='open'"); n != 7 {
			t.Errorf("%s: %d owners' barriers are open", at, n)
		}
		if err := s.hold(t.Context(), s.ledger, c); !errors.Is(err, facts.StaleHolder) && !errors.Is(err, facts.SubjectEnded) {
			t.Errorf("%s: the dead coordinator came back: %v", at, err)
		}
	}
}
