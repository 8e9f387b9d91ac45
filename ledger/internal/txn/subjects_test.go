package txn

import (
	"crypto/rand"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/facts/outbound"
	"connectorcore/machines"
	"connectorcore/proptest/model"
	"connectorcore/proptest/world"
	"connectorcore/schema"
)

func anyDigest() (d facts.Digest) {
	_, _ = rand.Read(d[:])
	return d
}

// edgesOf are the machine's edges as typed values: they are numbered from 1 in the order of the table.
func edgesOf[E ~uint8](m machines.Machine) []E {
	all := make([]E, len(m.Transitions()))
	for i := range all {
		all[i] = E(i + 1)
	}
	return all
}

var someEpoch = facts.EpochRef{ID: facts.Mint[facts.EpochID](), Digest: anyDigest()}

var gates = subject[facts.AccountServingGate, facts.AccountID, facts.Gate, machines.AccountServingGateState, machines.AccountServingGateEdge]{
	rows: schema.AccountServingGates, guards: schema.Gates, edges: edgesOf[machines.AccountServingGateEdge](machines.AccountServingGate),
	fresh: func() facts.AccountServingGate {
		return facts.AccountServingGate{Account: facts.Mint[facts.AccountID](), Deployment: facts.Mint[facts.DeploymentID]()}
	},
	guard: func(f facts.AccountServingGate) facts.Gate { return facts.Gate{Account: f.Account} },
	carry: func(k facts.AccountID) *facts.Gate { return &facts.Gate{Account: k, Epoch: someEpoch} },
}

// epochs have one share each; an epoch is moved only with it.
var epochs = subject[facts.ServingEpoch, facts.EpochID, facts.EpochGuard, machines.ServingEpochState, machines.ServingEpochEdge]{
	rows: schema.ServingEpochs, guards: schema.Epochs, edges: edgesOf[machines.ServingEpochEdge](machines.ServingEpoch),
	fresh: func() facts.ServingEpoch { return epochOf(shareOf) },
	guard: func(f facts.ServingEpoch) facts.EpochGuard { return facts.EpochGuard{Epoch: f.ID} },
	lock:  LockEpochs,
	with: func(tx *Tx, f facts.ServingEpoch) (Write, error) {
		shares, err := Load(tx, schema.EpochShares, []facts.EpochShare{{Epoch: f.ID, Account: shareOf}})
		return Append(shares), err
	},
}

var shareOf = facts.Mint[facts.AccountID]()

// epochOf is a new epoch for these accounts, which stand in ascending order.
func epochOf(accounts ...facts.AccountID) facts.ServingEpoch {
	author, err := facts.ProfileV2.Author()
	if err != nil {
		panic(err)
	}
	id := facts.Mint[facts.EpochID]()
	return facts.ServingEpoch{ID: id, Profile: facts.ProfileV2, Digest: anyDigest(),
		ShareCount: uint64(len(accounts)), SharesDigest: author.ShareSet(id, accounts)}
}

var credentials = subject[facts.CredentialGenerationDispatchGate, facts.CredentialGenerationID, facts.CredentialGate,
	machines.CredentialGenerationDispatchGateState, machines.CredentialGenerationDispatchGateEdge]{
	rows: schema.CredentialGenerationDispatchGates, guards: schema.CredentialGates,
	edges: edgesOf[machines.CredentialGenerationDispatchGateEdge](machines.CredentialGenerationDispatchGate),
	fresh: func() facts.CredentialGenerationDispatchGate {
		return facts.CredentialGenerationDispatchGate{Generation: facts.Mint[facts.CredentialGenerationID]()}
	},
	guard: func(f facts.CredentialGenerationDispatchGate) facts.CredentialGate {
		return facts.CredentialGate{Generation: f.Generation}
	},
}

var barriers = subject[facts.ServingPublicationBarrierSet, facts.BarrierSetID, facts.BarrierSetGuard,
	machines.ServingPublicationBarrierSetState, machines.ServingPublicationBarrierSetEdge]{
	rows: schema.ServingPublicationBarrierSets, guards: schema.BarrierSets,
	edges: edgesOf[machines.ServingPublicationBarrierSetEdge](machines.ServingPublicationBarrierSet),
	fresh: func() facts.ServingPublicationBarrierSet {
		return facts.ServingPublicationBarrierSet{ID: facts.Mint[facts.BarrierSetID](), Scope: anyDigest(), Attempt: facts.Mint[facts.ActivationAttemptID]()}
	},
	guard: func(f facts.ServingPublicationBarrierSet) facts.BarrierSetGuard {
		return facts.BarrierSetGuard{BarrierSet: f.ID, OpenScope: f.Scope, Holder: 1}
	},
}

