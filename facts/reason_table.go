package facts

import "time"

// everySubject is each kind that has rows.
var everySubject = []SubjectKind{
	AccountSubject, EpochSubject, CredentialSubject, BarrierSubject, WindowSubject, ExecutionSubject,
	DependencySubject, EffectSubject, PermitSubject, LinkSubject,
}

// quarantineReasons set a subject aside for good. Its facts stay as they are.
var quarantineReasons = map[Code]Reason{
	WindowOverLimit: {
		Text: "window_over_limit", Class: Quarantined, Owner: PackAuthor,
		Subjects: []SubjectKind{WindowSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{CorrectGeneration, AuthoriseReplay},
		Meaning:  "the window would exceed its frozen size",
	},
	WindowAmbiguous: {
		Text: "window_ambiguous", Class: Quarantined, Owner: PackAuthor,
		Subjects: []SubjectKind{WindowSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{CorrectGeneration, AuthoriseReplay},
		Meaning:  "the window's members do not make one input under its definition",
	},
	DependencyExpired: {
		Text: "dependency_expired", Class: Quarantined, Owner: Operator,
		Subjects: []SubjectKind{DependencySubject, ExecutionSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{AuthoriseReplay, LeaveUnsupported},
		Meaning:  "the required fact had not come when its deadline was acted on, with no earlier input left to read",
	},
	DependencyRejected: {
		Text: "dependency_rejected", Class: Quarantined, Owner: Operator,
		Subjects: []SubjectKind{DependencySubject, ExecutionSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{AuthoriseReplay, LeaveUnsupported},
		Meaning:  "the required fact came and does not satisfy the requirement",
	},
	ExecutionExhausted: {
		Text: "execution_exhausted", Class: Quarantined, Owner: RuntimeOwner,
		Subjects: []SubjectKind{ExecutionSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{CorrectGeneration, AuthoriseReplay},
		Meaning:  "the last allowed attempt ended without a result and the command was closed for good",
	},
	ExecutionReferenceMissing: {
		Text: "execution_reference_missing", Class: Quarantined, Owner: ConfigurationOwner,
		Subjects: []SubjectKind{ExecutionSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{CorrectGeneration, AuthoriseReplay},
		Meaning:  "an exact generation that the execution names cannot be read, and no current one stands in for it",
	},
	ResultContradicts: {
		Text: "result_contradicts", Class: Quarantined, Owner: RuntimeOwner,
		Subjects: []SubjectKind{ExecutionSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{AppendEvidence, ReportDefect},
		Meaning:  "two result receipts of one command differ",
	},
	EffectUnresolvable: {
		Text: "effect_unresolvable", Class: Quarantined, Owner: Operator,
		Subjects: []SubjectKind{EffectSubject}, Evidence: OfLedger, Alert: 0,
		Remedies: []Remedy{AppendEvidence, LeaveUnsupported},
		Meaning:  "what the provider did cannot be established by any query of the frozen contract",
	},
	EffectReferenceGone: {
		Text: "effect_reference_gone", Class: Quarantined, Owner: CredentialAuthority,
		Subjects: []SubjectKind{EffectSubject}, Evidence: OfLedger, Alert: 10 * time.Minute,
		Remedies: []Remedy{CorrectGeneration, LeaveUnsupported},
		Meaning:  "an exact reference of the frozen binding no longer exists, and dispatch does not fall forward",
	},
}

// reasons is the closed table, one row a code. A test asserts that no row is empty and none is declared twice.
var reasons = joinReasons(startReasons, inputReasons, servingReasons, stateReasons, effectReasons, haltReasons, quarantineReasons)

func joinReasons(tables ...map[Code]Reason) (joined [codes]Reason) {
	for _, table := range tables {
		for code, reason := range table {
			joined[code] = reason
		}
	}
	return joined
}
