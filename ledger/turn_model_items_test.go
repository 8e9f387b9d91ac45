package ledger_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"connectorcore/facts"
	"connectorcore/ledger/turn"
	"connectorcore/proptest/model"

	"pgregory.net/rapid"
)

// often tells, so many times of a hundred.
func (p *play) often(percent int, label string) bool {
	return rapid.IntRange(0, 99).Draw(p.T, label) < percent
}

func (p *play) any(of []string, label string) string { return rapid.SampledFrom(of).Draw(p.T, label) }

// items are what a turn does: one thing, or several.
func (p *play) items(least int) (items []model.Item) {
	most := least
	if p.often(50, "several") {
		most = least + 6
	}
	for range rapid.IntRange(least, most).Draw(p.T, "items") {
		items = append(items, p.item())
	}
	if open := p.model.Names().Open; len(open) > 0 && p.often(10, "overtakes") { // a claim, and what the attempt before it says
		name := p.any(open, "execution")
		items = append(items, model.Item{Claim: &model.Claim{Execution: name, Holder: p.holder()}})
		if attempt, by := p.model.Attempt(name); attempt > 0 {
			items = append(items, model.Item{End: &model.End{Execution: name, Attempt: attempt, Holder: by}})
		}
	}
	return items
}

func (p *play) premises() model.Premise { return model.Premise{Stale: p.often(4, "stale")} }

func (p *play) holder() string { return p.any([]string{"A", "A", "A", p.second}, "holder") }

// perhaps is a holder, or nobody.
func (p *play) perhaps() string { return p.any([]string{"A", "A", p.second, ""}, "claims") }

// item is something that can be done now, mostly.
func (p *play) item() model.Item {
	names := p.model.Names()
	kinds := []string{"admit", "admit", "admit"}
	for kind, of := range map[string]int{"again": len(names.Keys), "materialize": len(names.Pending), "advance": len(names.Lanes), "complete again": len(names.Ended)} {
		if of > 0 {
			kinds = append(kinds, kind)
		}
	}
	if len(names.Pending) > 0 {
		kinds = append(kinds, "materialize", "materialize")
	}
	if len(names.Open) > 0 {
		kinds = append(kinds, "complete", "complete", "complete", "complete", "claim", "end")
	}
	slices.Sort(kinds)
	switch p.any(kinds, "kind") {
	case "admit":
		return model.Item{Admit: p.delivery()}
	case "again":
		return model.Item{Admit: p.again(p.any(names.Keys, "key"))}
	case "materialize":
		name := p.any(names.Pending, "receipt")
		content := p.sent[name].ask.Content
		if content == nil { // a bare admission: it is read now, and is what it is from then on
			content = p.contents()
			p.sent[name].ask.Content = content
		}
		whole := *content
		whole.Open = p.often(15, "still open")
		return model.Item{Materialize: &model.Materialization{Premise: p.premises(), Receipt: name, Holder: p.perhaps(), Content: &whole}}
	case "claim":
		return model.Item{Claim: &model.Claim{Premise: p.premises(), Execution: p.any(names.Open, "execution"), Holder: p.holder()}}
	case "end":
		name := p.any(names.Open, "execution")
		attempt, by := p.model.Attempt(name)
		if attempt == 0 {
			return model.Item{Claim: &model.Claim{Execution: name, Holder: p.holder()}}
		}
		if attempt > 1 && p.often(30, "an earlier attempt") {
			attempt = rapid.IntRange(1, attempt-1).Draw(p.T, "attempt")
			by = p.model.AttemptOf(name, attempt)
		}
		if p.often(5, "by another one") {
			by = p.holder()
		}
		return model.Item{End: &model.End{Execution: name, Attempt: attempt, Holder: by, Later: p.often(50, "later")}}
	case "advance":
		return model.Item{Advance: p.advance(p.any(names.Lanes, "lane"), names.Waiting)}
	case "complete again":
		return model.Item{Complete: p.completes(p.any(names.Ended, "execution"))}
	}
	return model.Item{Complete: p.completes(p.any(names.Open, "execution"))}
}

func (p *play) advance(lane string, waiting []string) *model.Advance {
	mine := slices.DeleteFunc(slices.Clone(waiting), func(name string) bool { return p.model.LaneOf(name) != lane })
	return &model.Advance{Premise: p.premises(), Lane: lane, Holder: p.perhaps(), Due: p.some(mine, "due")}
}

func (p *play) completes(name string) *model.Completion {
	ask := &model.Completion{Execution: name, Receipt: "a", Failed: p.often(12, "fails")}
	if p.often(5, "another receipt") {
		ask.Receipt = "b"
	}
	if p.often(85, "next") {
		ask.Next = &model.Next{Premise: p.premises(), Holder: p.holder()}
	}
	return ask
}

// delivery is a new delivery.
func (p *play) delivery() *model.Admission {
	name := fmt.Sprint("r", len(p.sent))
	ask := &model.Admission{Premise: p.premises(), Receipt: name, Key: "key of " + name, Admitted: name, Body: name, Holder: p.perhaps()}
	if !p.often(12, "bare") {
		ask.Content = p.contents()
		ask.Content.Open = p.often(10, "open")
	}
	p.keep(ask)
	return ask
}

