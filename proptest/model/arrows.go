package model

// Arrow is one transition as the spec draws or describes it, typed by hand from its text and not from the table of
// the machines room: the two are each other's check.
type Arrow struct{ From, Edge, To string }

// Arrows are the transitions of every machine of the spec's section "State machines", by the machine's name. Where
// the text gives several proofs for one pair of states there is an arrow for each.
var Arrows = map[string][]Arrow{
	"AccountServingGate": {
		{"v1_serving", "begin_v1_halt", "halting_v1"},
		{"halting_v1", "abort_v1_halt", "v1_serving"}, {"halting_v1", "stop_v1", "v1_stopped"},
		{"v1_stopped", "certify_v1_drain", "v1_drained"},
		{"v1_drained", "cold_abort", "v1_serving"}, {"v1_drained", "resume_restored_v1", "v1_serving"},
		{"v1_drained", "begin_v2_validation", "v2_validating"},
		{"v2_validating", "restore_v1_point", "v1_drained"}, {"v2_validating", "activate_first", "v2_serving"},
		{"v2_serving", "begin_v2_halt", "halting_v2"}, {"halting_v2", "confirm_v2_halt", "v2_halted"},
		{"v2_halted", "resume_predecessor", "v2_serving"}, {"v2_halted", "activate_successor", "v2_serving"},
	},
	"ServingEpoch": {
		{"prepared", "verify", "verified"}, {"prepared", "reject_prepared", "rejected"},
		{"verified", "activate_first", "active"}, {"verified", "activate_successor", "active"},
		{"verified", "reject_verified", "rejected"},
		{"active", "drain", "draining"}, {"draining", "retire", "retired"},
	},
	"CredentialGenerationDispatchGate": {
		{"enabled", "revoke", "revoked"}, {"revoked", "reenable", "enabled"},
	},
	"ServingPublicationBarrierSet": {
		{"acquiring", "hold", "held"},
		{"acquiring", "release_acquiring_open", "released"}, {"acquiring", "release_acquiring_restored", "released"},
		{"acquiring", "release_acquiring_early", "released"},
		{"held", "commit_activation", "activation_committed"},
		{"held", "release_held_open", "released"}, {"held", "release_held_restored", "released"}, {"held", "release_held_early", "released"},
		{"activation_committed", "release_after_readback", "released"},
	},
	"ProjectionWindow": {{"open", "seal", "sealed"}, {"open", "quarantine", "quarantined"}},
	"Execution": {
		{"ready", "wait", "waiting_dependency"}, {"ready", "complete", "completed"}, {"ready", "quarantine_ready", "quarantined"},
		{"waiting_dependency", "resume", "ready"}, {"waiting_dependency", "quarantine_waiting", "quarantined"},
	},
	"ExecutionDependency": {{"waiting", "satisfy", "satisfied"}, {"waiting", "expire", "expired"}, {"waiting", "reject", "rejected"}},
	"ApplicationResult":   {},
	"RemoteEffect": {
		{"prepared", "dispatch", "dispatching"}, {"prepared", "quarantine_prepared", "quarantined"},
		{"dispatching", "confirm", "remote_confirmed"},
		{"dispatching", "settle_uncertain", "uncertain"}, {"dispatching", "isolate_sending", "uncertain"},
		{"dispatching", "end_no_effect", "no_effect"},
		{"dispatching", "retry_no_effect", "prepared"}, {"dispatching", "return_unsent", "prepared"},
		{"uncertain", "reconcile_confirmed", "remote_confirmed"}, {"uncertain", "reconcile_no_effect", "no_effect"},
		{"uncertain", "quarantine_uncertain", "quarantined"},
		{"uncertain", "reconcile_retry", "prepared"}, {"uncertain", "repeat_exactly", "prepared"},
		{"remote_confirmed", "finalize", "finalized"},
	},
	"DispatchPermit": {
		{"granted", "begin_send", "sending"},
		{"granted", "abandon_isolated", "abandoned"}, {"granted", "abandon_revoked", "abandoned"},
		{"sending", "settle", "returned"}, {"sending", "abandon_sending", "abandoned"},
	},
	"RemoteLink": {{"active", "retire", "retired"}},
	// Ours, for "only an explicit fenced release may reopen publication" (section "Ownership boundaries").
	"OwnerPublicationBarrier": {{"open", "hold", "held"}, {"held", "release", "open"}},
	// Ours: what is open of a Receipt until its children stand, and of a Projection until it is decided (section
	// "Inbound facts", and the append-only superseded decisions of "Durable source ordering").
	"Receipt":    {{"pending", "materialize", "materialized"}},
	"Projection": {{"waiting", "mint", "minted"}, {"waiting", "supersede", "superseded"}, {"waiting", "quarantine", "quarantined"}},
	// Ours: whether the next input of a partition may be taken (section "Durable source ordering": at most one active
	// Execution, and nothing released by a failure).
	"OrderingLane": {
		{"free", "take", "taken"}, {"taken", "release", "free"},
		{"taken", "hold_failed", "held"}, {"taken", "hold_closed", "held"}, {"taken", "hold_unmet", "held"},
	},
	"CutoverDecision": {
		{"rollback_open", "choose_activation", "activating_v2"}, {"activating_v2", "commit_activation", "v2_committed"},
		{"rollback_open", "choose_restore", "restoring_v1"}, {"restoring_v1", "commit_restore", "v1_restored"},
	},
}

// Births are the states in which the spec lets a subject of each machine begin.
var Births = map[string][]string{
	"AccountServingGate":               {"v1_serving"},
	"ServingEpoch":                     {"prepared"},
	"CredentialGenerationDispatchGate": {"enabled"},
	"ServingPublicationBarrierSet":     {"acquiring"},
	"ProjectionWindow":                 {"open"},
	"Execution":                        {"ready"},
	"ExecutionDependency":              {"waiting"},
	"ApplicationResult":                {"applied", "noop", "rejected", "failed"},
	"RemoteEffect":                     {"prepared"},
	"DispatchPermit":                   {"granted"},
	"RemoteLink":                       {"active"},
	"CutoverDecision":                  {"rollback_open"},
	"OwnerPublicationBarrier":          {"open"},
	"Receipt":                          {"pending"},
	"Projection":                       {"waiting"},
	"OrderingLane":                     {"free"},
}
