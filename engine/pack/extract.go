package pack

import (
	"bytes"
	"io"
	"slices"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json/jsontext"

	"connectorcore/engine/pack/expr"
	"connectorcore/facts"
)

// Component is one item of a delivery.
//
// Spec: Inbound facts (ReceiptComponent).
type Component struct {
	Ordinal uint64 // counted from zero, in the order of the body
	Body    []byte // exactly as received
	Refusal error  // why it is quarantined before anybody looked for an event in it; nil if it is not

	value expr.Value
}

// Extract gives the components of the delivery, in their order. A component that is no strict JSON is quarantined
// alone, by its Refusal. An error is the verdict on the delivery as a whole, which then has no component: too large,
// too deep, not JSON, without the list that the channel names, or with too many items in it.
func (r *Reading) Extract() ([]Component, error) {
	if err := r.size(); err != nil {
		return nil, err
	}
	var bodies [][]byte
	switch r.channel.Components.Form {
	case "single":
		if r.fault != nil {
			return nil, r.fault
		}
		return []Component{{Body: r.body, value: r.value}}, nil
	case "lines":
		for line := range bytes.Lines(r.body) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				bodies = append(bodies, line)
			}
		}
	default:
		if r.channel.Components.At != "" && r.fault != nil {
			return nil, r.fault // what stands around the list cannot be read
		}
		var err error
		if bodies, err = r.items(); err != nil {
			return nil, err
		}
	}
	if most := r.channel.Limits.Components; int64(len(bodies)) > most {
		return nil, facts.Refuse(facts.ComponentsTooMany, facts.OfInput("body"), "%d components, the channel takes %d", len(bodies), most)
	}
	components := make([]Component, len(bodies))
	for i, body := range bodies {
		c := Component{Ordinal: uint64(i), Body: body}
		c.value, c.Refusal = expr.Decode(body, int(r.channel.Limits.Depth))
		components[i] = c
	}
	return components, nil
}

// items cuts the list out of the body.
func (r *Reading) items() ([][]byte, error) {
	decoder := lenient(r.body)
	missing := facts.Refuse(facts.ComponentsMissing, facts.OfInput("components.at"), "no list stands there")
	for token := range jsontext.Pointer(r.channel.Components.At).Tokens() {
		found, err := enter(decoder, token)
		if err != nil {
			return nil, r.unreadable()
		}
		if !found {
			return nil, missing
		}
	}
	switch decoder.PeekKind() {
	case jsontext.KindInvalid:
		return nil, r.unreadable()
	case '[':
	default:
		return nil, missing
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, r.unreadable()
	}
	var bodies [][]byte
	for decoder.PeekKind() != ']' {
		body, err := decoder.ReadValue()
		if err != nil {
			return nil, r.unreadable()
		}
		bodies = append(bodies, slices.Clone([]byte(body)))
		if int64(len(bodies)) > r.channel.Limits.Components+1 {
			return bodies, nil
		}
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, r.unreadable()
	}
	if r.channel.Components.At == "" {
		if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
			return nil, r.unreadable() // something follows the list
		}
	}
	return bodies, nil
}

// enter moves to the value of a member, and tells whether there is one.
func enter(decoder *jsontext.Decoder, member string) (bool, error) {
	if decoder.PeekKind() != '{' {
		return false, nil
	}
	if _, err := decoder.ReadToken(); err != nil {
		return false, err
	}
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadToken()
		if err != nil {
			return false, err
		}
		if name.String() == member {
			return true, nil
		}
		if err := decoder.SkipValue(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// unreadable is the closed reason why a body has no structure.
func (r *Reading) unreadable() error {
	if r.fault != nil {
		return r.fault
	}
	return errors.AssertionFailedf("a body that was decoded has no structure")
}
