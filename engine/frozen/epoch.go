package frozen

import (
	"context"
	"fmt"
	"slices"

	"connectorcore/engine/pack"
	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/readers"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// Epoch is everything that one epoch froze, compiled. It never changes, and any number of goroutines may read it.
type Epoch struct {
	Ref     facts.EpochRef
	Profile facts.Profile // under which ids of its work are derived
	Limits  owners.Limits

	accounts map[facts.AccountID]account
}

// account is what an epoch says of one account.
type account struct {
	configuration owners.AccountConfiguration
	channels      map[facts.Channel]*Channel
	requires      bool
}

// Channel is an account's ingress channel: the definition, the routes that the account enabled on it, and where the
// secrets are that verify its deliveries.
type Channel struct {
	Definition *pack.Channel
	Routes     []Route // in the order of their names
	// Credential is zero for a channel without signatures.
	Credential owners.CredentialGeneration
}

// Route is an enabled route with the mapping that it names, both of one pack generation.
type Route struct {
	*pack.Route
	Mapping    *pack.Mapping
	Generation facts.PackGenerationID
}

// Open reads and compiles what an epoch froze.
//
// Refuses: EpochMismatch (there is no such epoch), OwnerUnavailable (an owner gave no answer; ask again), OwnerDisagrees
// (a generation is absent or is not what was frozen, and nothing stands in for it), GenerationMalformed.
func Open(ctx context.Context, r *readers.Reader, set owners.Set, ref facts.EpochRef) (*Epoch, error) {
	candidate, profile, err := stored(ctx, r, ref)
	if err != nil {
		return nil, err
	}
	found, fault := owners.ReadFrozen(ctx, set, candidate)
	switch {
	case fault.IsZero():
	case fault.Standing == owners.Unavailable:
		return nil, facts.Refuse(facts.OwnerUnavailable, facts.OfEpoch(ref.ID), "%s", fault)
	default:
		return nil, facts.Refuse(facts.OwnerDisagrees, facts.OfEpoch(ref.ID), "%s", fault)
	}
	accounts, err := accountsOf(candidate, found)
	return &Epoch{Ref: ref, Profile: profile, Limits: found.Configuration.Limits, accounts: accounts}, err
}

// Serves refuses a content whose parts fit each other and which could not serve all the same: definitions that do not
// compile, a route that depends on order and says nothing of it, a route without its mapping, two packs behind one
// channel of an account, a signed channel without a credential. It reads nothing.
//
// Refuses: GenerationMalformed, which names account, route or pack.
//
// Spec: Durable source ordering ("cannot pass the V2 cutover preflight").
func Serves(candidate serving.Candidate, opened owners.Frozen) error {
	_, err := accountsOf(candidate, opened)
	return err
}

// accountsOf compiles the definitions and gives each account its channels.
func accountsOf(candidate serving.Candidate, found owners.Frozen) (map[facts.AccountID]account, error) {
	packs, err := compile(candidate, found)
	if err != nil {
		return nil, err
	}
	all := make(map[facts.AccountID]account, len(found.Configuration.Accounts))
	for _, a := range found.Configuration.Accounts {
		channels, err := packs.channels(a, found.Credentials)
		if err != nil {
			return nil, err
		}
		requires := false
		for _, channel := range channels {
			channel.bound(found.Configuration.Limits)
			requires = requires || slices.ContainsFunc(channel.Routes, func(r Route) bool { return len(r.Dependencies) > 0 })
		}
		all[a.Account] = account{a, channels, requires}
	}
	return all, nil
}

// stored reads the epoch's own rows, whose digest must be the one that it has.
func stored(ctx context.Context, r *readers.Reader, ref facts.EpochRef) (c serving.Candidate, profile facts.Profile, err error) {
	fact, known, err := readers.One(ctx, r, schema.ServingEpochs, func(e *facts.ServingEpoch) { e.ID = ref.ID })
	if err != nil {
		return c, profile, errors.Wrap(err, "frozen: the epoch")
	}
	if !known || fact.Digest != ref.Digest {
		return c, profile, facts.Refuse(facts.EpochMismatch, facts.OfEpoch(ref.ID), "no epoch of digest %s was prepared under this id", ref.Digest)
	}
	rows := serving.EpochRows{}
	if rows.Attestation, _, err = readers.One(ctx, r, schema.EpochAttestations, func(e *serving.EpochAttestation) { e.Epoch = ref.ID }); err != nil {
		return c, profile, errors.Wrap(err, "frozen: the epoch's attestation")
	}
	if rows.Bindings, err = readers.Many(ctx, r, schema.EpochBindings, []serving.EpochBinding{{Epoch: ref.ID}}, 1); err != nil {
		return c, profile, errors.Wrap(err, "frozen: the epoch's bindings")
	}
	if rows.Credentials, err = readers.Many(ctx, r, schema.EpochCredentials, []serving.EpochCredential{{Epoch: ref.ID}}, 1); err != nil {
		return c, profile, errors.Wrap(err, "frozen: the epoch's credential generations")
	}
	author, err := serving.AuthorOf(fact.Profile)
	if err != nil {
		return c, profile, err
	}
	c = rows.Candidate()
	if author.Epoch(c).Digest != fact.Digest {
		return c, profile, facts.Refuse(facts.OwnerDisagrees, facts.OfEpoch(ref.ID), "its stored rows do not have its digest")
	}
	return c, fact.Profile, nil
}

// bound lowers the limits of the channel to those of the tenant's generation, where these are lower.
func (c *Channel) bound(by owners.Limits) {
	own := *c.Definition
	for _, one := range []struct {
		of    *int64
		limit uint64
	}{{&own.Limits.BodyBytes, by.BodyMaxBytes}, {&own.Limits.Depth, by.DepthMax}, {&own.Limits.Components, by.ComponentsMax}} {
		if one.limit < uint64(*one.of) { // neither is ever negative
			*one.of = int64(one.limit)
		}
	}
	c.Definition = &own
}

// generationOf names one compiled pack generation of the epoch.
type generationOf struct {
	pack       facts.PackName
	generation facts.PackGenerationID
}

// compiled are the pack generations of an epoch, and the bindings behind their definitions.
type compiled struct {
	packs    map[generationOf]*pack.Pack
	bindings map[string]binding // by kind, pack, name and version
}

type binding struct {
	of   generationOf
	refs []owners.CredentialRef
}

func bindingKey(kind serving.BindingKind, in facts.PackName, name, version fmt.Stringer) string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s", kind, in, name, version)
}

