package owners

import (
	"fmt"
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/serving"

	"github.com/cockroachdb/errors"
)

// mostFaults bounds how many faults of a configuration are named at once.
const mostFaults = 20

// CheckConfiguration refuses a configuration that does not fit the Catalog view and the credential generations: a route
// or mapping that the view does not authorise, and in the relation from (account, credential reference) to a generation
// a missing, extra or repeated entry, or a generation of another identity, account or provider.
//
// A binding applies to an account if the account enables it as a route, or if it is of another kind and the account uses
// its pack. Each reference of each binding that applies must be mapped exactly once, and nothing else.
//
// It names every fault, up to twenty. Each is a GenerationMalformed.
func CheckConfiguration(c Configuration, v View, generations map[facts.CredentialGenerationID]CredentialGeneration) error {
	check := relation{authorised: map[string]bool{}, byPack: map[facts.PackName][]bindingRefs{}, generations: generations}
	for _, b := range v.Bindings {
		refs, err := DecodeRefs(b.CredentialRefs)
		if err != nil {
			return err
		}
		check.authorised[b.Kind.String()+tuple(b.OwnerPack, b.BusinessKey, b.Version)] = true
		check.byPack[b.OwnerPack] = append(check.byPack[b.OwnerPack], bindingRefs{b, refs})
	}
	for _, a := range c.Accounts {
		check.account(a)
	}
	if more := len(check.faults) - mostFaults; more > 0 {
		check.faults = append(check.faults[:mostFaults], errors.Newf("and %d more", more))
	}
	return errors.Join(check.faults...)
}

type bindingRefs struct {
	binding serving.BindingIdentity
	refs    []CredentialRef
}

type relation struct {
	authorised  map[string]bool
	byPack      map[facts.PackName][]bindingRefs
	generations map[facts.CredentialGenerationID]CredentialGeneration
	faults      []error
}

func (r *relation) fault(account facts.AccountID, about, detail string, args ...any) {
	where := fmt.Sprintf("configuration, account %s, %s", account, about)
	r.faults = append(r.faults, facts.Refuse(facts.GenerationMalformed, facts.OfInput(where), detail, args...))
}

func (r *relation) account(a AccountConfiguration) {
	enabled := map[string]bool{}
	packs := map[facts.PackName]bool{}
	for _, route := range a.Routes {
		enabled[tuple(route.Pack, route.Route, route.Version)] = true
		packs[route.Pack] = true
		if !r.authorised[serving.InboundRoute.String()+tuple(route.Pack, route.Route, route.Version)] {
			r.fault(a.Account, fmt.Sprintf("route %s %s of pack %s", route.Route, route.Version, route.Pack), "the Catalog view names no such definition")
		}
	}
	for _, m := range a.Mappings {
		packs[m.Pack] = true
		if !r.authorised[serving.FieldMapping.String()+tuple(m.Pack, m.Mapping, m.Version)] {
			r.fault(a.Account, fmt.Sprintf("mapping %s %s of pack %s", m.Mapping, m.Version, m.Pack), "the Catalog view names no such definition")
		}
	}
	needed := map[CredentialRef]serving.BindingIdentity{}
	for pack := range packs {
		for _, one := range r.byPack[pack] {
			b := one.binding
			if b.Kind != serving.InboundRoute || enabled[tuple(b.OwnerPack, b.BusinessKey, b.Version)] {
				for _, ref := range one.refs {
					needed[ref] = b
				}
			}
		}
	}
	r.credentials(a, needed)
}

func (r *relation) credentials(a AccountConfiguration, needed map[CredentialRef]serving.BindingIdentity) {
	mapped := map[CredentialRef]bool{}
	for _, m := range a.Credentials {
		about := "credential reference " + m.Ref.String()
		_, wanted := needed[m.Ref]
		switch {
		case mapped[m.Ref]:
			r.fault(a.Account, about, "it is mapped twice")
		case !wanted:
			r.fault(a.Account, about, "it is mapped, and no binding of the account needs it")
		default:
			r.generation(a, m, about)
		}
		mapped[m.Ref] = true
	}
	missing := []CredentialRef{}
	for ref := range needed {
		if !mapped[ref] {
			missing = append(missing, ref)
		}
	}
	slices.SortFunc(missing, compareRefs)
	for _, ref := range missing {
		r.fault(a.Account, "credential reference "+ref.String(), "it is not mapped, and %s needs it", bindingNoun(needed[ref]))
	}
}

func (r *relation) generation(a AccountConfiguration, m CredentialMapping, about string) {
	g, known := r.generations[m.Generation]
	switch {
	case !known:
		r.fault(a.Account, about, "its owner has no generation %s", m.Generation)
	case g.ID != m.Generation:
		r.fault(a.Account, about, "generation %s was answered by %s", m.Generation, g.ID)
	case g.Identity != m.Ref.Name:
		r.fault(a.Account, about, "generation %s is of the credential %s", m.Generation, g.Identity)
	case g.Account != a.Account:
		r.fault(a.Account, about, "generation %s is of the account %s", m.Generation, g.Account)
	case g.Provider != m.Ref.Provider:
		r.fault(a.Account, about, "generation %s is for %s", m.Generation, g.Provider)
	}
}
