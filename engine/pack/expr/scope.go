package expr

import (
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
	"github.com/cockroachdb/errors"
)

// Scope is which variables an expression may read. There are no others: no environment, no clock, no random number.
type Scope string

// The scopes, from the door to the answer of a provider.
const (
	Constant  Scope = "constant"  // nothing
	Request   Scope = "request"   // headers, body, body_digest
	Component Scope = "component" // headers, body, component, ordinal
	Event     Scope = "event"     // event.kind, event.key, event.locator, payload
	Members   Scope = "members"   // the same of the last member, and members: all of a window
	Intent    Scope = "intent"    // intent, effect.key, effect.owner_slot
	Response  Scope = "response"  // the same, and status, headers, body
)

type variable struct {
	name string
	kind *cel.Type
}

var (
	headersAndBody = []variable{{"headers", cel.DynType}, {"body", cel.DynType}}
	ofEvent        = []variable{{"event.kind", cel.StringType}, {"event.key", cel.StringType},
		{"event.locator", cel.StringType}, {"payload", cel.DynType}}
	ofIntent = []variable{{"intent", cel.DynType}, {"effect.key", cel.StringType}, {"effect.owner_slot", cel.StringType}}
)

var scopes = map[Scope][]variable{
	Constant:  {},
	Request:   append(slices.Clone(headersAndBody), variable{"body_digest", cel.StringType}),
	Component: append(slices.Clone(headersAndBody), variable{"component", cel.DynType}, variable{"ordinal", cel.IntType}),
	Event:     ofEvent,
	Members:   append(slices.Clone(ofEvent), variable{"members", cel.ListType(cel.DynType)}),
	Intent:    ofIntent,
	Response:  append(append(slices.Clone(ofIntent), headersAndBody...), variable{"status", cel.IntType}),
}

// Variables lists a scope's names.
func (s Scope) Variables() []string {
	var all []string
	for _, v := range scopes[s] {
		all = append(all, v.name)
	}
	return all
}

// Scopes lists all scopes in their order.
func Scopes() []Scope { return []Scope{Constant, Request, Component, Event, Members, Intent, Response} }

// withheld are the standard functions that packs do not have: those that make inexact numbers or times of CEL's own
// kind, and those that hide a value's type from the checks of this package.
var withheld = []string{"double", "int", "uint", "bytes", "bool", "timestamp", "duration", "dyn", "type",
	"getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getHours", "getMilliseconds",
	"getMinutes", "getMonth", "getSeconds"}

// Sizes of an expression's source.
const (
	sourceMaxBytes = 8 << 10
	nestingMax     = 64
)

var environments = sync.OnceValues(func() (map[Scope]*cel.Env, error) {
	subset := env.NewLibrarySubset()
	for _, name := range withheld {
		subset.AddExcludedFunctions(env.NewFunction(name))
	}
	base, err := cel.NewCustomEnv(append([]cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(subset)),
		cel.EagerlyValidateDeclarations(true),
		cel.ParserRecursionLimit(nestingMax),
		cel.ParserExpressionSizeLimit(sourceMaxBytes),
		cel.RegexProgramSizeLimit(1000),
	}, packFunctions...)...)
	if err != nil {
		return nil, errors.Wrap(err, "the environment of expressions")
	}
	made := map[Scope]*cel.Env{}
	for scope, variables := range scopes {
		var options []cel.EnvOption
		for _, v := range variables {
			options = append(options, cel.Variable(v.name, v.kind))
		}
		if made[scope], err = base.Extend(options...); err != nil {
			return nil, errors.Wrapf(err, "the environment of expressions in the scope %s", scope)
		}
	}
	return made, nil
})

func (s Scope) describe() string {
	if names := s.Variables(); len(names) > 0 {
		return "an expression may read here " + strings.Join(names, ", ")
	}
	return "an expression reads no variable here"
}
