package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/ledger/turn"
	"connectorcore/machines"
	"connectorcore/proptest/world"
	"connectorcore/schema"
)

// servingScene is a scene whose accounts serve, and what an item of its first account is prepared under.
func servingScene(t testing.TB) (*scene, inbound.Premise) {
	t.Helper()
	s, c, content, ref := ready(t, setting{serving.Conformance, 2, 1})
	_, err := s.ledger.ActivateFirst(t.Context(), s.activation(c, content, ref))
	ok(t, err)
	return s, inbound.Premise{Fence: 6, Epoch: ref}
}

var holder = facts.Mint[facts.HolderID]()

// eventsOf is the content of a body with one event for each of these source event keys, each with one input.
func eventsOf(t testing.TB, independent bool, keys ...string) *turn.Content {
	t.Helper()
	c := &turn.Content{Profile: facts.ProfileV2}
	for _, key := range keys {
		name, says, cut := strings.Cut(key, "=")
		if !cut {
			says = name
		}
		c.Components = append(c.Components, turn.Component{Event: &turn.Event{
			EventContent: facts.EventContent{Kind: keyOf[facts.EventKind](t, "contact.changed"), Locator: keyOf[facts.SourceLocator](t, "contact/"+name)},
			Key:          keyOf[facts.SourceEventKey](t, name), Payload: []byte(says),
			Inputs: []turn.Input{{Route: keyOf[facts.RouteID](t, "contacts"), Version: keyOf[facts.DefinitionVersion](t, "1"),
				PackGeneration: keyOf[facts.PackGenerationID](t, "g-1"), Command: keyOf[facts.DefinitionID](t, "upsert"),
				CommandVersion: keyOf[facts.DefinitionVersion](t, "2"), Bytes: []byte("input of " + says)}}}})
		if !independent { // it settles for longer than any test
			e := c.Components[len(c.Components)-1].Event
			e.Contract, e.Partition, e.Order = facts.Digest{9}, keyOf[facts.OrderingPartition](t, "contact/"+name), orderOf(t, "1", name)
			e.Inputs[0].Order = &turn.Order{Wait: time.Hour}
		}
	}
	return c
}

// orderOf is a place at an integer position.
func orderOf(t testing.TB, position, tie string) facts.SourceOrder {
	t.Helper()
	at, err := facts.ParseIntegerPosition(position)
	ok(t, err)
	by, err := facts.BytesPosition([]byte(tie))
	ok(t, err)
	return facts.SourceOrder{Position: at, TieBreaker: by}
}

// delivery is an admission of a body under a transport key.
func delivery(t testing.TB, premise inbound.Premise, key, body string, content *turn.Content) *turn.Admission {
	t.Helper()
	return &turn.Admission{Premise: premise, Receipt: facts.Mint[facts.ReceiptID](), Channel: keyOf[facts.Channel](t, "events"),
		TransportKey: keyOf[facts.TransportKey](t, key), Admitted: facts.Digest{1, byte(len(body)), body[0], body[len(body)-1]},
		Body: []byte(body), Content: content, Claim: &turn.Holding{Holder: holder, Lease: time.Minute}}
}

func (s *scene) turn(items ...turn.Item) []turn.Verdict {
	s.t.Helper()
	return s.turnBy(s.ledger, items...)
}

func (s *scene) turnBy(l *ledger.Ledger, items ...turn.Item) []turn.Verdict {
	s.t.Helper()
	verdicts, err := l.TakeTurn(s.t.Context(), s.accounts[0], items)
	ok(s.t, err)
	return verdicts
}

func (s *scene) admit(asks ...*turn.Admission) []turn.Verdict {
	s.t.Helper()
	var items []turn.Item
	for _, ask := range asks {
		items = append(items, turn.Item{Admit: ask})
	}
	return s.turn(items...)
}

// inboundTables are the tables that a turn writes.
var inboundTables = []string{"receipt_admission_key", "receipt", "receipt_head", "receipt_ledger", "receipt_component", "receipt_redelivery",
	"event", "projection_window", "window_member", "projection_window_head", "projection_window_ledger", "projection", "projection_head", "projection_ledger", "ordering_lane", "ordering_lane_guard", "ordering_lane_ledger",
	"projection_need", "execution", "execution_head", "execution_attempt", "execution_attempt_end", "execution_ledger",
	"execution_dependency", "execution_dependency_head", "execution_dependency_ledger"}

