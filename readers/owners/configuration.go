package owners

import (
	"fmt"
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/serving"
)

// Configuration is one generation of the tenant's configuration: the exhaustive, ordered set of accounts, and for each
// account everything that the tenant decides.
//
// Spec: Existing foundations and schema ownership (ConnectorServiceConfigurationGeneration).
type Configuration struct {
	Accounts []AccountConfiguration // ascending by account
	Policies []Setting              // of the whole service
	Limits   Limits
}

// AccountConfiguration is what the tenant decides for one account.
type AccountConfiguration struct {
	Account      facts.AccountID      `json:"account"`
	Provider     facts.ProviderScope  `json:"provider"`
	Organization facts.RemoteIdentity `json:"organization"` // the account's own name at its provider
	Routes       []RouteRef           `json:"routes"`       // enabled; ascending by pack, route, version
	Mappings     []MappingSelection   `json:"mappings"`     // ascending by pack, mapping, version
	Policies     []Setting            `json:"policies"`
	Credentials  []CredentialMapping  `json:"credentials"` // ascending by reference
}

// RouteRef is an inbound route that an account enables.
type RouteRef struct {
	Pack    facts.PackName          `json:"pack"`
	Route   facts.DefinitionID      `json:"route"`
	Version facts.DefinitionVersion `json:"version"`
}

// MappingSelection is a field mapping that an account selects, with the tenant's override of it.
type MappingSelection struct {
	Pack     facts.PackName          `json:"pack"`
	Mapping  facts.DefinitionID      `json:"mapping"`
	Version  facts.DefinitionVersion `json:"version"`
	Override []byte                  `json:"override"` // opaque; empty is none
}

// CredentialMapping says which generation stands for a binding's credential reference in an account.
type CredentialMapping struct {
	Ref        CredentialRef                `json:"ref"`
	Generation facts.CredentialGenerationID `json:"generation"`
}

// Limits bound what one Receipt and one batch may be. They are frozen with the generation.
type Limits struct {
	BodyMaxBytes        uint64 `json:"body_max_bytes"`
	DepthMax            uint64 `json:"depth_max"`
	ComponentsMax       uint64 `json:"components_max"`
	EffectsPerBatchMax  uint64 `json:"effects_per_batch_max"`
	RecordsPerWindowMax uint64 `json:"records_per_window_max"`
}

// DefaultLimits are those of a tenant that says nothing else.
func DefaultLimits() Limits {
	return Limits{BodyMaxBytes: 4 << 20, DepthMax: 64, ComponentsMax: 1000, EffectsPerBatchMax: 64, RecordsPerWindowMax: 1000}
}

type configurationForm struct {
	Accounts []AccountConfiguration `json:"accounts"`
	Policies []Setting              `json:"policies"`
	Limits   Limits                 `json:"limits"`
}

// form is the configuration with every empty list written as one.
func (c Configuration) form() configurationForm {
	accounts := slices.Clone(listed(c.Accounts))
	for i := range accounts {
		a := &accounts[i]
		a.Routes, a.Mappings, a.Policies, a.Credentials = listed(a.Routes), slices.Clone(listed(a.Mappings)), listed(a.Policies), listed(a.Credentials)
		for j := range a.Mappings {
			a.Mappings[j].Override = listed(a.Mappings[j].Override)
		}
	}
	return configurationForm{accounts, listed(c.Policies), c.Limits}
}

// Generations are the credential generations that the configuration references, each once, in ascending order.
func (c Configuration) Generations() []facts.CredentialGenerationID {
	var all []facts.CredentialGenerationID
	for _, a := range c.Accounts {
		for _, m := range a.Credentials {
			all = append(all, m.Generation)
		}
	}
	slices.SortFunc(all, facts.CredentialGenerationID.Compare)
	return slices.Compact(all)
}

// AccountIDs are the accounts, in ascending order.
func (c Configuration) AccountIDs() []facts.AccountID {
	all := make([]facts.AccountID, len(c.Accounts))
	for i, a := range c.Accounts {
		all[i] = a.Account
	}
	return all
}

