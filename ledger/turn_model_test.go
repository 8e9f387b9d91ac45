package ledger_test

import (
	"bytes"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/ledger/turn"
	"connectorcore/machines"
	"connectorcore/proptest/model"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"pgregory.net/rapid"
)

// The routes of a play: one of each contract, and of each thing that a contract may say.
var (
	beginning = model.Position{Kind: "integer", N: 1}
	contracts = map[string]model.Contract{
		"free":    {},
		"latest":  {Kind: model.Latest},
		"settled": {Kind: model.Latest, Settles: true, FailedAdvances: true},
		"counted": {Kind: model.Strict, First: beginning, GapHolds: true},
		"chained": {Kind: model.Strict, First: beginning, FailedAdvances: true},
	}
	ties = []string{"x", "y"}
)

// untilWaits is how long the lanes of a play wait, if they do: longer than a play, and shorter than a head is left alone
// whose lane is taken.
const untilWaits = 5 * time.Minute

// play drives the engine and the model through the same turns.
type play struct {
	*rapid.T
	s        *scene
	premise  inbound.Premise
	model    *model.Account
	ledgers  []*ledger.Ledger
	faulty   *ledger.Ledger // through the proxy
	proxy    *world.Proxy
	holders  map[string]facts.HolderID
	second   string // the second process's
	now      *stored
	received map[facts.ReceiptID]string
	sent     map[string]sent               // by receipt
	events   map[string]*model.SourceEvent // by key
	turns    int
}

// sent is an admission that was made before.
type sent struct {
	ask *model.Admission
	id  facts.ReceiptID
}

// Whatever is delivered in whatever order, twice, with gaps, ties and contradictions, in turns of one item or of many, from
// one process or from two at once, whatever becomes of a commit, of a lease, of a process and of time: after each step the
// tables hold what the model says, and nothing else. What a free lane could take is looked at soon.
func TestP15P21R21R22R23TheTablesOfEveryTurnEqualTheModel(t *testing.T) {
	s, premise := turnScene(t)
	proxy := world.NewProxy(t, s.store.Login.Address)
	p := &play{s: s, premise: premise, proxy: proxy, ledgers: []*ledger.Ledger{s.ledger, s.open(s.store.Pool(t, schema.RoleLedger))},
		second:  "B",
		holders: map[string]facts.HolderID{"A": facts.Mint[facts.HolderID](), "B": facts.Mint[facts.HolderID]()}}
	p.faulty = s.open(s.store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil), ledger.WithClock(&clock{}))
	// A play takes a second or more: half of rapid's hundred are enough for every day. Whoever asks for others gets them.
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		ok(t, flag.Set("rapid.checks", "50"))
		defer func() { ok(t, flag.Set("rapid.checks", checks.DefValue)) }()
	}
	plays, turns := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		p.T = r
		p.begin()
		r.Repeat(map[string]func(*rapid.T){"turn": p.turn, "turn of many": p.turn, "race": p.race, "fault": p.fault, "time": p.time, "restart": p.restart})
		if found := breaches(t, s.store.Admin); len(found) > 0 {
			r.Fatalf("Q01: %s", found)
		}
		plays, turns = plays+1, turns+p.turns
	})
	t.Logf("%d plays, %d turns", plays, turns)
}

// begin empties the account.
func (p *play) begin() {
	for _, table := range inboundTables {
		_, err := p.s.store.Admin.ExecContext(p.s.t.Context(), "DELETE FROM "+table)
		ok(p.s.t, err)
	}
	p.model, p.turns = model.New(contracts), 0
	p.received, p.sent, p.events = map[facts.ReceiptID]string{}, map[string]sent{}, map[string]*model.SourceEvent{}
	p.now = p.tables()
}

// turn takes a turn of one item or of many, and compares the verdicts too.
func (p *play) turn(r *rapid.T) {
	p.T = r
	items := p.items(1)
	got := p.take(rapid.SampledFrom(p.ledgers).Draw(r, "by"), items)
	p.look()
	took := p.model.Take(items, false)
	p.agrees(items, got, took)
	told := map[string]bool{}
	var gaps []string
	for _, v := range got {
		for _, born := range v.Born {
			told[p.now.names[born.Execution]] = true
		}
		for _, gap := range v.Gaps {
			gaps = append(gaps, p.now.projected[gap])
		}
	}
	for _, name := range took.Born {
		if !told[name] {
			p.Fatalf("nobody is told of %s", name)
		}
	}
	slices.Sort(gaps)
	slices.Sort(took.Gaps)
	if !slices.Equal(gaps, took.Gaps) {
		p.Fatalf("told of the gaps %v, want %v", gaps, took.Gaps)
	}
}