// written are the numbers of rows of the tables that a turn writes, those with none left out.
func (s *scene) written() string {
	text := ""
	for _, table := range inboundTables {
		if n := s.count("SELECT COUNT(*) FROM " + table); n > 0 {
			text += fmt.Sprintf("%s %d; ", table, n)
		}
	}
	return strings.TrimSuffix(text, "; ")
}

func completion(of turn.Born) *turn.Completion {
	return &turn.Completion{Execution: of.Execution, Profile: facts.ProfileV2, Command: of.Command, Ref: of.Ref, Outcome: machines.ApplicationResultApplied,
		Result: facts.Digest{8}, Receipt: facts.Digest{9}}
}

const oneDelivery = "receipt_admission_key 1; receipt 1; receipt_component 1; event 1; projection 1; execution 1; execution_head 1; execution_attempt 1"

func TestU01ATransportKeyHasOneReceiptForEver(t *testing.T) {
	s, premise := servingScene(t)
	first := delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1"))
	same := delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1"))
	other := delivery(t, premise, "d-1", "other", eventsOf(t, true, "e-2"))
	got := s.admit(first, same)
	if got[0].Refusal != nil || got[0].Duplicate || got[0].Receipt != first.Receipt || len(got[0].Born) != 1 || got[0].Born[0].Attempt != 1 {
		t.Errorf("the first delivery: %+v", got[0])
	}
	if got[1].Refusal != nil || !got[1].Duplicate || got[1].Receipt != first.Receipt || got[1].Born != nil {
		t.Errorf("the same again in one turn: %+v", got[1])
	}
	if rows := s.written(); rows != oneDelivery {
		t.Errorf("stored %s, want %s", rows, oneDelivery)
	}
	if again := s.admit(same); again[0].Refusal != nil || !again[0].Duplicate || again[0].Receipt != first.Receipt {
		t.Errorf("the same again: %+v", again[0])
	}
	if conflict := s.admit(other); conflict[0].Refusal == nil || conflict[0].Refusal.Code != facts.ContentDiffers || conflict[0].Receipt != first.Receipt {
		t.Errorf("the same key with other bytes: %+v", conflict[0])
	}
	if rows := s.written(); rows != strings.Replace(oneDelivery, "; event", "; receipt_redelivery 1; event", 1) {
		t.Errorf("stored %s", rows)
	}
	if n := s.count("SELECT COUNT(*) FROM receipt_redelivery WHERE answer = 'conflict' AND body = 'other'"); n != 1 {
		t.Errorf("%d conflicts were kept", n)
	}
}

func TestR18VolatileMembersMakeADuplicateThatIsKept(t *testing.T) {
	s, premise := servingScene(t)
	first := delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1"))
	again := delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1"))
	again.Body = []byte("a body, retry 2")
	s.admit(first)
	for range 2 {
		if got := s.admit(again); got[0].Refusal != nil || !got[0].Duplicate || got[0].Receipt != first.Receipt {
			t.Errorf("%+v", got[0])
		}
	}
	if n := s.count("SELECT COUNT(*) FROM receipt_redelivery WHERE answer = 'duplicate' AND body = 'a body, retry 2'"); n != 1 {
		t.Errorf("%d redeliveries were kept, want 1", n)
	}
}