var windows = subject[inbound.ProjectionWindow, facts.WindowKey, inbound.WindowHead, machines.ProjectionWindowState, machines.ProjectionWindowEdge]{
	rows: schema.ProjectionWindows, guards: schema.WindowHeads, edges: edgesOf[machines.ProjectionWindowEdge](machines.ProjectionWindow),
	fresh: func() inbound.ProjectionWindow {
		return inbound.ProjectionWindow{ID: facts.Mint[facts.WindowID](), Account: facts.Mint[facts.AccountID](), Epoch: facts.Mint[facts.EpochID](), Grouping: anyDigest(),
			Route: someKey[facts.RouteID]("contacts"), Version: someKey[facts.DefinitionVersion]("1"), Key: someKey[facts.GroupingKey]("contact/1"), Deadline: someTime}
	},
	guard: func(f inbound.ProjectionWindow) inbound.WindowHead {
		return inbound.WindowHead{Account: f.Account, Window: f.ID, Grouping: f.Grouping, Members: 1, Deadline: f.Deadline, Due: f.Deadline}
	},
}

var someTime = time.Date(2026, 11, 29, 12, 0, 0, 123456000, time.UTC)

var receipts = subject[inbound.Receipt, facts.ReceiptKey, inbound.ReceiptHead, machines.ReceiptState, machines.ReceiptEdge]{
	rows: schema.Receipts, guards: schema.ReceiptHeads, edges: edgesOf[machines.ReceiptEdge](machines.Receipt),
	fresh: func() inbound.Receipt {
		return inbound.Receipt{ID: facts.Mint[facts.ReceiptID](), Account: facts.Mint[facts.AccountID](), Epoch: facts.Mint[facts.EpochID](),
			Channel: someKey[facts.Channel]("events"), TransportKey: someKey[facts.TransportKey]("d-1"), Birth: inbound.BornOpen}
	},
	guard: func(f inbound.Receipt) inbound.ReceiptHead {
		return inbound.ReceiptHead{Account: f.Account, Receipt: f.ID, Due: someTime}
	},
}

var projections = subject[inbound.Projection, facts.ProjectionKey, inbound.ProjectionHead, machines.ProjectionState, machines.ProjectionEdge]{
	rows: schema.Projections, guards: schema.ProjectionHeads, edges: edgesOf[machines.ProjectionEdge](machines.Projection),
	fresh: func() inbound.Projection {
		return inbound.Projection{ID: facts.Mint[facts.ProjectionID](), Account: facts.Mint[facts.AccountID](), Epoch: facts.Mint[facts.EpochID](),
			Event: facts.Mint[facts.EventID](), Route: someKey[facts.RouteID]("contacts"), Version: someKey[facts.DefinitionVersion]("1"),
			Canonical: facts.CanonicalProjectionDigest{Digest: anyDigest()}, Lane: facts.Mint[facts.LaneID](),
			Ref: facts.ExecutionRefDigest{Digest: anyDigest()}, Birth: inbound.BornOpen}
	},
	guard: func(f inbound.Projection) inbound.ProjectionHead {
		return inbound.ProjectionHead{Account: f.Account, Projection: f.ID, Lane: f.Lane, Place: somePlace, Due: someTime}
	},
}

var somePlace = inbound.Place{Order: facts.SourceOrder{Position: somePosition("1")}, Content: anyDigest()}

func somePosition(number string) facts.SourcePosition {
	position, err := facts.ParseIntegerPosition(number)
	if err != nil {
		panic(err)
	}
	return position
}