func compile(c serving.Candidate, found owners.Frozen) (compiled, error) {
	all := compiled{map[generationOf]*pack.Pack{}, map[string]binding{}}
	definitions := map[generationOf][][]byte{}
	for i, b := range c.Bindings {
		of := generationOf{b.OwnerPack, found.Definitions[i].PackGeneration}
		refs, err := owners.DecodeRefs(b.CredentialRefs)
		if err != nil {
			return all, err
		}
		definitions[of] = append(definitions[of], found.Definitions[i].Content.Bytes())
		all.bindings[bindingKey(b.Kind, b.OwnerPack, b.BusinessKey, b.Version)] = binding{of, refs}
	}
	for of, canonical := range definitions {
		made, err := pack.Open(canonical)
		if err != nil {
			return all, facts.Refuse(facts.GenerationMalformed, facts.OfInput("pack "+of.pack.String()+", generation "+of.generation.String()), "%v", err)
		}
		all.packs[of] = made
	}
	return all, nil
}

// channels are the channels of an account's enabled routes. Two packs with one channel name would make the door's address
// mean two things.
func (c compiled) channels(a owners.AccountConfiguration, credentials map[facts.CredentialGenerationID]owners.CredentialGeneration) (map[facts.Channel]*Channel, error) {
	channels := map[facts.Channel]*Channel{}
	owner := map[facts.Channel]generationOf{}
	named := map[facts.RouteID]bool{}
	for _, enabled := range a.Routes {
		refuse := func(detail string, args ...any) error {
			where := fmt.Sprintf("configuration, account %s, route %s %s of pack %s", a.Account, enabled.Route, enabled.Version, enabled.Pack)
			return facts.Refuse(facts.GenerationMalformed, facts.OfInput(where), detail, args...)
		}
		bound, authorised := c.bindings[bindingKey(serving.InboundRoute, enabled.Pack, enabled.Route, enabled.Version)]
		if !authorised {
			return nil, refuse("the epoch has no such binding")
		}
		route, mapping := routeOf(c.packs[bound.of], enabled.Route)
		if route == nil || mapping == nil {
			return nil, refuse("its pack generation %s has no such route, or the route's mapping is not authorised", bound.of.generation)
		}
		if named[route.Name] {
			return nil, refuse("another enabled route has this name, and an input is named by its route")
		}
		named[route.Name] = true
		name := route.Channel.Name
		if other, taken := owner[name]; taken && other != bound.of {
			return nil, refuse("its channel %s is also one of pack %s: an account has a channel of one pack", name, other.pack)
		}
		if channels[name] == nil {
			channels[name], owner[name] = &Channel{Definition: &route.Channel}, bound.of
		}
		channel := channels[name]
		channel.Routes = append(channel.Routes, Route{route, mapping, bound.of.generation})
		if len(bound.refs) == 0 {
			continue
		}
		generation, mapped := credentialOf(a, bound.refs, credentials)
		if !mapped {
			return nil, refuse("its credential reference %s is mapped to no generation", bound.refs[0])
		}
		channel.Credential = generation
	}
	for name, channel := range channels {
		if len(channel.Definition.Signatures) > 0 && channel.Credential.ID.IsZero() {
			return nil, facts.Refuse(facts.GenerationMalformed, facts.OfInput(fmt.Sprintf("configuration, account %s, channel %s", a.Account, name)), "its deliveries are signed, and no credential verifies them")
		}
	}
	return channels, nil
}

