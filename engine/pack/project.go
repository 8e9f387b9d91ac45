package pack

import (
	"slices"
	"strings"

	"github.com/cockroachdb/errors"

	"connectorcore/engine/pack/expr"
	"connectorcore/engine/pack/form"
	"connectorcore/facts"
)

// Input is what a mapping makes of an event, or of the members of a window.
type Input struct {
	Record facts.OwnerSlot // the application's record that it is about
	Fields []Set           // in the order of their names
}

// Set is one field of an input.
type Set struct {
	Name  string
	Owner string // source: each input overwrites it; application: it only begins with this
	Value []byte // JSON of one spelling
}

// Project makes the application's input of the members of a window, in their order; an immediate route has one. The
// expressions read the last member as event and payload, and all as members.
//
// Spec: Inbound facts (Projection).
func (m *Mapping) Project(members []*Event) (Input, error) {
	if len(members) == 0 {
		return Input{}, errors.AssertionFailedf("a projection of no event")
	}
	in := members[len(members)-1].inputs()
	list := make([]expr.Value, len(members))
	for i, member := range members {
		own := member.inputs()
		list[i] = expr.Object(map[string]expr.Value{"kind": own["event.kind"], "key": own["event.key"],
			"locator": own["event.locator"], "payload": own["payload"]})
	}
	in["members"] = expr.List(list)
	record, err := expr.EvalKey[facts.OwnerSlot](&m.Record, in, facts.KeyMaxBytes)
	if err != nil {
		return Input{}, err
	}
	input := Input{Record: record}
	for i := range m.Fields {
		field := &m.Fields[i]
		holds, err := field.When.Bool(in)
		if err != nil {
			return Input{}, err
		}
		if !holds {
			continue
		}
		value, err := field.Value.JSON(in)
		if err != nil {
			return Input{}, err
		}
		input.Fields = append(input.Fields, Set{field.Name, field.Owner, value})
	}
	slices.SortFunc(input.Fields, func(a, b Set) int { return strings.Compare(a.Name, b.Name) })
	return input, nil
}

// Bytes is the exact input that the application gets, and that ExecutionInput digests:
//
//	{"application":{FIELD:VALUE,...},"record":RECORD,"source":{FIELD:VALUE,...}}
//
// without blanks, the fields under their owner in the byte order of their names.
func (i Input) Bytes() []byte {
	out := append([]byte(`{"application":`), i.owned("application")...)
	out = append(out, `,"record":`...)
	out = form.AppendCanonical(out, &form.Node{Text: i.Record.String()})
	out = append(append(out, `,"source":`...), i.owned("source")...)
	return append(out, '}')
}

func (i Input) owned(owner string) []byte {
	out := []byte{'{'}
	for _, set := range i.Fields {
		if set.Owner != owner {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(form.AppendCanonical(out, &form.Node{Text: set.Name}), ':')
		out = append(out, set.Value...)
	}
	return append(out, '}')
}