func TestU03AnEventIsOneWhoeverBringsIt(t *testing.T) {
	s, premise := servingScene(t)
	first := delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1"))
	// Two more deliveries with the same event, one in the same turn; and a body that brings it twice.
	second := delivery(t, premise, "d-2", "b body", eventsOf(t, true, "e-1"))
	third := delivery(t, premise, "d-3", "c body", eventsOf(t, true, "e-1", "e-1"))
	got := s.admit(first, second)
	got = append(got, s.admit(third)...)
	born := 0
	for _, v := range got {
		born += len(v.Born)
		if v.Refusal != nil || v.Duplicate {
			t.Errorf("%+v", v)
		}
	}
	if want := "receipt_admission_key 3; receipt 3; receipt_component 4; event 1; projection 1; execution 1; execution_head 1; execution_attempt 1"; s.written() != want || born != 1 {
		t.Errorf("%d born, stored %s, want %s", born, s.written(), want)
	}
	// Other content under the key is set aside, with its reason and the event that it contradicts.
	conflict := delivery(t, premise, "d-4", "d body", eventsOf(t, true, "e-1=else", "e-5"))
	if v := s.admit(conflict)[0]; v.Refusal != nil || len(v.Born) != 1 || string(v.Born[0].Input) != "input of e-5" {
		t.Errorf("%+v", v)
	}
	if n := s.count("SELECT COUNT(*) FROM receipt_component WHERE verdict = 'quarantined' AND reason = 'content_differs' AND ordinal = 0 AND event_id IS NOT NULL"); n != 1 {
		t.Errorf("%d components are quarantined", n)
	}
	if n := s.count("SELECT COUNT(*) FROM event"); n != 2 {
		t.Errorf("%d events", n)
	}
}

func TestAComponentWithoutAnEventIsQuarantinedAndItsReceiptStands(t *testing.T) {
	s, premise := servingScene(t)
	content := eventsOf(t, true, "e-1")
	content.Components = append(content.Components, turn.Component{Reason: facts.EventUnmatched})
	if v := s.admit(delivery(t, premise, "d-1", "a body", content))[0]; v.Refusal != nil || len(v.Born) != 1 {
		t.Errorf("%+v", v)
	}
	if n := s.count("SELECT COUNT(*) FROM receipt_component WHERE verdict = 'quarantined' AND reason = 'event_unmatched' AND event_id IS NULL"); n != 1 {
		t.Errorf("%d components are quarantined", n)
	}
	if n := s.count("SELECT COUNT(*) FROM receipt WHERE birth = 'whole'"); n != 1 {
		t.Error("the receipt is open")
	}
}

func TestK02OnlyMissingChildrenAreMaterialized(t *testing.T) {
	s, premise := servingScene(t)
	bare := delivery(t, premise, "d-1", "a body", nil)
	if v := s.admit(bare)[0]; v.Refusal != nil || v.Born != nil {
		t.Fatalf("%+v", v)
	}
	if want := "receipt_admission_key 1; receipt 1; receipt_head 1"; s.written() != want {
		t.Errorf("stored %s, want %s", s.written(), want)
	}
	// The whole content is cut into what fits; each call adds what is missing.
	keys := make([]string, 1200)
	for i := range keys {
		keys[i] = fmt.Sprintf("e-%04d", i)
	}
	ask := &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: *eventsOf(t, true, keys...)}
	for calls, born := 0, 0; ; calls++ {
		v := s.turn(turn.Item{Materialize: ask})[0]
		if v.Refusal != nil || calls > 3 {
			t.Fatalf("call %d: %+v", calls, v.Refusal)
		}
		if born += len(v.Born); !v.Pending {
			if born != 1200 || calls == 0 {
				t.Errorf("%d executions were born in %d calls", born, calls+1)
			}
			break
		}
	}
	want := "receipt_admission_key 1; receipt 1; receipt_ledger 1; receipt_component 1200; event 1200; projection 1200; execution 1200; execution_head 1200"
	if s.written() != want {
		t.Errorf("stored %s, want %s", s.written(), want)
	}
	// R02: what has ended is not derived again.
	if v := s.turn(turn.Item{Materialize: ask})[0]; v.Refusal == nil || v.Refusal.Code != facts.SubjectEnded || s.written() != want {
		t.Errorf("materialized again: %+v, stored %s", v, s.written())
	}
}

