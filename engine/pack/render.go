package pack

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json/jsontext"

	"connectorcore/engine/pack/expr"
	"connectorcore/facts"
)

// Intent is what the application asks for, and which effect it is.
type Intent struct {
	Body      []byte // a JSON value of the application
	Key       facts.IdempotencyKey
	OwnerSlot facts.OwnerSlot
}

// Rendered is a request before a secret and an origin's stand-in are put in. The same intent gives the same bytes in
// every run, so that each attempt of an effect sends the same request.
type Rendered struct {
	Method string
	Origin string
	Target string // path and query
	Header []Line // lower-case names, sorted
	Body   []byte
}

// intentDepth bounds what an application may hand over, in levels.
const intentDepth = 64

func (i Intent) inputs() (expr.Inputs, error) {
	value, err := expr.Decode(i.Body, intentDepth)
	if err != nil {
		return nil, err
	}
	return expr.Inputs{"intent": value, "effect.key": expr.Text(i.Key.String()), "effect.owner_slot": expr.Text(i.OwnerSlot.String())}, nil
}

// Render makes the request of an effect. It is refused where an expression fails, a hole of the path stays empty or
// would name another resource, or a header would not be one line.
func (p *Push) Render(callout *Callout, intent Intent) (Rendered, error) {
	in, err := intent.inputs()
	if err != nil {
		return Rendered{}, err
	}
	made, err := callout.render(p.Request.Path, p.Request.Query, in)
	if err != nil {
		return Rendered{}, err
	}
	for i := range p.Request.Headers {
		filler := &p.Request.Headers[i]
		text, err := filler.Value.Text(in)
		if err != nil {
			return Rendered{}, err
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			return Rendered{}, unusable("header " + filler.Name)
		}
		made.set(filler.Name, text)
	}
	switch p.Idempotency.Form {
	case "raw":
		made.set(p.Idempotency.Header, intent.Key.String())
	case "structured":
		made.set(p.Idempotency.Header, `"`+intent.Key.String()+`"`)
	}
	if p.Request.Form == "none" {
		return made, nil
	}
	made.Body, err = p.Request.Body.JSON(in)
	made.set("content-type", "application/json")
	if err == nil && p.Request.Form == "form" {
		made.Body, err = formBody(made.Body)
		made.set("content-type", "application/x-www-form-urlencoded")
	}
	return made, err
}

// Query makes the request that asks what became of an effect.
func (p *Push) Query(callout *Callout, intent Intent) (Rendered, error) {
	if p.Reconcile == nil {
		return Rendered{}, errors.AssertionFailedf("the push contract %s has no reconciliation", p.Name)
	}
	in, err := intent.inputs()
	if err != nil {
		return Rendered{}, err
	}
	return callout.render(p.Reconcile.Path, p.Reconcile.Query, in)
}

// Order is the key of which one effect after another is made (R25).
func (p *Push) Order(intent Intent) (facts.GroupingKey, error) {
	in, err := intent.inputs()
	if err != nil {
		return facts.GroupingKey{}, err
	}
	return expr.EvalKey[facts.GroupingKey](&p.OrderKey, in, facts.KeyMaxBytes)
}

func (co *Callout) render(path, query []Filler, in expr.Inputs) (Rendered, error) {
	made := Rendered{Method: co.Method, Origin: co.Origin}
	for _, header := range co.Headers {
		made.set(header.Name, header.Value)
	}
	values := map[string]string{}
	for i := range path {
		text, err := path[i].Value.Text(in)
		if err != nil {
			return Rendered{}, err
		}
		values[path[i].Name] = text
	}
	target, ok := co.path.fillPath(values)
	if !ok {
		return Rendered{}, unusable("path")
	}
	made.Target = target
	for i := range query {
		text, err := query[i].Value.Text(in)
		if err != nil {
			return Rendered{}, err
		}
		separator := "&"
		if i == 0 {
			separator = "?"
		}
		made.Target += separator + url.QueryEscape(query[i].Name) + "=" + url.QueryEscape(text)
	}
	return made, nil
}

func unusable(where string) error {
	return facts.Refuse(facts.ExpressionTypeDiffers, facts.OfInput(where), "the value cannot stand there")
}

// set puts a header line where its name belongs; the request template's line replaces the callout's.
func (r *Rendered) set(name, value string) {
	at, there := slices.BinarySearchFunc(r.Header, name, func(line Line, name string) int { return strings.Compare(line.Name, name) })
	if there {
		r.Header[at].Value = value
		return
	}
	r.Header = slices.Insert(r.Header, at, Line{name, value})
}

// formBody writes an object of single values as a form, in the order of the object, which is that of its names.
func formBody(object []byte) ([]byte, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(object))
	var out []byte
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			return out, nil // the end: what an expression wrote is whole
		}
		kind, count := decoder.StackIndex(decoder.StackDepth())
		switch {
		case decoder.StackDepth() > 1 || decoder.StackDepth() == 0 && token.Kind() != '}' || token.Kind() == 'n' || token.Kind() == '[':
			return nil, unusable("request.body")
		case kind != '{' || count == 0 || token.Kind() == '{':
		case count%2 == 1:
			if len(out) > 0 {
				out = append(out, '&')
			}
			out = append(out, url.QueryEscape(token.String())+"="...)
		default:
			out = append(out, url.QueryEscape(token.String())...)
		}
	}
}