// fault takes a turn whose connection breaks at its COMMIT, before the server has it or after. It is settled by the same
// turn once more.
func (p *play) fault(r *rapid.T) {
	p.T = r
	after := rapid.Bool().Draw(r, "after the commit")
	items := append([]model.Item{{Admit: p.delivery()}}, p.items(0)...) // so that there is something to commit
	items[0].Admit.Stale = false
	fault := p.proxy.Arm(map[bool]world.FaultKind{false: world.CutBeforeCommit, true: world.CutAfterCommit}[after], 1)
	got := p.take(p.faulty, items)
	<-fault.Fired()
	p.look()
	if after {
		p.model.Take(items, false)
	}
	p.agrees(items, got, p.model.Take(items, true))
}

// race takes two turns at once from two processes: the tables are those of one order of them or of the other.
func (p *play) race(r *rapid.T) {
	p.T = r
	one, two := p.items(1), p.items(1)
	first, second := p.made(one), p.made(two)
	done := make(chan error, 2)
	for n, items := range [][]turn.Item{first, second} {
		go func() {
			_, err := p.ledgers[n].TakeTurn(p.s.t.Context(), p.s.accounts[0], items)
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			p.Fatal(err)
		}
	}
	p.turns += 2
	p.look()
	other := p.model.Clone()
	p.model.Take(one, false)
	p.model.Take(two, false)
	other.Take(two, false)
	other.Take(one, false)
	if slices.Equal(other.Lines(), p.now.lines) {
		p.model = other
	}
	p.equal(append(slices.Clone(one), two...))
}

// take takes a turn of the engine.
func (p *play) take(l *ledger.Ledger, items []model.Item) []turn.Verdict {
	verdicts, err := l.TakeTurn(p.s.t.Context(), p.s.accounts[0], p.made(items))
	if err != nil {
		p.Fatalf("%s: %+v", told(items), err)
	}
	p.turns++
	return verdicts
}

// look reads the tables. Which of two copies was taken is the ids' affair.
func (p *play) look() {
	p.now = p.tables()
	ids := p.now.inputs
	p.model.Rank = func(a, b string) int { one, two := ids[a], ids[b]; return bytes.Compare(one[:], two[:]) }
}

func (p *play) agrees(items []model.Item, got []turn.Verdict, want model.Took) {
	for i, v := range got {
		code := ""
		if v.Refusal != nil {
			code = v.Refusal.Code.String()
		}
		if code != want.Verdicts[i].Refusal || v.Duplicate != want.Verdicts[i].Duplicate {
			p.Fatalf("item %d of%s\n is %q (duplicate %t), want %+v", i, told(items), code, v.Duplicate, want.Verdicts[i])
		}
	}
	p.equal(items)
}

// equal compares the tables with the model, and looks for what waits and could go on.
func (p *play) equal(items []model.Item) {
	want := p.model.Lines()
	if !slices.Equal(want, p.now.lines) {
		var text strings.Builder
		for _, line := range want {
			if !slices.Contains(p.now.lines, line) {
				fmt.Fprintln(&text, "- ", line)
			}
		}
		for _, line := range p.now.lines {
			if !slices.Contains(want, line) {
				fmt.Fprintln(&text, "+ ", line)
			}
		}
		p.Fatalf("after%s\nthe tables are not the model's (-), but (+)\n%s", told(items), &text)
	}
	soon, timed := p.model.Due()
	for _, name := range soon {
		if p.now.due[name] > 5*time.Second {
			p.Fatalf("after%s\n%s could take its lane, and is looked at in %s", told(items), name, p.now.due[name])
		}
	}
	for _, name := range timed {
		if p.now.due[name] > p.now.until[name] {
			p.Fatalf("after%s\n%s waits for %s, and is looked at in %s", told(items), name, p.now.until[name], p.now.due[name])
		}
	}
}

// time lets leases lapse, and the time pass for which lanes wait, as an administrator who moves clocks.
func (p *play) time(r *rapid.T) {
	p.T = r
	names := p.model.Names()
	for _, name := range p.some(names.Open, "lapses") {
		id := p.now.executions[name].Execution
		_, err := p.s.store.Admin.ExecContext(p.s.t.Context(), "UPDATE execution_head SET due_at=NOW(6) - INTERVAL 1 SECOND WHERE execution_id=?", id[:])
		ok(p.s.t, err)
		p.model.Lapse(name)
	}
	for _, name := range p.some(names.Waiting, "passes") {
		id := p.now.inputs[name]
		_, err := p.s.store.Admin.ExecContext(p.s.t.Context(), "UPDATE projection_head SET deadline_at=NOW(6) - INTERVAL 1 SECOND, due_at=NOW(6) - INTERVAL 1 SECOND WHERE projection_id=? AND deadline_at IS NOT NULL", id[:])
		ok(p.s.t, err)
		p.model.Pass(name)
	}
}