// SealConfiguration makes the generation of a configuration. Its id is derived from its content, so that the same
// configuration is the same generation, whoever publishes it.
//
// Refuses: GenerationMalformed (something twice or out of order; what its parts refer to is CheckConfiguration's).
func SealConfiguration(scope serving.Scope, c Configuration) (facts.ServiceConfigurationGeneration, Exact, error) {
	var none facts.ServiceConfigurationGeneration
	if err := c.ordered(); err != nil {
		return none, Exact{}, err
	}
	raw, err := encode(c.form())
	if err != nil {
		return none, Exact{}, err
	}
	id, err := facts.ParseKey[facts.ServiceConfigurationGeneration]("configuration-" + Sum(ConfigurationProtocol, raw).String())
	if err != nil {
		return none, Exact{}, err
	}
	name, err := ConfigurationName(id)
	if err != nil {
		return none, Exact{}, err
	}
	e, err := seal(serving.Configuration, scope, name, ConfigurationProtocol, raw, nil)
	return id, e, err
}

// ConfigurationName is the name of a generation at the configuration owner.
func ConfigurationName(id facts.ServiceConfigurationGeneration) (serving.Name, error) {
	return facts.ParseKey[serving.Name](id.String())
}

// OpenConfiguration takes the configuration owner's answer apart and checks all of it.
//
// Refuses: GenerationMalformed.
func OpenConfiguration(scope serving.Scope, e Exact) (Configuration, error) {
	form, err := decode[configurationForm](e.Canonical.Bytes(), "configuration generation")
	if err != nil {
		return Configuration{}, err
	}
	c := Configuration(form)
	_, want, err := SealConfiguration(scope, c)
	if err != nil {
		return Configuration{}, err
	}
	return c, same(e, want, "configuration generation")
}

// ordered refuses what stands twice or out of order. A reference that stands twice is the one thing that it leaves to
// CheckConfiguration, which can say so beside the other faults of the relation.
func (c Configuration) ordered() error {
	if err := checkSettings(c.Policies, "configuration"); err != nil {
		return err
	}
	if c.Limits.BodyMaxBytes == 0 || c.Limits.DepthMax == 0 || c.Limits.ComponentsMax == 0 || c.Limits.EffectsPerBatchMax == 0 || c.Limits.RecordsPerWindowMax == 0 {
		return facts.Refuse(facts.GenerationMalformed, facts.OfInput("configuration, limits"), "a limit is zero; state each of them")
	}
	for i, a := range c.Accounts {
		noun := "account " + a.Account.String()
		fault := ""
		switch {
		case i > 0 && c.Accounts[i-1].Account.Compare(a.Account) >= 0:
			fault = "it stands twice or out of order"
		case a.Account.IsZero():
			fault = "it has no id"
		case slices.ContainsFunc(a.Credentials, func(m CredentialMapping) bool { return m.Generation.IsZero() }):
			fault = "a credential reference is mapped to no generation"
		case a.Provider.IsZero() || a.Organization.IsZero():
			fault = "it names no provider or no organization"
		case !ascending(a.Routes, func(r RouteRef) string { return tuple(r.Pack, r.Route, r.Version) }):
			fault = "an enabled route stands twice or out of order"
		case !ascending(a.Mappings, func(m MappingSelection) string { return tuple(m.Pack, m.Mapping, m.Version) }):
			fault = "a selected mapping stands twice or out of order"
		case !slices.IsSortedFunc(a.Credentials, func(x, y CredentialMapping) int { return compareRefs(x.Ref, y.Ref) }):
			fault = "its credential references are out of order"
		}
		if fault != "" {
			return facts.Refuse(facts.GenerationMalformed, facts.OfInput("configuration, "+noun), "%s", fault)
		}
		if err := checkSettings(a.Policies, noun); err != nil {
			return err
		}
	}
	return nil
}

// tuple joins keys, which hold no control character, so that tuples are ordered as their keys are.
func tuple(keys ...fmt.Stringer) string {
	text := ""
	for _, key := range keys {
		text += key.String() + "\x00"
	}
	return text
}

func ascending[T any](list []T, by func(T) string) bool {
	for i := 1; i < len(list); i++ {
		if by(list[i-1]) >= by(list[i]) {
			return false
		}
	}
	return true
}
