package serve

import (
	"context"

	"connectorcore/engine/pack"
	"connectorcore/engine/platform"
	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/readers"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// rooms are the ways into the database that the reference owners stand on.
func (s *Store) rooms() (*ledger.Ledger, *readers.Reader, error) {
	l, err := ledger.Open(s.Pool(schema.RoleLedger))
	return l, readers.Open(s.Pool(schema.RoleReader)), err
}

// Found founds the database as a deployment, whose id is drawn here, and gives the deployment that stands. If it was
// founded as the same before, nothing changes.
//
// Refuses: ConfigurationInvalid, ContentDiffers (it was founded as another one).
func (s *Store) Found(ctx context.Context, wanted serving.Deployment) (serving.Deployment, error) {
	l, r, err := s.rooms()
	if err != nil {
		return serving.Deployment{}, err
	}
	return platform.Found(ctx, l, r, wanted)
}

// Owners opens the reference owners of the deployment.
//
// Refuses: ConfigurationInvalid (the database was not founded).
func (s *Store) Owners(ctx context.Context) (*platform.Owners, error) {
	l, r, err := s.rooms()
	if err != nil {
		return nil, err
	}
	return platform.OpenOwners(ctx, l, r)
}

// Installed says what InstallPack has done.
type Installed struct {
	Deployment facts.DeploymentID
	Written    bool // false: this generation was installed before, and nothing has changed
}

// InstallPack publishes a compiled pack at the reference owners of the deployment, all of it or nothing, as the one
// generation that its bytes give. It authorises nothing: a binding serves from the successor epoch on that names it (R44).
//
// Refuses: ConfigurationInvalid (the database was not founded), ContentDiffers (a definition was published in this
// version with other bytes), WrongState (another publication came first), PublicationBarred.
func (s *Store) InstallPack(ctx context.Context, p *pack.Pack) (Installed, error) {
	at, err := s.Owners(ctx)
	if err != nil {
		return Installed{}, err
	}
	publication, err := publicationOf(p)
	if err != nil {
		return Installed{}, errors.Wrapf(err, "pack %s", p.Head().Name)
	}
	before, err := at.Installed(ctx, publication.Generation)
	if err != nil {
		return Installed{}, err
	}
	return Installed{at.Deployment().ID, !before}, at.PublishPack(ctx, publication)
}

// publicationOf is a compiled pack in the words of the owners. Everything in it is a function of the pack's bytes, so
// that the same folder is the same generation whoever installs it. A deployment has each pack once, so the pack's name
// is the name of its installation too.
func publicationOf(p *pack.Pack) (platform.Pack, error) {
	all := platform.Pack{Generation: p.Generation(), Payload: p.Digest()}
	var err error
	if all.Name, err = facts.ParseKey[facts.PackName](p.Head().Name.String()); err != nil {
		return all, err
	}
	if all.Installation, err = facts.ParseKey[facts.PackInstallationID](p.Head().Name.String()); err != nil {
		return all, err
	}
	provider, err := facts.ParseKey[facts.ProviderScope](p.Head().Name.String())
	if err != nil {
		return all, err
	}
	for _, d := range p.Definitions() {
		one := platform.PackDefinition{Name: d.ID, Version: d.Version, Digest: d.Digest, Canonical: d.Canonical()}
		if one.Kind, err = serving.ParseBindingKind(d.Kind.String()); err != nil {
			return all, err
		}
		if route, is := routeOf(p, d.PackDefinition); is {
			one.Runtime = serving.RuntimeCommand{Command: route.Command.Definition, Version: route.Command.Version}
		}
		if text := credentialOf(p, d.PackDefinition); text != "" {
			identity, err := facts.ParseKey[facts.CredentialIdentity](text)
			if err != nil {
				return all, err
			}
			one.Credentials = []owners.CredentialRef{{Name: identity, Provider: provider}}
		}
		all.Definitions = append(all.Definitions, one)
	}
	return all, nil
}

// The credentials of a pack: one for each channel whose deliveries are signed, and one for all callouts. They are never
// one, so that a signing secret that leaked opens no API, and each is revoked without the other.
const (
	inboundCredential  = "inbound/" // and the channel's name
	outboundCredential = "outbound"
)

// credentialOf is the credential that a definition refers to, empty if none. It does if its own bytes say that a secret
// is used: a route by the signatures of its channel, a callout by its authentication.
func credentialOf(p *pack.Pack, of facts.PackDefinition) string {
	if route, is := routeOf(p, of); is && len(route.Channel.Signatures) > 0 {
		return inboundCredential + route.Channel.Name.String()
	}
	if of.Kind != facts.CalloutProfile {
		return ""
	}
	if callout, known := p.Callout(of.ID); known && callout.Authentication != nil {
		return outboundCredential
	}
	return ""
}

func routeOf(p *pack.Pack, of facts.PackDefinition) (*pack.Route, bool) {
	if of.Kind != facts.InboundRoute {
		return nil, false
	}
	for _, route := range p.Routes() {
		if route.Name.String() == of.ID.String() {
			return route, true
		}
	}
	return nil, false
}
