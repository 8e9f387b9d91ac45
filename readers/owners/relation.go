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
	faults, err := ConfigurationFaults(c, v, generations)
	if err != nil {
		return err
	}
	var all []error
	for _, fault := range faults {
		all = append(all, fault)
	}
	if more := len(all) - mostFaults; more > 0 {
		all = append(all[:mostFaults], errors.Newf("and %d more", more))
	}
	return errors.Join(all...)
}

// Misfit is the kind of a ConfigurationFault.
type Misfit uint8

// The misfits.
const (
	Unauthorised    Misfit = iota // the view names no such route or mapping
	Unmapped                      // a binding needs the reference, and it is mapped to nothing
	Unneeded                      // the reference is mapped, and no binding of the account needs it
	Repeated                      // the reference is mapped twice
	WrongGeneration               // the generation is not there, or is of another credential, account or provider
)

// ConfigurationFault is one way in which an account does not fit the view or the credential generations. The route, the
// mapping or the reference that it is about is set, the others are zero.
type ConfigurationFault struct {
	Misfit  Misfit
	Account facts.AccountID
	Route   RouteRef
	Mapping MappingSelection
	Ref     CredentialRef
	What    string
}

// Error is the refusal's text.
func (f *ConfigurationFault) Error() string { return f.Unwrap().Error() }

// Unwrap is the fault as a refusal.
func (f *ConfigurationFault) Unwrap() error {
	return facts.Refuse(facts.GenerationMalformed, facts.OfInput(fmt.Sprintf("configuration, account %s, %s", f.Account, f.about())), "%s", f.What)
}

func (f *ConfigurationFault) about() string {
	switch {
	case !f.Route.Route.IsZero():
		return fmt.Sprintf("route %s %s of pack %s", f.Route.Route, f.Route.Version, f.Route.Pack)
	case !f.Mapping.Mapping.IsZero():
		return fmt.Sprintf("mapping %s %s of pack %s", f.Mapping.Mapping, f.Mapping.Version, f.Mapping.Pack)
	}
	return "credential reference " + f.Ref.String()
}

// ConfigurationFaults gives every fault that CheckConfiguration refuses, for whoever knows where its cause stands. The
// error says that the view cannot be read.
func ConfigurationFaults(c Configuration, v View, generations map[facts.CredentialGenerationID]CredentialGeneration) ([]*ConfigurationFault, error) {
	check := relation{authorised: map[string]bool{}, byPack: map[facts.PackName][]bindingRefs{}, generations: generations}
	for _, b := range v.Bindings {
		refs, err := DecodeRefs(b.CredentialRefs)
		if err != nil {
			return nil, err
		}
		check.authorised[b.Kind.String()+tuple(b.OwnerPack, b.BusinessKey, b.Version)] = true
		check.byPack[b.OwnerPack] = append(check.byPack[b.OwnerPack], bindingRefs{b, refs})
	}
	for _, a := range c.Accounts {
		check.account(a)
	}
	return check.faults, nil
}

type bindingRefs struct {
	binding serving.BindingIdentity
	refs    []CredentialRef
}

type relation struct {
	authorised  map[string]bool
	byPack      map[facts.PackName][]bindingRefs
	generations map[facts.CredentialGenerationID]CredentialGeneration
	faults      []*ConfigurationFault
}

func (r *relation) reference(misfit Misfit, account facts.AccountID, ref CredentialRef, what string, args ...any) {
	r.faults = append(r.faults, &ConfigurationFault{Misfit: misfit, Account: account, Ref: ref, What: fmt.Sprintf(what, args...)})
}

const unauthorised = "the Catalog view names no such definition"

func (r *relation) account(a AccountConfiguration) {
	enabled := map[string]bool{}
	packs := map[facts.PackName]bool{}
	for _, route := range a.Routes {
		enabled[tuple(route.Pack, route.Route, route.Version)] = true
		packs[route.Pack] = true
		if !r.authorised[serving.InboundRoute.String()+tuple(route.Pack, route.Route, route.Version)] {
			r.faults = append(r.faults, &ConfigurationFault{Account: a.Account, Route: route, What: unauthorised})
		}
	}
	for _, m := range a.Mappings {
		packs[m.Pack] = true
		if !r.authorised[serving.FieldMapping.String()+tuple(m.Pack, m.Mapping, m.Version)] {
			r.faults = append(r.faults, &ConfigurationFault{Account: a.Account, Mapping: m, What: unauthorised})
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
		_, wanted := needed[m.Ref]
		switch {
		case mapped[m.Ref]:
			r.reference(Repeated, a.Account, m.Ref, "it is mapped twice")
		case !wanted:
			r.reference(Unneeded, a.Account, m.Ref, "it is mapped, and no binding of the account needs it")
		default:
			r.generation(a, m)
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
		r.reference(Unmapped, a.Account, ref, "it is not mapped, and %s needs it", bindingNoun(needed[ref]))
	}
}

func (r *relation) generation(a AccountConfiguration, m CredentialMapping) {
	g, known := r.generations[m.Generation]
	switch {
	case !known:
		r.reference(WrongGeneration, a.Account, m.Ref, "its owner has no generation %s", m.Generation)
	case g.ID != m.Generation:
		r.reference(WrongGeneration, a.Account, m.Ref, "generation %s was answered by %s", m.Generation, g.ID)
	case g.Identity != m.Ref.Name:
		r.reference(WrongGeneration, a.Account, m.Ref, "generation %s is of the credential %s", m.Generation, g.Identity)
	case g.Account != a.Account:
		r.reference(WrongGeneration, a.Account, m.Ref, "generation %s is of the account %s", m.Generation, g.Account)
	case g.Provider != m.Ref.Provider:
		r.reference(WrongGeneration, a.Account, m.Ref, "generation %s is for %s", m.Generation, g.Provider)
	}
}
