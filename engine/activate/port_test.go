package activate

import (
	"context"
	"sync"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// between stands between a coordinator and the owners: each answer passes through it.
type between struct {
	set     owners.Set
	mutex   sync.Mutex
	answer  func(owner serving.Owner, name serving.Name, a owners.Answer[owners.Exact]) owners.Answer[owners.Exact]
	barrier func(owner serving.Owner, call string) error // what keeps an owner from acquire, verify or release
}

func (b *between) ports() owners.Set {
	p := func(owner serving.Owner) port { return port{b, owner} }
	return owners.Set{Catalog: p(serving.Catalog), InboundRoutes: p(serving.InboundRoutes), CalloutProfiles: p(serving.CalloutProfiles), FieldMappings: p(serving.FieldMappings),
		PushContracts: p(serving.PushContracts), Configuration: p(serving.Configuration), Credentials: p(serving.Credentials)}
}

type port struct {
	*between
	owner serving.Owner
}

func (p port) pass(name serving.Name, a owners.Answer[owners.Exact]) owners.Answer[owners.Exact] {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.answer == nil {
		return a
	}
	return p.answer(p.owner, name, a)
}

func (p port) kept(call string) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.barrier == nil {
		return nil
	}
	return p.barrier(p.owner, call)
}

func (p port) CurrentView(ctx context.Context, scope serving.Scope, least serving.Revision) owners.Answer[owners.Exact] {
	name, _ := owners.ViewName(least)
	return p.pass(name, p.set.Catalog.CurrentView(ctx, scope, least))
}

func (p port) Definition(ctx context.Context, scope serving.Scope, identity serving.BindingIdentity) owners.Answer[owners.Exact] {
	name, _ := owners.DefinitionName(identity)
	return p.pass(name, p.set.Definitions(identity.Kind).Definition(ctx, scope, identity))
}

func (p port) Configuration(ctx context.Context, scope serving.Scope, id facts.ServiceConfigurationGeneration) owners.Answer[owners.Exact] {
	name, _ := owners.ConfigurationName(id)
	return p.pass(name, p.set.Configuration.Configuration(ctx, scope, id))
}

func (p port) Credential(ctx context.Context, scope serving.Scope, id facts.CredentialGenerationID) owners.Answer[owners.Exact] {
	name, _ := owners.CredentialName(id)
	return p.pass(name, p.set.Credentials.Credential(ctx, scope, id))
}

func (p port) Acquire(ctx context.Context, ask owners.Ask) (owners.Hold, error) {
	if err := p.kept("acquire"); err != nil {
		return owners.Hold{}, err
	}
	return p.set.Barrier(p.owner).Acquire(ctx, ask)
}

func (p port) Verify(ctx context.Context, hold owners.Hold) owners.Answer[owners.Hold] {
	if err := p.kept("verify"); errors.Is(err, errGone) {
		return owners.None[owners.Hold]()
	} else if err != nil {
		return owners.Nobody[owners.Hold](err)
	}
	return p.set.Barrier(p.owner).Verify(ctx, hold)
}

func (p port) Release(ctx context.Context, ask owners.Ask) error {
	if err := p.kept("release"); err != nil {
		return err
	}
	return p.set.Barrier(p.owner).Release(ctx, ask)
}

var (
	errDown = errors.New("the line is down")
	errGone = errors.New("it does not hold")
)

// leave carries an attempt to a state of its set and leaves it there, as a process that dies would.
func (s *scene) leave(state string, ref facts.EpochRef) {
	s.t.Helper()
	ctx, die := context.WithCancel(s.t.Context())
	defer die()
	after := map[string]string{"acquiring": "record barrier receipts", "held": "hold barrier set", "activation_committed": "activate first epoch"}[state]
	l := s.open(s.store.Pool(s.t, schema.RoleLedger), ledger.AtBoundary(func(b ledger.Boundary) {
		if b.Transaction == after && b.Point == "after commit" {
			die()
		}
	}))
	if _, err := s.coordinator(func(p *Parts) { p.Ledger = l; p.Witness = nowhere{} }).Activate(ctx, ref); err == nil {
		s.t.Fatalf("it did not stop after %q", after)
	}
}
