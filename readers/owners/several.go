package owners

import (
	"context"
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/serving"
)

// SeveralDefinitions is a Definitions that answers many questions at once, each as Definition would.
type SeveralDefinitions interface {
	SeveralDefinitions(ctx context.Context, scope serving.Scope, identities []serving.BindingIdentity) []Answer[Exact]
}

// SeveralCredentials is a Credentials that answers many questions at once, each as Credential would.
type SeveralCredentials interface {
	SeveralCredentials(ctx context.Context, scope serving.Scope, generations []facts.CredentialGenerationID) []Answer[Exact]
}

// together is how many questions are asked at once of an owner that takes several.
const together = 256

// answers are what the owners say to every question of a reading, by the places of the questions.
type answers struct {
	definitions []Answer[Exact]
	credentials []Answer[Exact]
}

// askAll asks for every definition and credential generation: many at once where the owner takes that, some at a time
// where it does not.
func askAll(ctx context.Context, set Set, scope serving.Scope, bindings []serving.BindingIdentity, generations []facts.CredentialGenerationID) answers {
	a := answers{make([]Answer[Exact], len(bindings)), make([]Answer[Exact], len(generations))}
	var tasks []func()
	for _, kind := range serving.BindingKinds() {
		var places []int
		for i, b := range bindings {
			if b.Kind == kind {
				places = append(places, i)
			}
		}
		owner := set.Definitions(kind)
		tasks = append(tasks, asking(a.definitions, places,
			func(i int) Answer[Exact] { return owner.Definition(ctx, scope, bindings[i]) },
			several(owner, func(many SeveralDefinitions, chunk []int) []Answer[Exact] {
				return many.SeveralDefinitions(ctx, scope, at(bindings, chunk))
			}))...)
	}
	places := make([]int, len(generations))
	for i := range places {
		places[i] = i
	}
	tasks = append(tasks, asking(a.credentials, places,
		func(i int) Answer[Exact] { return set.Credentials.Credential(ctx, scope, generations[i]) },
		several(set.Credentials, func(many SeveralCredentials, chunk []int) []Answer[Exact] {
			return many.SeveralCredentials(ctx, scope, at(generations, chunk))
		}))...)
	first(len(tasks), func(i int) Fault { tasks[i](); return Fault{} })
	return a
}

// several is how an owner is asked many questions, nil if it takes one at a time.
func several[M, O any](owner O, ask func(M, []int) []Answer[Exact]) func([]int) []Answer[Exact] {
	many, takes := any(owner).(M)
	if !takes {
		return nil
	}
	return func(chunk []int) []Answer[Exact] { return ask(many, chunk) }
}

// asking are the tasks that fill in the answers in these places. An owner that answers another number of questions than it
// was asked has answered none.
func asking(into []Answer[Exact], places []int, one func(int) Answer[Exact], many func([]int) []Answer[Exact]) []func() {
	var tasks []func()
	if many == nil {
		for _, i := range places {
			tasks = append(tasks, func() { into[i] = one(i) })
		}
		return tasks
	}
	for chunk := range slices.Chunk(places, together) {
		tasks = append(tasks, func() {
			said := many(chunk)
			for i, place := range chunk {
				if len(said) == len(chunk) {
					into[place] = said[i]
				}
			}
		})
	}
	return tasks
}

func at[T any](all []T, places []int) []T {
	some := make([]T, len(places))
	for i, place := range places {
		some[i] = all[place]
	}
	return some
}
