package tenant

import (
	"fmt"
	"slices"

	"connectorcore/engine/pack/form"
	"connectorcore/facts"
	"connectorcore/readers/owners"

	"github.com/cockroachdb/errors"
)

// fileForm is the whole of a tenant's file.
type fileForm struct {
	Accounts []accountForm `pack:"accounts,required,max=100000"`
	Policies []settingForm `pack:"policies,max=1000"`
	Limits   limitsForm    `pack:"limits"`
}

type accountForm struct {
	Account      facts.AccountID      `pack:"id,required"`
	Provider     facts.ProviderScope  `pack:"provider,required"`
	Organization facts.RemoteIdentity `pack:"organization,required"`
	Routes       []routeForm          `pack:"routes,max=1000"`
	Mappings     []mappingForm        `pack:"mappings,max=1000"`
	Policies     []settingForm        `pack:"policies,max=1000"`
	Credentials  []credentialForm     `pack:"credentials,max=1000"`
}

type routeForm struct {
	Pack    facts.PackName          `pack:"pack,required"`
	Route   facts.DefinitionID      `pack:"route,required"`
	Version facts.DefinitionVersion `pack:"version,required"`
}

type mappingForm struct {
	Pack     facts.PackName          `pack:"pack,required"`
	Mapping  facts.DefinitionID      `pack:"mapping,required"`
	Version  facts.DefinitionVersion `pack:"version,required"`
	Override string                  `pack:"override"`
}

type credentialForm struct {
	Name       facts.CredentialIdentity `pack:"name,required"`
	Provider   facts.ProviderScope      `pack:"provider,required"`
	Generation generation               `pack:"generation,default=current"`
}

func (c credentialForm) ref() owners.CredentialRef {
	return owners.CredentialRef{Name: c.Name, Provider: c.Provider}
}

type settingForm struct {
	Name  facts.DefinitionID `pack:"name,required"`
	Value string             `pack:"value,required"`
}

// limitsForm is owners.Limits. What is left out is as in owners.DefaultLimits.
type limitsForm struct {
	BodyMaxBytes        int64 `pack:"body_max_bytes,default=4194304,min=1"`
	DepthMax            int64 `pack:"depth_max,default=64,min=1"`
	ComponentsMax       int64 `pack:"components_max,default=1000,min=1"`
	EffectsPerBatchMax  int64 `pack:"effects_per_batch_max,default=64,min=1"`
	RecordsPerWindowMax int64 `pack:"records_per_window_max,default=1000,min=1"`
}

// currentWord stands for the generation that is current when the file is published.
const currentWord = "current"

// generation is an exact credential generation, or zero for the current one.
type generation struct{ id facts.CredentialGenerationID }

// UnmarshalText reads an id or the word for the current one.
func (g *generation) UnmarshalText(text []byte) error {
	if string(text) == currentWord {
		*g = generation{}
		return nil
	}
	if err := g.id.UnmarshalText(text); err != nil {
		return errors.Newf("want %s, or the id of a generation, 36 characters in lower case", currentWord)
	}
	return nil
}

// File is a tenant's file that is sound in itself. Whether it fits the owners is asked by Resolve.
type File struct {
	form   fileForm
	places form.Places
}

var document = form.Document{Noun: "a tenant's file", MaxMiB: 16, TooLarge: "a configuration generation has at most 4 MiB",
	Second: "one tenant has one configuration", Empty: "'connector tenant template' prints one to begin with"}

// Read reads a tenant's file. The name is how its faults call it. An error is a form.Faults with every fault, each with
// its line.
func Read(name string, raw []byte) (*File, error) {
	report := &form.Report{}
	f := &File{}
	node := document.Read(name, raw, report)
	if node == nil {
		return nil, report.Err()
	}
	f.places = form.Decode(node, &f.form, report)
	f.uniques(report)
	return f, report.Err()
}

