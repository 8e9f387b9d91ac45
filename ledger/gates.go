package ledger

import (
	"context"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

var (
	kindBear = txn.NewKind("bear gates")
	kindWalk = txn.NewKind("walk gates")
)

// GateVerdict is where an account's gate stands after a transaction, or why it was refused.
type GateVerdict struct {
	State   machines.AccountServingGateState
	Fence   facts.Fence
	Refusal *facts.Refusal
}

type (
	gateGuards = txn.Guards[facts.AccountID, facts.Gate, machines.AccountServingGateState, machines.AccountServingGateEdge]
	gateGuard  = txn.Guard[facts.Gate, machines.AccountServingGateState]
	gateStep   = txn.Step[facts.AccountID, facts.Gate, machines.AccountServingGateEdge]
)

// BearGates makes the gates of accounts, at most 500 in a call. A gate is born in v1_serving (R03). One that was born
// before stays where it stands.
//
// Locks:   gates, which do not exist before the first time.
// Refuses: ConfigurationInvalid (the database is not that deployment, for the whole call); ContentDiffers (per account).
// Unknown: bear the same again.
func (l *Ledger) BearGates(ctx context.Context, deployment facts.DeploymentID, accounts []facts.AccountID) ([]GateVerdict, error) {
	births := make([]facts.AccountServingGate, len(accounts))
	for i, account := range accounts {
		births[i] = facts.AccountServingGate{Account: account, Deployment: deployment}
	}
	return txn.Batch(ctx, l.db, kindBear, accounts, func(tx *txn.Tx) ([]GateVerdict, error) {
		gates, err := txn.Lock(tx, schema.Gates, accounts)
		if err != nil {
			return nil, err
		}
		if _, err := founded(tx, deployment); err != nil {
			return nil, err
		}
		loaded, err := txn.Load(tx, schema.AccountServingGates, births)
		if err != nil {
			return nil, err
		}
		verdicts := make([]GateVerdict, len(accounts))
		missing := false
		for i, account := range accounts {
			gate, born := gates.Find(account)
			switch {
			case loaded.Match(i) == txn.Different:
				verdicts[i].Refusal = facts.Refuse(facts.ContentDiffers, facts.OfAccount(account), "its gate was born in another deployment")
			case born:
				verdicts[i] = GateVerdict{State: gate.State, Fence: gate.Fence}
			default:
				verdicts[i] = GateVerdict{State: machines.AccountServingGateV1Serving, Fence: 1}
				missing = true
			}
		}
		if !missing {
			return verdicts, nil
		}
		// Every check is above this line; below it the transaction commits whole or not at all.
		return verdicts, tx.Apply(txn.Born(loaded, schema.Gates, func(g facts.AccountServingGate) facts.Gate { return facts.Gate{Account: g.Account} }))
	})
}

// founded is the deployment as which this database was founded, which must have this id.
//
// Refuses: ConfigurationInvalid.
func founded(tx *txn.Tx, id facts.DeploymentID) (serving.Founded, error) {
	deployment, known, err := txn.ReadOne(tx, schema.Deployments, func(*serving.Founded) {})
	switch {
	case err != nil:
		return deployment, err
	case !known || deployment.ID != id:
		return deployment, facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("deployment "+id.String()), "this database was not founded as it")
	}
	return deployment, nil
}

// Walk asks that gates be walked to v2_validating without a predecessor, by whom and why.
type Walk struct {
	Deployment facts.DeploymentID
	Accounts   []facts.AccountID // at most 500, each once
	Principal  facts.OwnerName   // who attests that there is no predecessor
	Reason     facts.OwnerName   // why, as one line
}

// absentBody is what the ledger keeps of an edge whose proof is about a predecessor that does not exist.
type absentBody struct {
	proof      machines.Proof
	Deployment string
	Class      string
	Attests    string // always that there is no predecessor, so that nobody takes this for its proof
	Principal  string
	Reason     string
}

// Proof is that of the edge.
func (b absentBody) Proof() machines.Proof { return b.proof }

// Version is 1.
func (absentBody) Version() uint16 { return 1 }

// walked are the edges from a gate's birth to where a first activation finds it.
var walked = []machines.AccountServingGateEdge{
	machines.AccountServingGateBeginV1Halt, machines.AccountServingGateStopV1,
	machines.AccountServingGateCertifyV1Drain, machines.AccountServingGateBeginV2Validation,
}