func TestMaterializationRefusesAnotherContentThanStands(t *testing.T) {
	s, premise := servingScene(t)
	bare := delivery(t, premise, "d-1", "a body", nil)
	s.admit(bare)
	open := *eventsOf(t, true, "e-1")
	open.Open = true
	if v := s.turn(turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: open}})[0]; v.Refusal != nil || !v.Pending || len(v.Born) != 1 {
		t.Fatalf("%+v", v)
	}
	other := *eventsOf(t, true, "e-2")
	before := s.written()
	v := s.turn(turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: other}})[0]
	if v.Refusal == nil || v.Refusal.Code != facts.ContentDiffers || s.written() != before {
		t.Errorf("%+v, stored %s", v, s.written())
	}
	open.Open = false
	if v := s.turn(turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: bare.Receipt, Content: open}})[0]; v.Refusal != nil || v.Pending || v.Born != nil {
		t.Errorf("%+v", v)
	}
}

// An input that needs a lane waits with a head, and nothing is born of it.
func TestR21AnOrderDependentInputEndsAtItsProjection(t *testing.T) {
	s, premise := servingScene(t)
	if v := s.admit(delivery(t, premise, "d-1", "a body", eventsOf(t, false, "e-1")))[0]; v.Refusal != nil || v.Born != nil {
		t.Errorf("%+v", v)
	}
	if want := "receipt_admission_key 1; receipt 1; receipt_component 1; event 1; projection 1; projection_head 1; ordering_lane 1; ordering_lane_guard 1"; s.written() != want {
		t.Errorf("stored %s, want %s", s.written(), want)
	}
}

func TestP21ALostLeaseIsANewAttemptOfTheSameExecution(t *testing.T) {
	s, premise := servingScene(t)
	ask := delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1"))
	born := s.admit(ask)[0].Born[0]
	other := turn.Claim{Premise: premise, Holding: turn.Holding{Holder: facts.Mint[facts.HolderID](), Lease: time.Minute}, Execution: born.Execution}
	if v := s.turn(turn.Item{Claim: &other})[0]; v.Refusal == nil || v.Refusal.Code != facts.LeaseHeld {
		t.Errorf("claimed while it is held: %+v", v)
	}
	// The first holder lets it go; another one gets the second attempt, and a third one waits.
	end := turn.End{Execution: born.Execution, Attempt: 1, Holder: holder, Reason: facts.ExecutionFailing, Detail: []byte("no")}
	for range 2 {
		if v := s.turn(turn.Item{End: &end})[0]; v.Refusal != nil {
			t.Errorf("ended: %+v", v)
		}
	}
	third := other
	third.Holder = facts.Mint[facts.HolderID]()
	got := s.turn(turn.Item{Claim: &other}, turn.Item{Claim: &third})
	if got[0].Refusal != nil || got[0].Attempt != 2 || got[1].Refusal == nil || got[1].Refusal.Code != facts.LeaseHeld {
		t.Errorf("%+v", got)
	}
	if v := s.turn(turn.Item{Claim: &other})[0]; v.Attempt != 2 {
		t.Errorf("the same process asks again: %+v", v)
	}
	if v := s.turn(turn.Item{End: &end})[0]; v.Refusal == nil || v.Refusal.Code != facts.StaleHolder {
		t.Errorf("a stale holder ended it: %+v", v)
	}
	want := strings.Replace(oneDelivery, "execution_attempt 1", "execution_attempt 2; execution_attempt_end 1", 1)
	if s.written() != want {
		t.Errorf("stored %s, want %s", s.written(), want)
	}
}

