package turn

import (
	"bytes"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// sealing is a Seal with the rows that it brings.
type sealing struct {
	window     facts.WindowID // that its parts make
	membership facts.Digest
	reason     facts.Code
	input      *derivedInput // nil if there is a reason
}

// sealRows is how many rows a Seal brings at most.
const sealRows = inputRows + laneRows + 2

// derive makes the rows of a Seal. Its Projection stands for the members that make the input: a replay that gathers others
// has another one, and another EffectRoot.
func (s *Seal) derive(account facts.AccountID) (*sealing, error) {
	author, err := s.Profile.Author()
	switch {
	case err != nil:
		return nil, err
	case len(s.Members) == 0:
		return nil, errors.AssertionFailedf("window %s is to be sealed without a member", s.Window)
	}
	ids := make([]facts.EventID, len(s.Members))
	for i, m := range s.Members {
		ids[i] = m.ID
		if m.Account != account {
			return nil, errors.AssertionFailedf("event %s of account %s is in window %s of account %s", m.ID, m.Account, s.Window, account)
		}
	}
	one := &sealing{window: author.Window(s.Epoch.ID, s.Input.Route, s.Input.Version, s.Grouping, ids[0]).ID, membership: inbound.WindowMembers(s.Profile, ids), reason: s.Reason}
	makes, ambiguous := inbound.Arrange(s.Members, s.Input.Order != nil, s.Latest)
	if one.reason == 0 {
		one.reason = ambiguous
	}
	if one.reason != 0 {
		return one, nil
	}
	from := source{event: makes[len(makes)-1], window: s.Window, grouping: s.Grouping}
	for _, m := range makes {
		from.members = append(from.members, m.Key)
	}
	input, err := from.input(author, s.Epoch, s.Input)
	if err != nil {
		return nil, err
	}
	one.input = &input
	return one, nil
}

// seal decides every Seal. The membership that its input was made of is compared with the one that stands, under the lock
// without which none changes; and the window, its one Projection, and what follows from that are one commit.
func (t *turn) seal() error {
	if t.windowHeld == nil {
		return nil
	}
	members, ended, err := t.beneathWindows()
	if err != nil {
		return err
	}
	for i, item := range t.items {
		if item.Seal == nil {
			continue
		}
		ask, s := item.Seal, t.seals[i]
		key := facts.WindowKey{Account: t.account, Subject: ask.Window}
		w, subject := t.windows[key], facts.OfWindow(key)
		refusal := t.serves(ask.Premise)
		switch {
		case refusal != nil:
		case s.window != ask.Window:
			refusal = facts.Refuse(facts.ContentDiffers, subject, "route %s %s and its first member do not make it in epoch %s", ask.Input.Route, ask.Input.Version, ask.Epoch.ID)
		case w == nil && t.tx.Settling():
			refusal, err = t.sealedBefore(i, ended[key])
		case w == nil:
			refusal = facts.Refuse(facts.SubjectEnded, subject, "it has no head")
		case w.decided:
			refusal = facts.Refuse(facts.WrongState, subject, "an earlier item of this turn seals it")
		case w.row.Members != uint64(len(ask.Members)) || !sameMembers(members[ask.Window], ask.Members):
			refusal = facts.Refuse(facts.WrongState, subject, "it has %d members, and what was prepared has others, %d", w.row.Members, len(ask.Members))
		case !w.full() && w.row.Due.After(t.held.Now):
			refusal = facts.Refuse(facts.WrongState, subject, "it is due at %s, and it is %s", w.row.Due.Format(instantForm), t.held.Now.Format(instantForm))
		default:
			err = t.close(i, w, s)
		}
		if err != nil {
			return err
		}
		t.refuses(i, refusal)
	}
	return nil
}

// beneathWindows reads the members of the windows that are sealed, and how those without a head ended.
func (t *turn) beneathWindows() (map[facts.WindowID][]inbound.WindowMember, map[facts.WindowKey]txn.Transition, error) {
	var parents []inbound.WindowMember
	var gone []facts.WindowKey
	for _, item := range t.items {
		if item.Seal == nil {
			continue
		}
		key := facts.WindowKey{Account: t.account, Subject: item.Seal.Window}
		if t.windows[key] != nil {
			parents = append(parents, inbound.WindowMember{Window: key.Subject})
		} else if t.tx.Settling() {
			gone = append(gone, key)
		}
	}
	members, ended := map[facts.WindowID][]inbound.WindowMember{}, map[facts.WindowKey]txn.Transition{}
	if len(parents) > 0 {
		there, err := txn.Children(t.tx, schema.WindowMembers, parents, 1)
		if err != nil {
			return nil, nil, err
		}
		for _, member := range there {
			members[member.Window] = append(members[member.Window], member)
		}
	}
	if len(gone) == 0 {
		return members, ended, nil
	}
	ended, err := txn.Ended(t.tx, schema.WindowHeads, gone)
	return members, ended, err
}

// sameMembers tells whether the membership that stands is the one that was prepared.
func sameMembers(stands []inbound.WindowMember, prepared []inbound.Event) bool {
	if len(stands) != len(prepared) {
		return false
	}
	for i, member := range stands {
		if member.Ordinal != uint64(i) || member.Event != prepared[i].ID {
			return false
		}
	}
	return true
}

// close seals a window, or sets it aside. One that is closed by time alone first lets every Receipt be read that has come:
// what is in it belongs here (R23).
func (t *turn) close(item int, w *window, s *sealing) error {
	if !w.full() {
		open, err := t.backlog()
		if err != nil {
			return err
		}
		if open {
			w.row.Due, t.verdicts[item].Pending = t.held.Now.Add(handOver), true
			return nil
		}
	}
	takes := room{rows: sealRows}
	if s.input != nil {
		takes.bytes = len(s.input.projection.Input)
	}
	if !t.room.holds(takes) {
		t.verdicts[item].Pending = true
		return nil
	}
	t.room = t.room.less(takes)
	ask := t.items[item].Seal
	step := windowStep{Key: schema.WindowHeads.KeyOf(&w.row), Edge: machines.ProjectionWindowQuarantine}
	var body facts.EvidenceBody = inbound.WindowSetAside{Reason: s.reason.String(), Closed: w.closed(), Members: w.row.Members, Membership: s.membership[:]}
	if s.input != nil {
		step.Edge, body = machines.ProjectionWindowSeal, inbound.Sealed{Closed: w.closed(), Members: w.row.Members, Membership: s.membership[:], Projection: s.input.projection.ID[:]}
	}
	var err error
	if step.Evidence, err = facts.Prove(body); err != nil {
		return err
	}
	w.decided = true
	t.rows.sealed = append(t.rows.sealed, step)
	t.verdicts[item].Aside = s.reason
	if s.input == nil {
		return nil
	}
	t.apply(contentOf{item: item, claim: ask.Claim, fence: ask.Fence, profile: ask.Profile}, s.input)
	t.tellSealed(item, s)
	return nil
}

// tellSealed lists the execution of a window that needs no lane.
func (t *turn) tellSealed(item int, s *sealing) {
	if s.input.order == nil {
		t.verdicts[item].Born = append(t.verdicts[item].Born, s.input.born(attemptOf(t.items[item].Seal.Claim)))
	}
}

// sealedBefore tells what a turn of which nobody knew the outcome did (R05), if it was this very closing.
func (t *turn) sealedBefore(item int, last txn.Transition) (*facts.Refusal, error) {
	s := t.seals[item]
	key := facts.WindowKey{Account: t.account, Subject: s.window}
	for _, closed := range []string{closedBySize, closedByQuiet, closedByDeadline} {
		members := uint64(len(t.items[item].Seal.Members))
		var body facts.EvidenceBody = inbound.WindowSetAside{Reason: s.reason.String(), Closed: closed, Members: members, Membership: s.membership[:]}
		if s.input != nil {
			body = inbound.Sealed{Closed: closed, Members: members, Membership: s.membership[:], Projection: s.input.projection.ID[:]}
		}
		evidence, err := facts.Prove(body)
		switch {
		case err != nil:
			return nil, err
		case !bytes.Equal(evidence.Bytes(), last.Evidence):
		case s.input == nil:
			t.verdicts[item].Aside = s.reason
			return nil, nil
		default:
			t.tellSealed(item, s)
			return nil, nil
		}
	}
	return facts.Refuse(facts.SubjectEnded, facts.OfWindow(key), "it has no head"), nil
}

// What closes a window.
const (
	closedBySize     = "size"
	closedByQuiet    = "quiet"
	closedByDeadline = "deadline"
)

func (w *window) closed() string {
	switch {
	case w.full():
		return closedBySize
	case w.row.Due.Before(w.row.Deadline):
		return closedByQuiet
	}
	return closedByDeadline
}
