// Code generated from machines/tables.txt by machines/internal/generate; DO NOT EDIT.

package schema

import "connectorcore/machines"

// ledgerChecks lists, for each machine with a ledger, the (from_state, edge, to_state) triples that the database itself admits.
var ledgerChecks = map[machines.Machine]string{
	machines.AccountServingGate: "(from_state, edge, to_state) IN (" +
		"('v1_serving', 'begin_v1_halt', 'halting_v1'), ('halting_v1', 'abort_v1_halt', 'v1_serving'), ('halting_v1', 'stop_v1', 'v1_stopped'), ('v1_stopped', 'certify_v1_drain', 'v1_drained'), ('v1_drained', 'cold_abort', 'v1_serving'), ('v1_drained', 'resume_restored_v1', 'v1_serving'), ('v1_drained', 'begin_v2_validation', 'v2_validating'), ('v2_validating', 'restore_v1_point', 'v1_drained'), ('v2_validating', 'activate_first', 'v2_serving'), ('v2_serving', 'begin_v2_halt', 'halting_v2'), ('halting_v2', 'confirm_v2_halt', 'v2_halted'), ('v2_halted', 'resume_predecessor', 'v2_serving'), ('v2_halted', 'activate_successor', 'v2_serving'))",
	machines.ServingEpoch: "(from_state, edge, to_state) IN (" +
		"('prepared', 'verify', 'verified'), ('prepared', 'reject_prepared', 'rejected'), ('verified', 'reject_verified', 'rejected'), ('verified', 'activate_first', 'active'), ('verified', 'activate_successor', 'active'), ('active', 'drain', 'draining'), ('draining', 'retire', 'retired'))",
	machines.CredentialGenerationDispatchGate: "(from_state, edge, to_state) IN (" +
		"('enabled', 'revoke', 'revoked'), ('revoked', 'reenable', 'enabled'))",
	machines.ServingPublicationBarrierSet: "(from_state, edge, to_state) IN (" +
		"('acquiring', 'hold', 'held'), ('acquiring', 'release_acquiring_open', 'released'), ('acquiring', 'release_acquiring_restored', 'released'), ('acquiring', 'release_acquiring_early', 'released'), ('held', 'commit_activation', 'activation_committed'), ('held', 'release_held_open', 'released'), ('held', 'release_held_restored', 'released'), ('held', 'release_held_early', 'released'), ('activation_committed', 'release_after_readback', 'released'))",
	machines.ProjectionWindow: "(from_state, edge, to_state) IN (" +
		"('open', 'seal', 'sealed'), ('open', 'quarantine', 'quarantined'))",
	machines.Execution: "(from_state, edge, to_state) IN (" +
		"('ready', 'wait', 'waiting_dependency'), ('ready', 'complete', 'completed'), ('ready', 'quarantine_ready', 'quarantined'), ('waiting_dependency', 'resume', 'ready'), ('waiting_dependency', 'quarantine_waiting', 'quarantined'))",
	machines.ExecutionDependency: "(from_state, edge, to_state) IN (" +
		"('waiting', 'satisfy', 'satisfied'), ('waiting', 'expire', 'expired'), ('waiting', 'reject', 'rejected'))",
	machines.RemoteEffect: "(from_state, edge, to_state) IN (" +
		"('prepared', 'dispatch', 'dispatching'), ('prepared', 'quarantine_prepared', 'quarantined'), ('dispatching', 'confirm', 'remote_confirmed'), ('dispatching', 'settle_uncertain', 'uncertain'), ('dispatching', 'isolate_sending', 'uncertain'), ('dispatching', 'end_no_effect', 'no_effect'), ('dispatching', 'retry_no_effect', 'prepared'), ('dispatching', 'return_unsent', 'prepared'), ('uncertain', 'reconcile_confirmed', 'remote_confirmed'), ('uncertain', 'reconcile_no_effect', 'no_effect'), ('uncertain', 'quarantine_uncertain', 'quarantined'), ('uncertain', 'reconcile_retry', 'prepared'), ('uncertain', 'repeat_exactly', 'prepared'), ('remote_confirmed', 'finalize', 'finalized'))",
	machines.DispatchPermit: "(from_state, edge, to_state) IN (" +
		"('granted', 'begin_send', 'sending'), ('granted', 'abandon_isolated', 'abandoned'), ('granted', 'abandon_revoked', 'abandoned'), ('sending', 'settle', 'returned'), ('sending', 'abandon_sending', 'abandoned'))",
	machines.RemoteLink: "(from_state, edge, to_state) IN (" +
		"('active', 'retire', 'retired'))",
	machines.OwnerPublicationBarrier: "(from_state, edge, to_state) IN (" +
		"('open', 'hold', 'held'), ('held', 'release', 'open'))",
	machines.Receipt: "(from_state, edge, to_state) IN (" +
		"('pending', 'materialize', 'materialized'))",
	machines.Projection: "(from_state, edge, to_state) IN (" +
		"('waiting', 'mint', 'minted'), ('waiting', 'supersede', 'superseded'), ('waiting', 'quarantine', 'quarantined'))",
	machines.OrderingLane: "(from_state, edge, to_state) IN (" +
		"('free', 'take', 'taken'), ('taken', 'release', 'free'), ('taken', 'hold_failed', 'held'), ('taken', 'hold_closed', 'held'), ('taken', 'hold_unmet', 'held'))",
}