func TestP20AnExecutionIsCompletedByItsReceiptOnce(t *testing.T) {
	s, premise := servingScene(t)
	born := s.admit(delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1")))[0].Born[0]
	wrong := completion(born)
	wrong.Ref = facts.ExecutionRefDigest{Digest: facts.Digest{1}}
	if v := s.turn(turn.Item{Complete: wrong})[0]; v.Refusal == nil || v.Refusal.Code != facts.ContentDiffers {
		t.Errorf("a receipt for another reference: %+v", v)
	}
	foreign := completion(born)
	foreign.Command = facts.Mint[facts.CommandID]()
	if v := s.turn(turn.Item{Complete: foreign})[0]; v.Refusal == nil || v.Refusal.Code != facts.ContentDiffers {
		t.Errorf("a receipt for another command: %+v", v)
	}
	other := completion(born)
	other.Result = facts.Digest{7}
	same := s.turn(turn.Item{Complete: completion(born)}, turn.Item{Complete: other}, turn.Item{Complete: completion(born)})
	for i, want := range []facts.Code{0, facts.ResultContradicts, 0} {
		if code := codeOf(same[i]); code != want {
			t.Errorf("completion %d of one turn: %s, want %s", i, code, want)
		}
	}
	if v := s.turn(turn.Item{Complete: completion(born)})[0]; v.Refusal != nil {
		t.Errorf("%+v", v)
	}
	if v := s.turn(turn.Item{Complete: other})[0]; v.Refusal == nil || v.Refusal.Code != facts.ResultContradicts {
		t.Errorf("another receipt: %+v", v)
	}
	unknown := completion(turn.Born{Execution: facts.Mint[facts.ExecutionID](), Command: born.Command, Ref: born.Ref})
	if v := s.turn(turn.Item{Complete: unknown})[0]; v.Refusal == nil || v.Refusal.Code != facts.SubjectMissing {
		t.Errorf("an execution that is not: %+v", v)
	}
	claim := turn.Claim{Premise: premise, Holding: turn.Holding{Holder: holder, Lease: time.Minute}, Execution: born.Execution}
	if v := s.turn(turn.Item{Claim: &claim})[0]; v.Refusal == nil || v.Refusal.Code != facts.SubjectEnded {
		t.Errorf("claimed after its end: %+v", v)
	}
	want := "receipt_admission_key 1; receipt 1; receipt_component 1; event 1; projection 1; execution 1; execution_attempt 1; execution_ledger 1"
	if s.written() != want {
		t.Errorf("stored %s, want %s", s.written(), want)
	}
}

// R11: each item is compared with what it was prepared under, and a refused one fails no other.
func TestR11AnItemOfAnotherPremiseIsRefusedAlone(t *testing.T) {
	s, premise := servingScene(t)
	stale, foreign := premise, premise
	stale.Fence--
	foreign.Epoch.Digest = facts.Digest{1}
	got := s.admit(delivery(t, stale, "d-1", "a body", eventsOf(t, true, "e-1")), delivery(t, foreign, "d-2", "a body", nil), delivery(t, premise, "d-3", "a body", eventsOf(t, true, "e-3")))
	for i, want := range []facts.Code{facts.StaleFence, facts.EpochMismatch, 0} {
		if code := codeOf(got[i]); code != want {
			t.Errorf("item %d: %s, want %s", i, code, want)
		}
	}
	if s.written() != oneDelivery {
		t.Errorf("stored %s", s.written())
	}
}

func codeOf(v turn.Verdict) facts.Code {
	if v.Refusal == nil {
		return 0
	}
	return v.Refusal.Code
}

// P07, as far as admission, materialization and claim: none is possible unless the gate, its share and the exact epoch
// all stand for it. A corrupt gate that names an epoch which is not active changes nothing.
func TestP07NothingIsAcceptedUnlessTheAccountServes(t *testing.T) {
	for name, c := range map[string]struct {
		breaks string
		want   facts.Code
	}{
		"halting":             {"UPDATE account_serving_gate_guard SET state = 'halting_v2'", facts.NotServing},
		"a verified epoch":    {"UPDATE serving_epoch_guard SET state = 'verified'", facts.EpochNotActive},
		"a draining epoch":    {"UPDATE serving_epoch_guard SET state = 'draining'", facts.EpochNotActive},
		"another digest":      {"UPDATE account_serving_gate_guard SET epoch_digest = REPEAT('x', 32)", facts.EpochMismatch},
		"a share that is off": {"DELETE FROM serving_epoch_share", facts.ShareMissing},
	} {
		s, premise := servingScene(t)
		pending := delivery(t, premise, "d-0", "a body", nil)
		open := delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-0"))
		open.Claim = nil
		born := s.admit(pending, open)[1].Born[0]
		before := s.written()
		_, err := s.store.Admin.ExecContext(t.Context(), c.breaks)
		ok(t, err)
		got := s.turn(
			turn.Item{Admit: delivery(t, premise, "d-2", "a body", eventsOf(t, true, "e-2"))},
			turn.Item{Materialize: &turn.Materialization{Premise: premise, Receipt: pending.Receipt, Content: *eventsOf(t, true, "e-3")}},
			turn.Item{Claim: &turn.Claim{Premise: premise, Holding: turn.Holding{Holder: holder, Lease: time.Minute}, Execution: born.Execution}})
		for i, v := range got {
			if codeOf(v) != c.want {
				t.Errorf("%s: item %d: %v, want %s", name, i, v.Refusal, c.want)
			}
		}
		if s.written() != before {
			t.Errorf("%s: stored %s, was %s", name, s.written(), before)
		}
		// What was accepted before ends in every mode of the second protocol (R10).
		if v := s.turn(turn.Item{Complete: completion(born)})[0]; v.Refusal != nil {
			t.Errorf("%s: the completion: %v", name, v.Refusal)
		}
	}
}

func TestR43ARevokedCredentialAdmitsNothing(t *testing.T) {
	s, premise := servingScene(t)
	ask := delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1"))
	ask.Credential, ask.Member = s.credential[0].ID, keyOf[facts.DefinitionID](t, "primary")
	_, err := s.store.Admin.ExecContext(t.Context(), "UPDATE credential_generation_dispatch_gate_guard SET state = 'revoked', fence = 2 WHERE generation_id = ?", ask.Credential)
	ok(t, err)
	if v := s.admit(ask)[0]; codeOf(v) != facts.Revoked || s.written() != "" {
		t.Errorf("%+v, stored %s", v, s.written())
	}
	_, err = s.store.Admin.ExecContext(t.Context(), "UPDATE credential_generation_dispatch_gate_guard SET state = 'enabled', fence = 3")
	ok(t, err)
	if v := s.admit(ask)[0]; v.Refusal != nil || s.written() != oneDelivery {
		t.Errorf("%+v, stored %s", v, s.written())
	}
}

// R05: whatever becomes of the connection at the commit, the turn's answer is what is in the tables, once.
func TestR05UnknownTurnIsSettled(t *testing.T) {
	for _, kind := range []world.FaultKind{world.CutBeforeCommit, world.CutAfterCommit} {
		s, premise := servingScene(t)
		proxy := world.NewProxy(t, s.store.Login.Address)
		l := s.open(s.store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil))
		ask := delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1"))
		fault := proxy.Arm(kind, 1)
		v := s.turnBy(l, turn.Item{Admit: ask})[0]
		<-fault.Fired()
		if v.Refusal != nil || v.Duplicate || v.Receipt != ask.Receipt || len(v.Born) != 1 || v.Born[0].Attempt != 1 || s.written() != oneDelivery {
			t.Errorf("%d: %+v, stored %s", kind, v, s.written())
		}
		fault = proxy.Arm(kind, 1)
		done := s.turnBy(l, turn.Item{Complete: completion(v.Born[0])})[0]
		<-fault.Fired()
		if done.Refusal != nil || s.count("SELECT COUNT(*) FROM execution_ledger") != 1 {
			t.Errorf("%d: %+v", kind, done)
		}
	}
}

// Two daemons that receive one delivery at once make one Receipt of it.
func TestU01ConcurrentDeliveriesOfOneKeyConverge(t *testing.T) {
	s, premise := servingScene(t)
	second := s.open(s.store.Pool(t, schema.RoleLedger))
	var group sync.WaitGroup
	verdicts := make([]turn.Verdict, 16)
	for i := range verdicts {
		ask := delivery(t, premise, "d-1", "a body", eventsOf(t, true, "e-1"))
		group.Go(func() {
			one, err := []*ledger.Ledger{s.ledger, second}[i%2].TakeTurn(t.Context(), s.accounts[0], []turn.Item{{Admit: ask}})
			if err != nil {
				t.Error(err)
				return
			}
			verdicts[i] = one[0]
		})
	}
	group.Wait()
	accepted := slices.DeleteFunc(slices.Clone(verdicts), func(v turn.Verdict) bool { return v.Duplicate })
	if len(accepted) != 1 || s.written() != oneDelivery {
		t.Errorf("%d were accepted, stored %s", len(accepted), s.written())
	}
	for _, v := range verdicts {
		if v.Receipt != accepted[0].Receipt {
			t.Errorf("%+v names another receipt", v)
		}
	}
}