// uniques reports what stands twice.
func (f *File) uniques(report *form.Report) {
	twice(report, f.places, "accounts", f.form.Accounts, func(a accountForm) string { return "account " + a.Account.String() })
	twice(report, f.places, "policies", f.form.Policies, settingForm.noun)
	for i, a := range f.form.Accounts {
		at := fmt.Sprintf("accounts[%d].", i)
		twice(report, f.places, at+"routes", a.Routes, func(r routeForm) string {
			return fmt.Sprintf("route %s of pack %s, version %s", r.Route, r.Pack, r.Version)
		})
		twice(report, f.places, at+"mappings", a.Mappings, func(m mappingForm) string {
			return fmt.Sprintf("mapping %s of pack %s, version %s", m.Mapping, m.Pack, m.Version)
		})
		twice(report, f.places, at+"policies", a.Policies, settingForm.noun)
		twice(report, f.places, at+"credentials", a.Credentials, func(c credentialForm) string { return "credential " + c.ref().String() })
	}
}

func (s settingForm) noun() string { return "policy " + s.Name.String() }

func twice[T any](report *form.Report, places form.Places, list string, items []T, noun func(T) string) {
	first := map[string]int{}
	for i, item := range items {
		name := noun(item)
		before, known := first[name]
		if !known {
			first[name] = i
			continue
		}
		path := fmt.Sprintf("%s[%d]", list, i)
		report.Add(places.Of(path), path, "the "+name+" stands twice", fmt.Sprintf("line %d has it already; delete one of the two", places.Of(fmt.Sprintf("%s[%d]", list, before)).Line))
	}
}

// configuration is what the file says, in the owners' order. A credential that stands for the current generation has
// none yet.
func (f *File) configuration() owners.Configuration {
	limits := f.form.Limits
	c := owners.Configuration{Policies: settings(f.form.Policies), Limits: owners.Limits{
		BodyMaxBytes: uint64(limits.BodyMaxBytes), DepthMax: uint64(limits.DepthMax), ComponentsMax: uint64(limits.ComponentsMax),
		EffectsPerBatchMax: uint64(limits.EffectsPerBatchMax), RecordsPerWindowMax: uint64(limits.RecordsPerWindowMax)}}
	for _, a := range f.form.Accounts {
		account := owners.AccountConfiguration{Account: a.Account, Provider: a.Provider, Organization: a.Organization, Policies: settings(a.Policies)}
		for _, r := range a.Routes {
			account.Routes = append(account.Routes, owners.RouteRef(r))
		}
		for _, m := range a.Mappings {
			account.Mappings = append(account.Mappings, owners.MappingSelection{Pack: m.Pack, Mapping: m.Mapping, Version: m.Version, Override: []byte(m.Override)})
		}
		for _, one := range a.Credentials {
			account.Credentials = append(account.Credentials, owners.CredentialMapping{Ref: one.ref(), Generation: one.Generation.id})
		}
		c.Accounts = append(c.Accounts, account)
	}
	return inOrder(c)
}

func settings(forms []settingForm) []owners.Setting {
	var all []owners.Setting
	for _, s := range forms {
		all = append(all, owners.Setting(s))
	}
	slices.SortFunc(all, func(a, b owners.Setting) int { return a.Name.Compare(b.Name) })
	return all
}

// inOrder sorts what a generation holds in a fixed order. Within a pack, definitions are ordered by name and version.
func inOrder(c owners.Configuration) owners.Configuration {
	slices.SortFunc(c.Accounts, func(a, b owners.AccountConfiguration) int { return a.Account.Compare(b.Account) })
	for _, a := range c.Accounts {
		slices.SortFunc(a.Routes, func(x, y owners.RouteRef) int {
			return firstOf(x.Pack.Compare(y.Pack), x.Route.Compare(y.Route), x.Version.Compare(y.Version))
		})
		slices.SortFunc(a.Mappings, func(x, y owners.MappingSelection) int {
			return firstOf(x.Pack.Compare(y.Pack), x.Mapping.Compare(y.Mapping), x.Version.Compare(y.Version))
		})
		slices.SortFunc(a.Credentials, func(x, y owners.CredentialMapping) int {
			return firstOf(x.Ref.Name.Compare(y.Ref.Name), x.Ref.Provider.Compare(y.Ref.Provider))
		})
	}
	return c
}

func firstOf(orders ...int) int {
	for _, by := range orders {
		if by != 0 {
			return by
		}
	}
	return 0
}