func (p *play) keep(ask *model.Admission) {
	id := facts.Mint[facts.ReceiptID]()
	p.sent[ask.Receipt], p.received[id] = sent{ask, id}, ask.Receipt
}

// again is a delivery under a key that came before: the very same admission, the same delivery, the same but for what a retry
// changes, or another one.
func (p *play) again(key string) *model.Admission {
	first := p.sent[strings.TrimPrefix(key, "key of ")].ask
	ask := *first
	way := p.any([]string{"the very same", "the same", "a retry", "another"}, "way")
	if way == "the very same" {
		return &ask
	}
	ask.Receipt, ask.Premise = fmt.Sprint("r", len(p.sent)), p.premises()
	switch way {
	case "a retry":
		ask.Body += " again"
	case "another":
		ask.Admitted, ask.Body = ask.Admitted+" else", ask.Body+" else"
	}
	p.keep(&ask)
	return &ask
}

func (p *play) contents() *model.Contents {
	c := &model.Contents{}
	for range rapid.IntRange(1, 4).Draw(p.T, "events") {
		if p.often(4, "no event") {
			c.Events = append(c.Events, nil)
		} else {
			c.Events = append(c.Events, p.event())
		}
	}
	return c
}

// event is a new event, one that came before, or one that contradicts it.
func (p *play) event() *model.SourceEvent {
	key := fmt.Sprint("e", rapid.IntRange(0, 40).Draw(p.T, "event"))
	before := p.events[key]
	if before != nil && !p.often(20, "contradicts") {
		return before
	}
	route := p.any([]string{"latest", "latest", "settled", "counted", "counted", "chained"}, "route")
	e := &model.SourceEvent{Key: key, Partition: p.any([]string{"p", "q"}, "partition"), Routes: []string{route}, Tie: "x", Says: p.any([]string{"1", "1", "1", "2"}, "says"),
		At: model.Position{Kind: "integer", N: rapid.IntRange(0, 5).Draw(p.T, "position")}}
	if p.often(20, "another tie") {
		e.Tie = "y"
	}
	if p.often(4, "of another kind") {
		e.At.Kind = "opaque"
	}
	if contracts[route].Kind == model.Strict && e.At.N > 3 { // else most would wait for ever
		e.At.N -= 3
	}
	if contracts[route].Kind == model.Strict && e.At != beginning {
		e.Follows = e.At
		e.Follows.N--
		if route == "chained" && e.At.N > 1 { // it names what comes before
			e.Follows.N = rapid.IntRange(max(e.At.N-2, 0), e.At.N-1).Draw(p.T, "follows")
		}
		e.Follows.N = max(e.Follows.N, 0)
		e.Says += fmt.Sprint(" after ", e.Follows)
	}
	if p.often(25, "both") {
		e.Routes = append(e.Routes, "free")
	}
	if before == nil {
		p.events[key] = e
	}
	return e
}

// admission is the engine's.
func (p *play) admission(ask *model.Admission) *turn.Admission {
	one := delivery(p.s.t, p.under(ask.Premise), ask.Key, ask.Body, nil)
	one.Receipt, one.Claim, one.Admitted = p.sent[ask.Receipt].id, p.holding(ask.Holder), facts.Digest{}
	copy(one.Admitted[:], ask.Admitted)
	if ask.Content != nil {
		one.Content = p.content(ask.Content)
	}
	return one
}

func (p *play) content(c *model.Contents) *turn.Content {
	t := p.s.t
	all := &turn.Content{Profile: facts.ProfileV2, Open: c.Open}
	for _, e := range c.Events {
		if e == nil {
			all.Components = append(all.Components, turn.Component{Reason: facts.EventUnmatched})
			continue
		}
		made := eventsOf(t, true, e.Key+"="+e.Says).Components[0]
		made.Event.Contract, made.Event.Partition = facts.Digest{9}, keyOf[facts.OrderingPartition](t, e.Partition)
		made.Event.Order = facts.SourceOrder{Position: placeOf(t, e.At), TieBreaker: orderOf(t, "1", e.Tie).TieBreaker}
		made.Event.Locator = keyOf[facts.SourceLocator](t, e.Partition)
		like := made.Event.Inputs[0]
		made.Event.Inputs = nil
		for _, route := range e.Routes {
			input := like
			input.Route = keyOf[facts.RouteID](t, route)
			if contracts[route].Kind != model.Independent {
				order := p.order(route)
				input.Order, input.Follows = &order, placeOf(t, e.Follows)
			}
			made.Event.Inputs = append(made.Event.Inputs, input)
		}
		all.Components = append(all.Components, made)
	}
	return all
}

// unset is what an item says of what it is not.
var unset = regexp.MustCompile(`,?"\w+":(null|false|"")`)

// told are the items of a turn as a failure tells of them.
func told(items []model.Item) string {
	text := ""
	for _, item := range items {
		one, _ := json.Marshal(item)
		text += "\n  " + unset.ReplaceAllString(string(one), "")
	}
	return text
}
