package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"connectorcore/engine/pack/expr"
	"connectorcore/facts"
)

// Line is one header line as it was received.
type Line struct{ Name, Value string }

// Delivery is what came over a channel: the lines of its header and its body, byte for byte.
type Delivery struct {
	Header []Line
	Body   []byte
}

// Reading is one delivery under the channel that reads it. It never changes and does no I/O; whatever it derives it
// derives again from the same delivery, byte for byte.
type Reading struct {
	channel *Channel
	body    []byte
	header  map[string]string
	again   map[string]bool // the headers that stand more than once
	headers expr.Value
	value   expr.Value
	fault   error // why the body is no single value
}

// Read begins the reading of a delivery. It cannot fail: what is wrong with the body is the verdict of those who ask
// for a part of it.
func (ch *Channel) Read(delivery Delivery) *Reading {
	r := &Reading{channel: ch, body: delivery.Body}
	r.header, r.headers, r.again = joined(delivery.Header)
	r.fault = r.size()
	if r.fault == nil && ch.Components.Form != "lines" {
		r.value, r.fault = expr.Decode(r.body, int(ch.Limits.Depth))
	}
	return r
}

// joined gives a header by lower-case name, for us and for expressions; repeated lines are joined by ", ".
func joined(lines []Line) (map[string]string, expr.Value, map[string]bool) {
	header, values, again := map[string]string{}, map[string]expr.Value{}, map[string]bool{}
	for _, line := range lines {
		name := strings.ToLower(line.Name)
		if before, repeated := header[name]; repeated {
			line.Value, again[name] = before+", "+line.Value, true
		}
		header[name], values[name] = line.Value, expr.Text(line.Value)
	}
	return header, expr.Object(values), again
}

// ambiguous refuses a delivery of which a header stands twice that its key or its identity may be read from. The lines
// together would be another key than each, so that the very same delivery would be admitted, and applied, again.
func (r *Reading) ambiguous() error {
	for name := range r.again {
		if slices.Contains(r.channel.Identity, name) || r.channel.TransportKey.Names(name) {
			return facts.Refuse(facts.KeyNotCanonical, facts.OfInput("header "+name), "it stands more than once")
		}
	}
	return nil
}

func (r *Reading) size() error {
	if most := r.channel.Limits.BodyBytes; int64(len(r.body)) > most {
		return facts.Refuse(facts.BodyTooLarge, facts.OfInput("body"), "%d bytes, the channel takes %d", len(r.body), most)
	}
	return nil
}

// TransportKey is the key of the delivery, by which a redelivery is recognised. It is refused where the delivery does
// not carry it, or carries it twice: such a delivery cannot be admitted.
//
// Spec: Inbound facts (ReceiptAdmissionKey).
func (r *Reading) TransportKey() (facts.TransportKey, error) {
	if err := r.ambiguous(); err != nil {
		return facts.TransportKey{}, err
	}
	key, err := expr.EvalKey[facts.TransportKey](&r.channel.TransportKey, expr.Inputs{
		"headers": r.headers, "body": r.value, "body_digest": expr.Text(r.bodyDigest())}, r.channel.Limits.KeyBytes)
	if err != nil && r.fault != nil {
		return facts.TransportKey{}, r.fault
	}
	return key, err
}

func (r *Reading) bodyDigest() string {
	sum := sha256.Sum256(r.Admitted())
	return hex.EncodeToString(sum[:])
}

// Identity is the frozen identity headers that the delivery carries, in the order of their names (R18).
func (r *Reading) Identity() []Line {
	var lines []Line
	for _, name := range slices.Sorted(slices.Values(r.channel.Identity)) {
		if value, there := r.header[name]; there {
			lines = append(lines, Line{name, value})
		}
	}
	return lines
}

// Admitted is the bytes that a duplicate is compared by: the body, without the values of the channel's volatile
// members (R18). A body that is no JSON is compared whole. The Receipt keeps the body as it came.
func (r *Reading) Admitted() []byte {
	if len(r.channel.Volatile) == 0 || r.size() != nil {
		return r.body
	}
	var patterns [][]string
	for _, pointer := range r.channel.Volatile {
		patterns = append(patterns, slices.Collect(jsontext.Pointer(pointer).Tokens()))
	}
	cut := cutter{decoder: lenient(r.body)}
	if err := cut.value(patterns); err != nil {
		return r.body
	}
	var out []byte
	last := int64(0)
	for _, span := range cut.spans {
		out = append(out, r.body[last:span[0]]...)
		last = span[1]
	}
	return append(out, r.body[last:]...)
}

// lenient reads the structure of JSON only, so that one odd text does not hide the values beside it. What is read of
// such a value is decoded strictly.
func lenient(body []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// cutter finds the values of volatile members.
type cutter struct {
	decoder *jsontext.Decoder
	spans   [][2]int64
}

// value reads the next value; the patterns are what remains of the pointers that lead into it.
func (c *cutter) value(patterns [][]string) error {
	kind := c.decoder.PeekKind()
	if len(patterns) == 0 || kind != '{' && kind != '[' {
		return c.decoder.SkipValue()
	}
	if _, err := c.decoder.ReadToken(); err != nil {
		return err
	}
	end := map[jsontext.Kind]jsontext.Kind{'{': '}', '[': ']'}[kind]
	for c.decoder.PeekKind() != end {
		step := "*"
		if kind == '{' {
			name, err := c.decoder.ReadToken()
			if err != nil {
				return err
			}
			step = name.String()
		}
		var inside [][]string
		whole := false
		for _, pattern := range patterns {
			if pattern[0] == step {
				inside, whole = append(inside, pattern[1:]), whole || len(pattern) == 1
			}
		}
		if whole {
			inside = nil
		}
		start := c.decoder.InputOffset()
		if err := c.value(inside); err != nil {
			return err
		}
		if whole {
			c.spans = append(c.spans, [2]int64{start, c.decoder.InputOffset()})
		}
	}
	_, err := c.decoder.ReadToken()
	return err
}