var lanes = subject[inbound.OrderingLane, facts.LaneKey, inbound.Lane, machines.OrderingLaneState, machines.OrderingLaneEdge]{
	rows: schema.OrderingLanes, guards: schema.Lanes, edges: edgesOf[machines.OrderingLaneEdge](machines.OrderingLane),
	fresh: func() inbound.OrderingLane {
		return inbound.OrderingLane{ID: facts.Mint[facts.LaneID](), Digest: anyDigest(), Account: facts.Mint[facts.AccountID](), Epoch: facts.Mint[facts.EpochID](),
			Route: someKey[facts.RouteID]("contacts"), Version: someKey[facts.DefinitionVersion]("1"), Partition: someKey[facts.OrderingPartition]("contact/1"),
			Contract: anyDigest(), Baseline: inbound.BaselineEmpty}
	},
	guard: func(f inbound.OrderingLane) inbound.Lane { return inbound.Lane{Account: f.Account, ID: f.ID} },
	carry: func(k facts.LaneKey) *inbound.Lane {
		return &inbound.Lane{Account: k.Account, ID: k.Subject, Active: facts.Mint[facts.ExecutionID](), At: somePlace}
	},
}

func someKey[T facts.AnyKey](text string) T {
	key, err := facts.ParseKey[T](text)
	if err != nil {
		panic(err)
	}
	return key
}

var executions = subject[inbound.Execution, facts.ExecutionKey, inbound.ExecutionHead, machines.ExecutionState, machines.ExecutionEdge]{
	rows: schema.Executions, guards: schema.ExecutionHeads, edges: edgesOf[machines.ExecutionEdge](machines.Execution),
	fresh: func() inbound.Execution {
		return inbound.Execution{ID: facts.Mint[facts.ExecutionID](), Account: facts.Mint[facts.AccountID](), Ref: facts.ExecutionRefDigest{Digest: anyDigest()},
			Projection: facts.Mint[facts.ProjectionID](), Epoch: facts.Mint[facts.EpochID]()}
	},
	guard: func(f inbound.Execution) inbound.ExecutionHead {
		return inbound.ExecutionHead{Account: f.Account, Execution: f.ID, Projection: f.Projection, Due: someTime}
	},
}

var dependencies = subject[inbound.ExecutionDependency, facts.DependencyKey, inbound.DependencyHead, machines.ExecutionDependencyState, machines.ExecutionDependencyEdge]{
	rows: schema.ExecutionDependencies, guards: schema.DependencyHeads, edges: edgesOf[machines.ExecutionDependencyEdge](machines.ExecutionDependency),
	fresh: func() inbound.ExecutionDependency {
		return inbound.ExecutionDependency{ID: facts.Mint[facts.DependencyID](), Account: facts.Mint[facts.AccountID](),
			Execution: facts.Mint[facts.ExecutionID](), Needs: 1, Event: facts.Mint[facts.EventID](), Key: someKey[facts.SourceEventKey]("e-1"), Deadline: time.Date(2026, 11, 29, 12, 0, 0, 123456000, time.UTC)}
	},
	guard: func(f inbound.ExecutionDependency) inbound.DependencyHead {
		return inbound.DependencyHead{Account: f.Account, Dependency: f.ID, Execution: f.Execution, Event: f.Event, Due: someTime}
	},
}

var effects = subject[outbound.RemoteEffect, facts.EffectKey, outbound.EffectHead, machines.RemoteEffectState, machines.RemoteEffectEdge]{
	rows: schema.RemoteEffects, guards: schema.EffectHeads, edges: edgesOf[machines.RemoteEffectEdge](machines.RemoteEffect),
	fresh: func() outbound.RemoteEffect {
		return outbound.RemoteEffect{ID: facts.Mint[facts.EffectID](), Account: facts.Mint[facts.AccountID](),
			Command: facts.Mint[facts.OutboundCommandID](), LogicalEffect: anyDigest()}
	},
	guard: func(f outbound.RemoteEffect) outbound.EffectHead {
		return outbound.EffectHead{Account: f.Account, Effect: f.ID}
	},
}

var permits = subject[outbound.DispatchPermit, facts.PermitKey, outbound.PermitHead, machines.DispatchPermitState, machines.DispatchPermitEdge]{
	rows: schema.DispatchPermits, guards: schema.PermitHeads, edges: edgesOf[machines.DispatchPermitEdge](machines.DispatchPermit),
	fresh: func() outbound.DispatchPermit {
		return outbound.DispatchPermit{ID: facts.Mint[facts.PermitID](), Account: facts.Mint[facts.AccountID](), Effect: facts.Mint[facts.EffectID](),
			Attempt: facts.Mint[facts.AttemptID](), Holder: facts.Mint[facts.HolderID](), Generation: facts.Mint[facts.CredentialGenerationID](),
			GateFence: 9, CredentialFence: 1}
	},
	guard: func(f outbound.DispatchPermit) outbound.PermitHead {
		return outbound.PermitHead{Account: f.Account, Permit: f.ID}
	},
}

