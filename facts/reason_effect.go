package facts

import "time"

// effectReasons refuse an item of the outbound chain and of results.
var effectReasons = map[Code]Reason{
	PredecessorOpen: {
		Text: "predecessor_open", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{EffectSubject}, Evidence: OfLedger, Alert: NoAlert,
		Remedies: []Remedy{Reconcile, LetDrain},
		Meaning:  "an earlier effect of the same root and slot has not ended",
	},
	PredecessorHadEffect: {
		Text: "predecessor_had_effect", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{EffectSubject}, Evidence: OfLedger, Alert: NoAlert,
		Remedies: []Remedy{CorrectInput},
		Meaning:  "an earlier effect of the same root and slot took place at the remote side",
	},
	RepeatNotAllowed: {
		Text: "repeat_not_allowed", Class: Refused, Owner: PackAuthor,
		Subjects: []SubjectKind{EffectSubject}, Evidence: OfLedger, Alert: NoAlert,
		Remedies: []Remedy{Reconcile, AuthoriseSuccessor},
		Meaning:  "the frozen contract does not make an exact repeat harmless",
	},
	RepeatTooLate: {
		Text: "repeat_too_late", Class: Refused, Owner: DispatchOwner,
		Subjects: []SubjectKind{EffectSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{Reconcile},
		Meaning:  "the provider may have forgotten the idempotency key of the first send",
	},
	NoEffectUnproved: {
		Text: "no_effect_unproved", Class: Refused, Owner: DispatchOwner,
		Subjects: []SubjectKind{EffectSubject}, Evidence: OfLedger, Alert: NoAlert,
		Remedies: []Remedy{Reconcile, AppendEvidence},
		Meaning:  "the evidence does not prove that the provider did nothing",
	},
	IsolationUnproved: {
		Text: "isolation_unproved", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{PermitSubject}, Evidence: OfGuard, Alert: 5 * time.Minute,
		Remedies: []Remedy{IsolateHolder},
		Meaning:  "nothing proves that the holder has ended and can no longer send",
	},
	ResultMissing: {
		Text: "result_missing", Class: Refused, Owner: RuntimeOwner,
		Subjects: []SubjectKind{ExecutionSubject}, Evidence: OfLedger, Alert: NoAlert,
		Remedies: []Remedy{RunAgain},
		Meaning:  "no result receipt stands under this command id and execution reference digest",
	},
	RemoteIntentsRefused: {
		Text: "remote_intents_refused", Class: Refused, Owner: RuntimeOwner,
		Subjects: []SubjectKind{ExecutionSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{CorrectGeneration},
		Meaning:  "a remote application's result carries outbound intents, which it may not author",
	},
	LinkTaken: {
		Text: "link_taken", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{LinkSubject}, Evidence: OfGuard, Alert: 0,
		Remedies: []Remedy{RetireLink},
		Meaning:  "an active link already joins the remote identity or the owner slot to another one",
	},
}

// haltReasons hold a subject in a nonterminal state. Time alone ends none of them.
var haltReasons = map[Code]Reason{
	GateHalted: {
		Text: "gate_halted", Class: Halted, Owner: Operator,
		Subjects: []SubjectKind{AccountSubject}, Evidence: OfLedger, Alert: 15 * time.Minute,
		Remedies: []Remedy{RunAgain, CorrectGeneration},
		Meaning:  "the account was halted and accepts nothing",
	},
	GateDraining: {
		Text: "gate_draining", Class: Halted, Owner: DispatchOwner,
		Subjects: []SubjectKind{AccountSubject},
		Evidence: "SELECT * FROM dispatch_permit_head WHERE account_id = ?",
		Alert:    5 * time.Minute, Remedies: []Remedy{LetDrain, IsolateHolder},
		Meaning: "the account is halting and open permits keep it from being halted",
	},
	StoreBehindWitness: {
		Text: "store_behind_witness", Class: Halted, Owner: Operator,
		Subjects: []SubjectKind{AccountSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{Reconcile},
		Meaning:  "the database is behind its witness, as a restored copy is, so calls may have been made that it does not know",
	},
	EpochUnverified: {
		Text: "epoch_unverified", Class: Halted, Owner: CatalogOwner,
		Subjects: []SubjectKind{EpochSubject}, Evidence: OfLedger, Alert: time.Hour,
		Remedies: []Remedy{RunAgain, CorrectGeneration},
		Meaning:  "a candidate epoch waits for an outside owner's answer",
	},
	BarrierHeld: {
		Text: "barrier_held", Class: Halted, Owner: Operator,
		Subjects: []SubjectKind{BarrierSubject}, Evidence: OfLedger, Alert: 15 * time.Minute,
		Remedies: []Remedy{RunAgain, ReleaseBarrier},
		Meaning:  "publication barriers stay held and keep their owners from publishing",
	},
	CredentialRevoked: {
		Text: "credential_revoked", Class: Halted, Owner: CredentialAuthority,
		Subjects: []SubjectKind{CredentialSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{ReenableCredential},
		Meaning:  "work is frozen to a credential generation that is revoked",
	},
	ExecutionWaiting: {
		Text: "execution_waiting", Class: Halted, Owner: Operator,
		Subjects: []SubjectKind{ExecutionSubject, DependencySubject}, Evidence: OfGuard, Alert: time.Hour,
		Remedies: []Remedy{LetDrain, AppendEvidence},
		Meaning:  "an execution waits for a fact that has not come",
	},
	ExecutionFailing: {
		Text: "execution_failing", Class: Halted, Owner: RuntimeOwner,
		Subjects: []SubjectKind{ExecutionSubject}, Evidence: OfGuard, Alert: 15 * time.Minute,
		Remedies: []Remedy{LetDrain, CorrectGeneration},
		Meaning:  "an execution's attempts end without a result, and it releases nothing behind it",
	},
	EffectUncertain: {
		Text: "effect_uncertain", Class: Halted, Owner: DispatchOwner,
		Subjects: []SubjectKind{EffectSubject}, Evidence: OfLedger, Alert: 15 * time.Minute,
		Remedies: []Remedy{Reconcile, AppendEvidence},
		Meaning:  "the provider may or may not have done it, and that is known",
	},
	EffectBlocked: {
		Text: "effect_blocked", Class: Halted, Owner: DispatchOwner,
		Subjects: []SubjectKind{EffectSubject}, Evidence: OfGuard, Alert: 15 * time.Minute,
		Remedies: []Remedy{LetDrain, Reconcile},
		Meaning:  "an earlier effect of the same order key has not ended",
	},
	EffectReferenceMissing: {
		Text: "effect_reference_missing", Class: Halted, Owner: CredentialAuthority,
		Subjects: []SubjectKind{EffectSubject}, Evidence: OfGuard, Alert: 0,
		Remedies: []Remedy{ReenableCredential, CorrectGeneration},
		Meaning:  "an exact reference of the frozen binding cannot be read",
	},
	EvidenceContradicts: {
		Text: "evidence_contradicts", Class: Halted, Owner: Operator,
		Subjects: []SubjectKind{EffectSubject, PermitSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{AppendEvidence, HaltGate, ReportDefect},
		Meaning:  "late evidence contradicts an earlier proof, and both are kept",
	},
	PermitOpen: {
		Text: "permit_open", Class: Halted, Owner: Operator,
		Subjects: []SubjectKind{PermitSubject}, Evidence: OfGuard, Alert: 5 * time.Minute,
		Remedies: []Remedy{LetDrain, RevokeCredential, IsolateHolder},
		Meaning:  "a permit stays open longer than a call may take",
	},
	LinkConflict: {
		Text: "link_conflict", Class: Halted, Owner: Operator,
		Subjects: []SubjectKind{EffectSubject, LinkSubject}, Evidence: OfGuard, Alert: 0,
		Remedies: []Remedy{RetireLink, AppendEvidence},
		Meaning:  "the effect is confirmed, but its remote identity or owner slot has another active link",
	},
}
