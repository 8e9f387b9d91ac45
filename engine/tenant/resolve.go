package tenant

import (
	"context"
	"fmt"
	"slices"

	"connectorcore/engine/pack/form"
	"connectorcore/engine/platform"
	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/readers/owners"
)

// Resolve holds a file against what stands at the owners and makes the configuration that it means: where the file says
// current, the generation that is current now. It writes nothing.
//
// What the view does not name, and what does not fit between the accounts' credential references and the generations,
// is a form.Faults with every fault, each with its line.
func (f *File) Resolve(ctx context.Context, at *platform.Owners) (owners.Configuration, error) {
	c := f.configuration()
	view, err := at.View(ctx)
	if err != nil {
		return c, err
	}
	var lines []platform.CredentialLine
	for _, a := range c.Accounts {
		for _, m := range a.Credentials {
			if m.Generation.IsZero() {
				lines = append(lines, platform.CredentialLine{Account: a.Account, Provider: m.Ref.Provider, Identity: m.Ref.Name})
			}
		}
	}
	current, err := at.CurrentCredentials(ctx, lines)
	if err != nil {
		return c, err
	}
	without := map[platform.CredentialLine]bool{}
	for _, a := range c.Accounts {
		for i, m := range a.Credentials {
			line := platform.CredentialLine{Account: a.Account, Provider: m.Ref.Provider, Identity: m.Ref.Name}
			switch found, has := current[line]; {
			case !m.Generation.IsZero():
			case has:
				a.Credentials[i].Generation = found.ID
			default:
				without[line] = true
			}
		}
	}
	generations, err := at.Credentials(ctx, mapped(c))
	if err != nil {
		return c, err
	}
	faults, err := owners.ConfigurationFaults(c, view, generations)
	if err != nil {
		return c, err
	}
	return c, f.report(view, faults, without)
}

// mapped are the generations that the configuration maps, each once.
func mapped(c owners.Configuration) []facts.CredentialGenerationID {
	return slices.DeleteFunc(c.Generations(), facts.CredentialGenerationID.IsZero)
}

// report places each fault in the file.
func (f *File) report(view owners.View, faults []*owners.ConfigurationFault, without map[platform.CredentialLine]bool) error {
	report := &form.Report{}
	accounts := map[facts.AccountID]int{}
	for i, a := range f.form.Accounts {
		accounts[a.Account] = i
	}
	follows := map[facts.AccountID]bool{} // accounts whose credentials are judged once their routes are right
	for _, fault := range faults {
		follows[fault.Account] = follows[fault.Account] || fault.Misfit == owners.Unauthorised
	}
	for _, fault := range faults {
		if fault.Misfit == owners.Unneeded && follows[fault.Account] {
			continue
		}
		what := fault.What
		if fault.Misfit == owners.WrongGeneration && without[platform.CredentialLine{Account: fault.Account, Provider: fault.Ref.Provider, Identity: fault.Ref.Name}] {
			what = "it has no current generation"
		}
		path := f.path(accounts[fault.Account], fault)
		report.Add(f.places.Of(path), path, about(fault)+what, hint(view, fault))
	}
	return report.Err()
}

// path is where the fault's cause is written: its item, or the account that lacks one.
func (f *File) path(account int, fault *owners.ConfigurationFault) string {
	a := f.form.Accounts[account]
	list, at := "", -1
	switch {
	case !fault.Route.Route.IsZero():
		list, at = "routes", slices.IndexFunc(a.Routes, func(r routeForm) bool { return owners.RouteRef(r) == fault.Route })
	case !fault.Mapping.Mapping.IsZero():
		list, at = "mappings", slices.IndexFunc(a.Mappings, func(m mappingForm) bool {
			return m.Pack == fault.Mapping.Pack && m.Mapping == fault.Mapping.Mapping && m.Version == fault.Mapping.Version
		})
	case fault.Misfit != owners.Unmapped:
		list, at = "credentials", slices.IndexFunc(a.Credentials, func(c credentialForm) bool { return c.ref() == fault.Ref })
	case a.Credentials != nil:
		return fmt.Sprintf("accounts[%d].credentials", account)
	}
	if at < 0 {
		return fmt.Sprintf("accounts[%d]", account)
	}
	return fmt.Sprintf("accounts[%d].%s[%d]", account, list, at)
}

func about(fault *owners.ConfigurationFault) string {
	switch {
	case !fault.Route.Route.IsZero():
		return fmt.Sprintf("route %s %s of pack %s: ", fault.Route.Route, fault.Route.Version, fault.Route.Pack)
	case !fault.Mapping.Mapping.IsZero():
		return fmt.Sprintf("mapping %s %s of pack %s: ", fault.Mapping.Mapping, fault.Mapping.Version, fault.Mapping.Pack)
	}
	return fmt.Sprintf("credential %s of account %s: ", fault.Ref, fault.Account)
}

// hint is what a person does about a fault.
func hint(view owners.View, fault *owners.ConfigurationFault) string {
	switch fault.Misfit {
	case owners.Unmapped:
		return "publish it with 'connector credential publish', and write it here"
	case owners.Unneeded:
		return "delete the entry"
	case owners.WrongGeneration:
		return "map one of this account and credential: 'connector credential list' shows them, 'connector credential publish' brings one"
	}
	kind, pack, word := serving.InboundRoute, fault.Route.Pack, fault.Route.Route.String()+" "+fault.Route.Version.String()
	if !fault.Mapping.Mapping.IsZero() {
		kind, pack, word = serving.FieldMapping, fault.Mapping.Pack, fault.Mapping.Mapping.String()+" "+fault.Mapping.Version.String()
	}
	var known []string
	for _, b := range view.Bindings {
		if b.Kind == kind && b.OwnerPack == pack {
			known = append(known, b.BusinessKey.String()+" "+b.Version.String())
		}
	}
	if known == nil {
		return "'connector catalog show' prints what is authorised, and 'connector catalog authorise' changes it"
	}
	return form.Among(word, known)
}