// credentialOf is the generation that the account maps to the first reference. A route has one, the one of its channel.
func credentialOf(a owners.AccountConfiguration, refs []owners.CredentialRef, credentials map[facts.CredentialGenerationID]owners.CredentialGeneration) (owners.CredentialGeneration, bool) {
	for _, mapping := range a.Credentials {
		if mapping.Ref == refs[0] {
			generation, known := credentials[mapping.Generation]
			return generation, known
		}
	}
	return owners.CredentialGeneration{}, false
}

func routeOf(in *pack.Pack, name facts.DefinitionID) (*pack.Route, *pack.Mapping) {
	if in == nil {
		return nil, nil
	}
	for _, route := range in.Routes() {
		if route.Name.String() == name.String() {
			mapping, _ := in.Mapping(route.Mapping)
			return route, mapping
		}
	}
	return nil, nil
}

// Channel is a channel of an account under this epoch.
//
// Refuses: SubjectMissing (the epoch has no such account, or the account no such channel).
func (e *Epoch) Channel(id facts.AccountID, name facts.Channel) (*Channel, error) {
	a, known := e.accounts[id]
	if !known {
		return nil, facts.Refuse(facts.SubjectMissing, facts.OfAccount(id), "epoch %s has no such account", e.Ref.ID)
	}
	channel, has := a.channels[name]
	if !has {
		return nil, facts.Refuse(facts.SubjectMissing, facts.OfAccount(id), "the account has no channel of this name under epoch %s", e.Ref.ID)
	}
	return channel, nil
}

// Route is an enabled route of an account under this epoch.
func (e *Epoch) Route(id facts.AccountID, name facts.RouteID, version facts.DefinitionVersion) (Route, bool) {
	for _, channel := range e.accounts[id].channels {
		for _, route := range channel.Routes {
			if route.Name == name && route.Version == version {
				return route, true
			}
		}
	}
	return Route{}, false
}

// Requires tells whether a route of an account has dependencies: whether anything may wait for what it completes.
func (e *Epoch) Requires(id facts.AccountID) bool { return e.accounts[id].requires }