var links = subject[outbound.RemoteLink, facts.LinkKey, outbound.LinkHead, machines.RemoteLinkState, machines.RemoteLinkEdge]{
	rows: schema.RemoteLinks, guards: schema.LinkHeads, edges: edgesOf[machines.RemoteLinkEdge](machines.RemoteLink),
	fresh: func() outbound.RemoteLink {
		return outbound.RemoteLink{ID: facts.Mint[facts.LinkID](), Account: facts.Mint[facts.AccountID](), RemoteIdentity: anyDigest(), OwnerSlot: anyDigest()}
	},
	guard: func(f outbound.RemoteLink) outbound.LinkHead {
		return outbound.LinkHead{Account: f.Account, Link: f.ID, RemoteIdentity: f.RemoteIdentity, OwnerSlot: f.OwnerSlot}
	},
}

func TestM01AccountServingGateTakesExactlyItsEdges(t *testing.T)  { gates.wholeProduct(t) }
func TestM02ServingEpochTakesExactlyItsEdges(t *testing.T)        { epochs.wholeProduct(t) }
func TestM03CredentialGateTakesExactlyItsEdges(t *testing.T)      { credentials.wholeProduct(t) }
func TestM04BarrierSetTakesExactlyItsEdges(t *testing.T)          { barriers.wholeProduct(t) }
func TestM05ProjectionWindowTakesExactlyItsEdges(t *testing.T)    { windows.wholeProduct(t) }
func TestM06ExecutionTakesExactlyItsEdges(t *testing.T)           { executions.wholeProduct(t) }
func TestM07ExecutionDependencyTakesExactlyItsEdges(t *testing.T) { dependencies.wholeProduct(t) }
func TestM09RemoteEffectTakesExactlyItsEdges(t *testing.T)        { effects.wholeProduct(t) }
func TestM10DispatchPermitTakesExactlyItsEdges(t *testing.T)      { permits.wholeProduct(t) }
func TestM11RemoteLinkTakesExactlyItsEdge(t *testing.T)           { links.wholeProduct(t) }
func TestOrderingLaneTakesExactlyItsEdges(t *testing.T)           { lanes.wholeProduct(t) }
func TestReceiptTakesExactlyItsEdge(t *testing.T)                 { receipts.wholeProduct(t) }
func TestProjectionTakesExactlyItsEdges(t *testing.T)             { projections.wholeProduct(t) }

// A result has an outcome and no history: four outcomes are admitted, nothing rewrites or removes one, and there is
// no ledger to which a transition of it could be appended.
func TestM08ApplicationResultIsTerminalWhenItIsWritten(t *testing.T) {
	store := world.Converged(t)
	ledger := store.Pool(t, schema.RoleLedger)
	insert := func(outcome string) error {
		_, err := ledger.ExecContext(t.Context(), "INSERT INTO application_result (command_id, account_id, execution_id, execution_ref_digest, outcome, result_digest, payload) VALUES (?,?,?,?,?,?,'')",
			facts.Mint[facts.CommandID](), facts.Mint[facts.AccountID](), facts.Mint[facts.ExecutionID](), anyDigest(), []byte(outcome), anyDigest())
		return err
	}
	for _, outcome := range model.Births["ApplicationResult"] {
		if err := insert(outcome); err != nil {
			t.Errorf("outcome %s: %v", outcome, err)
		}
	}
	for _, outcome := range []string{"", "1", "completed", "applied ", "Applied"} {
		if err := insert(outcome); !hasCode(err, codeCheckViolated) {
			t.Errorf("outcome %q: %v", outcome, err)
		}
	}
	for _, statement := range []string{"UPDATE application_result SET outcome = 'failed'", "DELETE FROM application_result"} {
		if _, err := ledger.ExecContext(t.Context(), statement); !hasCode(err, codeTableDenied) && !hasCode(err, codeColumnDenied) {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if len(machines.ApplicationResult.Transitions()) > 0 || schema.Find("application_result_ledger") != nil {
		t.Error("a result has an edge or a ledger")
	}
}

const (
	codeTableDenied  = 1142
	codeColumnDenied = 1143
)
