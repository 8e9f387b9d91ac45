package facts

// extractReasons are why a body, a component or an event of it cannot be read under its pack. Whatever was admitted
// stays admitted: the code is the verdict on the component, and a corrected pack reads the same bytes in a replay.
var extractReasons = map[Code]Reason{
	BodyTooLarge: {Text: "body_too_large", Owner: Caller, Alert: NoAlert,
		Evidence: NothingStored, Subjects: about(InputSubject), Remedies: allow(CorrectInput, CorrectGeneration),
		Meaning: "the body has more bytes than its channel takes"},
	BodyUnreadable: {Text: "body_unreadable", Owner: Caller, Alert: 0,
		Evidence: NothingStored, Subjects: about(InputSubject), Remedies: allow(CorrectInput, LeaveUnsupported),
		Meaning: "the body is not the strict JSON that its channel declares: valid UTF-8, no name twice in one object"},
	BodyTooDeep: {Text: "body_too_deep", Owner: Caller, Alert: 0,
		Evidence: NothingStored, Subjects: about(InputSubject), Remedies: allow(CorrectInput, CorrectGeneration),
		Meaning: "the body is nested deeper than its channel takes"},
	ComponentsMissing: {Text: "components_missing", Owner: PackAuthor, Alert: 0,
		Evidence: NothingStored, Subjects: about(InputSubject), Remedies: allow(CorrectGeneration, AuthoriseReplay),
		Meaning: "the list of components does not stand where the channel says"},
	ComponentsTooMany: {Text: "components_too_many", Owner: PackAuthor, Alert: 0,
		Evidence: NothingStored, Subjects: about(InputSubject), Remedies: allow(CorrectInput, CorrectGeneration),
		Meaning: "one body has more components than its channel takes"},
	EventUnmatched: {Text: "event_unmatched", Owner: PackAuthor, Alert: 0,
		Evidence: NothingStored, Subjects: about(InputSubject), Remedies: allow(CorrectGeneration, AuthoriseReplay, LeaveUnsupported),
		Meaning: "no event of the channel describes the component"},
	ExpressionFailed: {Text: "expression_failed", Owner: PackAuthor, Alert: 0,
		Evidence: NothingStored, Subjects: about(InputSubject), Remedies: allow(CorrectGeneration, AuthoriseReplay),
		Meaning: "an expression of the pack has no result for this input"},
	ExpressionTypeDiffers: {Text: "expression_type_differs", Owner: PackAuthor, Alert: 0,
		Evidence: NothingStored, Subjects: about(InputSubject), Remedies: allow(CorrectGeneration, AuthoriseReplay),
		Meaning: "an expression of the pack gives another kind of value than its place takes"},
	ExpressionTooCostly: {Text: "expression_too_costly", Owner: PackAuthor, Alert: 0,
		Evidence: NothingStored, Subjects: about(InputSubject), Remedies: allow(CorrectGeneration, AuthoriseReplay),
		Meaning: "an expression of the pack exceeds its frozen cost limit for this input"},
}
