package serve

import (
	"context"

	"connectorcore/engine/activate"
	"connectorcore/engine/frozen"
	"connectorcore/engine/platform"
	"connectorcore/engine/witness"
	"connectorcore/facts/serving"
)

// Coordinator is the coordinator of this deployment over its reference owners. The witness may be nowhere and the
// authority empty for who activates nothing; say is told each step.
//
// Refuses: ConfigurationInvalid (the database was not founded).
func (s *Store) Coordinator(ctx context.Context, witness witness.File, by platform.Authority, say func(sentence string)) (*activate.Coordinator, *platform.Owners, error) {
	l, r, err := s.rooms()
	if err != nil {
		return nil, nil, err
	}
	at, err := platform.OpenOwners(ctx, l, r)
	if err != nil {
		return nil, nil, err
	}
	c, err := activate.Open(activate.Parts{Ledger: l, Reader: r, Owners: at.Set(), Deployment: serving.Founded{Deployment: at.Deployment(), Scope: at.Scope()},
		Witness: witness, Serves: frozen.Serves, Principal: by.Principal, Reason: by.Reason, Say: say})
	return c, at, err
}