// restart lets a process begin that knows nothing but the tables.
func (p *play) restart(*rapid.T) {
	p.ledgers[1] = p.s.open(p.s.store.Pool(p.s.t, schema.RoleLedger))
	p.second = fmt.Sprint("B", len(p.holders))
	p.holders[p.second] = facts.Mint[facts.HolderID]()
}

func (p *play) some(of []string, label string) (chosen []string) {
	for _, name := range of {
		if rapid.Bool().Draw(p.T, label+" "+name) {
			chosen = append(chosen, name)
		}
	}
	return chosen
}

// made are the engine's items.
func (p *play) made(items []model.Item) (all []turn.Item) {
	for _, item := range items {
		all = append(all, p.one(item))
	}
	return all
}

func (p *play) under(premise model.Premise) inbound.Premise {
	at := p.premise
	if premise.Stale {
		at.Fence--
	}
	return at
}

func (p *play) holding(name string) *turn.Holding {
	if name == "" {
		return nil
	}
	return &turn.Holding{Holder: p.holders[name], Lease: time.Hour}
}

func (p *play) one(item model.Item) turn.Item {
	switch {
	case item.Admit != nil:
		return turn.Item{Admit: p.admission(item.Admit)}
	case item.Materialize != nil:
		ask := item.Materialize
		return turn.Item{Materialize: &turn.Materialization{Premise: p.under(ask.Premise), Receipt: p.sent[ask.Receipt].id, Content: *p.content(ask.Content), Claim: p.holding(ask.Holder)}}
	case item.Claim != nil:
		ask := item.Claim
		return turn.Item{Claim: &turn.Claim{Premise: p.under(ask.Premise), Holding: *p.holding(ask.Holder), Execution: p.now.executions[ask.Execution].Execution}}
	case item.End != nil:
		ask := item.End
		delay := map[bool]time.Duration{true: time.Hour}[ask.Later]
		return turn.Item{End: &turn.End{Execution: p.now.executions[ask.Execution].Execution, Attempt: uint64(ask.Attempt), Holder: p.holders[ask.Holder], Reason: facts.ExecutionFailing, Delay: delay}}
	case item.Complete != nil:
		return turn.Item{Complete: p.completion(item.Complete)}
	}
	ask := item.Advance
	one := &turn.Advance{Premise: p.under(ask.Premise), Profile: facts.ProfileV2, Lane: p.now.lanes[ask.Lane], Order: p.order(ask.Lane), Claim: p.holding(ask.Holder)}
	for _, name := range ask.Due {
		one.Projections = append(one.Projections, p.now.inputs[name])
	}
	return turn.Item{Advance: one}
}

func (p *play) completion(ask *model.Completion) *turn.Completion {
	born := p.now.executions[ask.Execution]
	one := completion(born)
	copy(one.Receipt[:], bytes.Repeat([]byte(ask.Receipt), 32))
	one.Outcome = map[bool]machines.ApplicationResultState{false: machines.ApplicationResultApplied, true: machines.ApplicationResultFailed}[ask.Failed]
	if lane := p.model.LaneOf(ask.Execution); lane != "" {
		one.Lane, one.Order = born.Lane, p.order(lane)
	}
	if ask.Next != nil {
		one.Next = &turn.Next{Premise: p.under(ask.Next.Premise), Holding: *p.holding(ask.Next.Holder)}
	}
	return one
}

// order is what the route of a lane says.
func (p *play) order(lane string) turn.Order {
	route, _, _ := strings.Cut(lane, "/")
	c := contracts[route]
	order := turn.Order{GapHolds: c.GapHolds, FailedAdvances: c.FailedAdvances}
	if c.Kind == model.Strict {
		order.First = placeOf(p.s.t, c.First)
	}
	if c.Kind == model.Strict || c.Settles {
		order.Wait = untilWaits
	}
	return order
}

// placeOf is a position of the model.
func placeOf(t testing.TB, at model.Position) (made facts.SourcePosition) {
	t.Helper()
	switch at.Kind {
	case "integer":
		made = orderOf(t, fmt.Sprint(at.N), "-").Position
	case "opaque":
		made = orderOf(t, "1", fmt.Sprint(at.N)).TieBreaker
	}
	return made
}
