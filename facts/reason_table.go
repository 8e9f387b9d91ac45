package facts

import "time"

// everySubject is each kind that has rows.
var everySubject = []SubjectKind{
	AccountSubject, EpochSubject, CredentialSubject, BarrierSubject, WindowSubject, ExecutionSubject,
	DependencySubject, EffectSubject, PermitSubject, LinkSubject, OwnerSubject, ReceiptSubject, ProjectionSubject, LaneSubject,
}

// quarantineReasons set a subject aside for good. Its facts stay as they are.
var quarantineReasons = map[Code]Reason{
	PositionTied: {Text: "position_tied", Owner: PackAuthor, Alert: 0,
		Evidence: OfLedger, Subjects: about(ProjectionSubject), Remedies: allow(CorrectGeneration, AuthoriseReplay),
		Meaning: "two inputs of a partition stand at one position with one tie-breaker and differ, so that neither is the later one"},
	SequenceGap: {Text: "sequence_gap", Owner: Operator, Alert: 0,
		Evidence: OfLedger, Subjects: about(ProjectionSubject), Remedies: allow(AuthoriseReplay, LeaveUnsupported),
		Meaning: "the positions before this one had not come when its deadline was acted on, with no earlier input left to read"},
	WindowOverLimit: {Text: "window_over_limit", Owner: PackAuthor, Alert: 0,
		Evidence: OfLedger, Subjects: about(WindowSubject), Remedies: allow(CorrectGeneration, AuthoriseReplay),
		Meaning: "the window would exceed its frozen size"},
	WindowAmbiguous: {Text: "window_ambiguous", Owner: PackAuthor, Alert: 0,
		Evidence: OfLedger, Subjects: about(WindowSubject), Remedies: allow(CorrectGeneration, AuthoriseReplay),
		Meaning: "the window's members do not make one input under its definition"},
	DependencyExpired: {Text: "dependency_expired", Owner: Operator, Alert: 0,
		Evidence: OfLedger, Subjects: about(DependencySubject, ExecutionSubject), Remedies: allow(AuthoriseReplay, LeaveUnsupported),
		Meaning: "the required fact had not come when its deadline was acted on, with no earlier input left to read"},
	DependencyRejected: {Text: "dependency_rejected", Owner: Operator, Alert: 0,
		Evidence: OfLedger, Subjects: about(DependencySubject, ExecutionSubject), Remedies: allow(AuthoriseReplay, LeaveUnsupported),
		Meaning: "the required fact came and does not satisfy the requirement"},
	ExecutionExhausted: {Text: "execution_exhausted", Owner: RuntimeOwner, Alert: 0,
		Evidence: OfLedger, Subjects: about(ExecutionSubject), Remedies: allow(CorrectGeneration, AuthoriseReplay),
		Meaning: "the last allowed attempt ended without a result and the command was closed for good"},
	ExecutionReferenceMissing: {Text: "execution_reference_missing", Owner: ConfigurationOwner, Alert: 0,
		Evidence: OfLedger, Subjects: about(ExecutionSubject), Remedies: allow(CorrectGeneration, AuthoriseReplay),
		Meaning: "an exact generation that the execution names cannot be read, and no current one stands in for it"},
	ResultContradicts: {Text: "result_contradicts", Owner: RuntimeOwner, Alert: 0,
		Evidence: OfLedger, Subjects: about(ExecutionSubject), Remedies: allow(AppendEvidence, ReportDefect),
		Meaning: "two result receipts of one command differ"},
	EffectUnresolvable: {Text: "effect_unresolvable", Owner: Operator, Alert: 0,
		Evidence: OfLedger, Subjects: about(EffectSubject), Remedies: allow(AppendEvidence, LeaveUnsupported),
		Meaning: "what the provider did cannot be established by any query of the frozen contract"},
	EffectReferenceGone: {Text: "effect_reference_gone", Owner: CredentialAuthority, Alert: 10 * time.Minute,
		Evidence: OfLedger, Subjects: about(EffectSubject), Remedies: allow(CorrectGeneration, LeaveUnsupported),
		Meaning: "an exact reference of the frozen binding no longer exists, and dispatch does not fall forward"},
}

// reasons is the closed table, one row a code. A test asserts that no row is empty and none is declared twice.
var reasons = joinReasons()

func joinReasons() (joined [codes]Reason) {
	for class, tables := range reasonTables {
		for _, table := range tables {
			for code, reason := range table {
				reason.Code, reason.Class = code, Class(class)
				joined[code] = reason
			}
		}
	}
	return joined
}

// reasonTables are the parts of the table by the class of their rows.
var reasonTables = [...][]map[Code]Reason{
	Unstarted:   {startReasons},
	Refused:     {inputReasons, extractReasons, servingReasons, stateReasons, effectReasons},
	Halted:      {haltReasons},
	Quarantined: {quarantineReasons},
}

func about(kinds ...SubjectKind) []SubjectKind { return kinds }

func allow(remedies ...Remedy) []Remedy { return remedies }
