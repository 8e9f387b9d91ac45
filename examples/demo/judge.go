package main

import (
	"cmp"
	"crypto/sha256"
	"math/bits"
	"slices"
	"strings"

	"connectorcore/examples/provider"
	"connectorcore/facts"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// input is one input of the application that the provider published.
type input struct {
	command       facts.CommandID // with which the application gets it
	position, tie string          // its place in the source's order, as bytes; empty where order does not matter
	digest        facts.Digest    // of the whole of it
	source        string          // what it says of the record
}

// after orders two inputs of one thing as their source does. Two that claim one place are set aside by the daemon unless
// they are one event; in no pack of this tree can two events claim one.
func after(a, b input) int {
	return cmp.Or(strings.Compare(a.position, b.position), strings.Compare(a.tie, b.tie), a.command.Compare(b.command))
}

func (m *matter) input(c provider.Command, epoch facts.EpochID) (input, error) {
	var read struct {
		Source jsontext.Value `json:"source"`
	}
	if err := json.Unmarshal(c.Input, &read); err != nil {
		return input{}, errors.Wrap(err, "an input that a pack makes")
	}
	command, err := provider.ID(m.account.id, epoch, c)
	return input{command, string(c.Order.Position.Encoded()), string(c.Order.TieBreaker.Encoded()), sha256.Sum256(c.Input), string(read.Source)}, err
}

// owed is what the provider may ask for: what was answered 2xx leads to these inputs, by the packs alone.
type owed struct {
	inputs   map[done][]input    // of each thing, in the source's order, each once
	gathered map[done]*gathering // of each thing that windows gather
	needy    int                 // deliveries that ask for something which needs another fact; whether it comes is not looked at
}

// gathering is what windows gather of one thing. Into how many windows, and which of it into each, is a matter of time.
type gathering struct {
	commands []provider.Command // each event once
	sources  []string           // what the record may say then
	may      map[facts.CommandID]uint
}

// gatheredMost bounds the events of one thing, since every set of them may be a window.
const gatheredMost = 12

// fill says which commands there may be, each with the set of the events that are in it.
func (g *gathering) fill(account facts.AccountID, epoch facts.EpochID) error {
	if len(g.commands) > gatheredMost {
		return errors.Newf("%d deliveries may be gathered for %s, and the demo can tell of %d at most", len(g.commands), g.commands[0].Record, gatheredMost)
	}
	g.may = map[facts.CommandID]uint{}
	for set := uint(1); set < 1<<len(g.commands); set++ {
		var members []provider.Command
		for i, c := range g.commands {
			if set&(1<<i) != 0 {
				members = append(members, c)
			}
		}
		command, err := provider.ID(account, epoch, members...)
		if err != nil {
			return err
		}
		g.may[command] = set
	}
	return nil
}

func owedFor(parcels []*parcel, epoch facts.EpochID) (owed, error) {
	o := owed{map[done][]input{}, map[done]*gathering{}, 0}
	seen := map[*matter]bool{}
	for _, one := range parcels {
		if one.trick != honest || !one.taken() || seen[one.matter] {
			continue
		}
		seen[one.matter] = true
		needy := false
		for _, c := range one.commands {
			if len(c.Needs) > 0 {
				needy = true
				continue
			}
			made, err := one.input(c, epoch)
			if err != nil {
				return o, err
			}
			about := one.about(c)
			if !c.Grouping.IsZero() {
				o.gather(about, c, made.source)
			} else if at, there := slices.BinarySearchFunc(o.inputs[about], made, after); !there {
				o.inputs[about] = slices.Insert(o.inputs[about], at, made)
			}
		}
		if needy {
			o.needy++
		}
	}
	for about, g := range o.gathered {
		if err := g.fill(about.account, epoch); err != nil {
			return o, err
		}
	}
	return o, nil
}

// gather adds an event to what windows gather of a thing.
func (o owed) gather(about done, c provider.Command, source string) {
	g := o.gathered[about]
	if g == nil {
		g = &gathering{}
		o.gathered[about] = g
	}
	if !slices.ContainsFunc(g.commands, func(known provider.Command) bool { return known.Event == c.Event }) {
		g.commands, g.sources = append(g.commands, c), append(g.sources, source)
	}
}

// about is what a command of a delivery is about.
func (m *matter) about(c provider.Command) done {
	return done{m.account.id, c.Definition.String(), c.Record.String()}
}

// taken tells whether the door took a parcel in.
func (p *parcel) taken() bool { return p.status >= 200 && p.status < 300 }

// tally is what became of the inputs that are owed, as the application's log tells it.
type tally struct {
	applied    int // inputs that have a line
	gathered   int // events that have none of their own, since a window made one input of them and another
	overtaken  int // inputs without one, while a greater one of the same thing has one
	lost       int // inputs without one, and no greater one has one
	twice      int // further lines about an input that has its line, be it by one command or by two
	unasked    int // lines about nothing that was published
	outOfOrder int // lines behind one about a greater input of the same thing
	stale      int // things of which the application holds something else than their greatest input says
}

// against holds what is owed against what the application wrote down.
func (o owed) against(l logged) tally {
	var t tally
	for about, inputs := range o.inputs {
		lines := l.lines[about]
		t.thing(inputs, lines)
		newest := inputs[len(inputs)-1].source
		if len(lines) > 0 && !slices.Contains(l.holds[held{about.account, about.record}], newest) {
			t.stale++
		}
	}
	for about, g := range o.gathered {
		t.windows(g, l.lines[about])
		holds := l.holds[held{about.account, about.record}]
		if len(l.lines[about]) > 0 && !slices.ContainsFunc(g.sources, func(source string) bool { return slices.Contains(holds, source) }) {
			t.stale++
		}
	}
	for about, lines := range l.lines {
		if len(o.inputs[about]) == 0 && o.gathered[about] == nil {
			t.unasked += len(lines)
		}
	}
	return t
}

// windows counts one thing that windows gather: each event must be in exactly one of the inputs that were applied.
func (t *tally) windows(g *gathering, lines []line) {
	var seen uint
	for _, l := range lines {
		set, known := g.may[l.command]
		switch {
		case !known:
			t.unasked++
		case seen&set != 0:
			t.twice++
		default:
			seen |= set
			t.applied++
			t.gathered += bits.OnesCount(set) - 1
		}
	}
	t.lost += len(g.commands) - bits.OnesCount(seen)
}

// thing counts one thing: its inputs in the source's order, and its lines in the order in which they were written.
func (t *tally) thing(inputs []input, lines []line) {
	used := make([]bool, len(inputs))
	greatest := -1
	for _, l := range lines {
		at := slices.IndexFunc(inputs, func(one input) bool { return one.command == l.command })
		switch {
		case at >= 0 && inputs[at].digest == l.digest && !used[at]:
			used[at] = true
			if at < greatest {
				t.outOfOrder++
			}
			greatest = max(greatest, at)
		case slices.ContainsFunc(inputs, func(one input) bool { return one.digest == l.digest }):
			t.twice++
		default:
			t.unasked++
		}
	}
	for i := range inputs {
		switch {
		case used[i]:
			t.applied++
		case i < greatest:
			t.overtaken++
		default:
			t.lost++
		}
	}
}