// WalkGates takes gates of a conformance deployment edge by edge to v2_validating. Each edge's ledger row says that there
// was no predecessor of which to prove anything. A gate that stands there already, by the same walk or on its way, is
// taken the rest of it.
//
// Locks:   gates.
// Refuses: ConfigurationInvalid, ConformanceOnly (for the whole call); SubjectMissing, WrongState (per account).
// Unknown: walk the same again.
//
// Rules R03, R04, R39.
func (l *Ledger) WalkGates(ctx context.Context, walk Walk) ([]GateVerdict, error) {
	seen := map[facts.AccountID]bool{}
	for _, account := range walk.Accounts {
		if seen[account] {
			return nil, errors.AssertionFailedf("account %s stands twice in one walk", account)
		}
		seen[account] = true
	}
	return txn.Batch(ctx, l.db, kindWalk, walk.Accounts, func(tx *txn.Tx) ([]GateVerdict, error) {
		gates, err := txn.Lock(tx, schema.Gates, walk.Accounts)
		if err != nil {
			return nil, err
		}
		deployment, err := founded(tx, walk.Deployment)
		if err != nil {
			return nil, err
		}
		if deployment.Class != serving.Conformance && len(walk.Accounts) > 0 {
			return nil, facts.Refuse(facts.ConformanceOnly, facts.OfAccount(walk.Accounts[0]), "deployment %s is of class %s", deployment.ID, deployment.Class)
		}
		evidence, err := walk.evidence(deployment.Class)
		if err != nil {
			return nil, err
		}
		verdicts := make([]GateVerdict, len(walk.Accounts))
		var steps []gateStep
		for i, account := range walk.Accounts {
			gate, born := gates.Find(account)
			left := leftToWalk(gate.State)
			if verdicts[i], err = decideWalk(tx, account, gate, born, left, evidence); err != nil {
				return nil, err
			}
			if verdicts[i].Refusal != nil || left < 0 {
				continue
			}
			for _, edge := range walked[len(walked)-left:] {
				steps = append(steps, gateStep{Key: account, Edge: edge, Evidence: evidence[edge]})
			}
		}
		if len(steps) == 0 {
			return verdicts, nil
		}
		// Every check is above this line; below it the transaction commits whole or not at all.
		return verdicts, tx.Apply(txn.Move(gates, steps))
	})
}

func (w Walk) evidence(class serving.Class) (map[machines.AccountServingGateEdge]facts.Evidence, error) {
	all := map[machines.AccountServingGateEdge]facts.Evidence{}
	for _, edge := range walked {
		evidence, err := facts.Prove(absentBody{edge.Proof(), w.Deployment.String(), class.String(), "no predecessor exists", w.Principal.String(), w.Reason.String()})
		if err != nil {
			return nil, err
		}
		all[edge] = evidence
	}
	return all, nil
}

// leftToWalk is how many edges lie between a state and v2_validating, and -1 for a state that is not on the way.
func leftToWalk(state machines.AccountServingGateState) int {
	if state == machines.AccountServingGateV2Validating {
		return 0
	}
	for i, edge := range walked {
		if edge.From() == state {
			return len(walked) - i
		}
	}
	return -1
}

// decideWalk also finds a walk that was done before and whose gate has moved on since.
func decideWalk(tx *txn.Tx, account facts.AccountID, gate gateGuard, born bool, left int, evidence map[machines.AccountServingGateEdge]facts.Evidence) (GateVerdict, error) {
	switch {
	case !born:
		return GateVerdict{Refusal: facts.Refuse(facts.SubjectMissing, facts.OfAccount(account), "the account has no gate")}, nil
	case left >= 0:
		return GateVerdict{State: machines.AccountServingGateV2Validating, Fence: gate.Fence + facts.Fence(left)}, nil
	}
	last := walked[len(walked)-1]
	same, err := txn.Taken(tx, schema.Gates, account, facts.Fence(len(walked)), last, evidence[last])
	if err != nil || same {
		return GateVerdict{State: gate.State, Fence: gate.Fence}, err
	}
	return GateVerdict{Refusal: facts.Refuse(facts.WrongState, facts.OfAccount(account), "its gate is in %s, which is past the way to v2_validating", gate.State)}, nil
}
