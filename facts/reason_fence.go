package facts

import "time"

// servingReasons refuse an item for the gate, epoch and credential under which it was prepared. Fences come first
// and business after them.
var servingReasons = map[Code]Reason{
	NotServing: {
		Text: "not_serving", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{AccountSubject}, Evidence: OfGuard, Alert: 5 * time.Minute,
		Remedies: []Remedy{RunAgain},
		Meaning:  "the account's gate stands in a mode in which this kind of transaction is not legal",
	},
	StaleFence: {
		Text: "stale_fence", Class: Refused, Owner: Caller,
		Subjects: []SubjectKind{AccountSubject}, Evidence: OfLedger, Alert: NoAlert,
		Remedies: []Remedy{PrepareAgain},
		Meaning:  "the account's gate has moved since the item was prepared",
	},
	EpochMismatch: {
		Text: "epoch_mismatch", Class: Refused, Owner: Caller,
		Subjects: []SubjectKind{AccountSubject, EpochSubject}, Evidence: OfGuard, Alert: NoAlert,
		Remedies: []Remedy{PrepareAgain},
		Meaning:  "the gate names another epoch id or digest than the item",
	},
	EpochNotActive: {
		Text: "epoch_not_active", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{EpochSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{RunAgain},
		Meaning:  "the epoch is not in the one state under which production work is legal",
	},
	ShareMissing: {
		Text: "share_missing", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{AccountSubject}, Evidence: OfGuard, Alert: 0,
		Remedies: []Remedy{CorrectGeneration},
		Meaning:  "the account is not in the frozen set of the epoch",
	},
	ShareSetDiffers: {
		Text: "share_set_differs", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{EpochSubject}, Evidence: OfGuard, Alert: 0,
		Remedies: []Remedy{CorrectGeneration},
		Meaning:  "the epoch's shares differ in count or digest from those it was prepared with",
	},
	Revoked: {
		Text: "revoked", Class: Refused, Owner: CredentialAuthority,
		Subjects: []SubjectKind{CredentialSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{ReenableCredential},
		Meaning:  "the exact credential generation is revoked, and no other one stands in for it",
	},
	StaleCredentialFence: {
		Text: "stale_credential_fence", Class: Refused, Owner: Caller,
		Subjects: []SubjectKind{CredentialSubject}, Evidence: OfLedger, Alert: NoAlert,
		Remedies: []Remedy{PrepareAgain},
		Meaning:  "the credential's gate has moved since the permit copied its fence",
	},
	BindingMismatch: {
		Text: "binding_mismatch", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{EffectSubject}, Evidence: OfGuard, Alert: 0,
		Remedies: []Remedy{CorrectGeneration},
		Meaning:  "a reference differs from the frozen dispatch binding, and nothing current is put in its place",
	},
	StaleHolder: {
		Text: "stale_holder", Class: Refused, Owner: Caller,
		Subjects: []SubjectKind{ExecutionSubject, EffectSubject, PermitSubject, BarrierSubject}, Evidence: OfGuard, Alert: NoAlert,
		Remedies: []Remedy{PrepareAgain},
		Meaning:  "another holder or a later claim has this subject",
	},
	LeaseHeld: {
		Text: "lease_held", Class: Refused, Owner: Caller,
		Subjects: []SubjectKind{ExecutionSubject, EffectSubject}, Evidence: OfGuard, Alert: NoAlert,
		Remedies: []Remedy{RunAgain},
		Meaning:  "a lease on the subject has not run out by the database's clock",
	},
}

// stateReasons refuse an item for where its subject stands.
var stateReasons = map[Code]Reason{
	SubjectMissing: {
		Text: "subject_missing", Class: Refused, Owner: Caller,
		Subjects: everySubject, Evidence: OfGuard, Alert: NoAlert,
		Remedies: []Remedy{CorrectInput},
		Meaning:  "no fact has this exact key",
	},
	SubjectEnded: {
		Text: "subject_ended", Class: Refused, Owner: Caller,
		Subjects: everySubject, Evidence: OfLedger, Alert: NoAlert,
		Remedies: []Remedy{CorrectInput},
		Meaning:  "the subject has ended, and no edge leaves a terminal state",
	},
	WrongState: {
		Text: "wrong_state", Class: Refused, Owner: Caller,
		Subjects: everySubject, Evidence: OfLedger, Alert: NoAlert,
		Remedies: []Remedy{PrepareAgain},
		Meaning:  "the subject does not stand in the state that the edge leaves",
	},
	ContentDiffers: {
		Text: "content_differs", Class: Refused, Owner: Caller,
		Subjects: append([]SubjectKind{InputSubject}, everySubject...), Evidence: OfGuard, Alert: 0,
		Remedies: []Remedy{CorrectInput, ReportDefect},
		Meaning:  "a fact with this exact key stands already and its bytes differ",
	},
	ConformanceOnly: {
		Text: "conformance_only", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{AccountSubject, EpochSubject}, Evidence: OfGuard, Alert: 0,
		Remedies: []Remedy{CorrectInput},
		Meaning:  "only a conformance deployment may walk this edge without a predecessor",
	},
	PermitsOpen: {
		Text: "permits_open", Class: Refused, Owner: DispatchOwner,
		Subjects: []SubjectKind{AccountSubject},
		Evidence: "SELECT * FROM dispatch_permit_head WHERE account_id = ?",
		Alert:    5 * time.Minute, Remedies: []Remedy{LetDrain, IsolateHolder},
		Meaning: "the account's open set is not empty, so provider I/O is still possible",
	},
	WorkOpen: {
		Text: "work_open", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{WindowSubject, ExecutionSubject, DependencySubject, EffectSubject, PermitSubject},
		Evidence: OfGuard, Alert: 15 * time.Minute,
		Remedies: []Remedy{LetDrain, Reconcile},
		Meaning:  "a nonterminal subject still has its head",
	},
	BarrierNotHeld: {
		Text: "barrier_not_held", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{BarrierSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{ReleaseBarrier, RunAgain},
		Meaning:  "the publication barriers are not all held by this attempt",
	},
	BarrierReceiptDiffers: {
		Text: "barrier_receipt_differs", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{BarrierSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{ReleaseBarrier},
		Meaning:  "an owner's barrier receipt differs from the one that was frozen",
	},
	OwnerUnavailable: {
		Text: "owner_unavailable", Class: Refused, Owner: CatalogOwner,
		Subjects: []SubjectKind{EpochSubject, BarrierSubject}, Evidence: OfGuard, Alert: 15 * time.Minute,
		Remedies: []Remedy{RunAgain},
		Meaning:  "an outside owner gave no answer, which decides nothing",
	},
	OwnerDisagrees: {
		Text: "owner_disagrees", Class: Refused, Owner: ConfigurationOwner,
		Subjects: []SubjectKind{EpochSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{CorrectGeneration},
		Meaning:  "an outside owner's exact generation is absent or differs, so the candidate epoch is to be rejected",
	},
}
