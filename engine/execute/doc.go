// Package execute hands commands to the application and brings back its one result of each. It knows what a command is and
// what a result proves; it claims nothing and completes nothing.
//
// A Runtime is the port. InDatabase runs a Go handler in one transaction with the result, in the application's own database
// of the same cluster. Remote speaks to an application elsewhere. The package conformance is what both, and any other,
// must pass.
//
// # The protocol of a remote application
//
// Bodies are JSON objects. Ids are UUIDs; digests are lower-case hex of 32 bytes; input and result are base64.
//
//	POST {base}/commands                                    submits
//	GET  {base}/commands/{command}?execution_ref={digest}   asks for the result
//	POST {base}/commands/{command}/close?execution_ref=...  records failed, unless there is a result
//
// What is submitted has command, execution_ref, account, execution, definition, definition_version, attempt (from 1), replay
// and input. The application commits its behaviour and its result in one transaction, once for each command: submitted
// again under the same execution_ref, it answers with the result that it has.
//
// It answers 200 with command, execution_ref, outcome (applied, noop, rejected, failed), result, result_digest and receipt,
// the digests being those of docs/digests.md; 404 if there is no result under this command and this execution_ref, whether
// or not there is one under another; and 422 with a text failure if a submission failed and nothing of it was committed or
// ever will be. Every other answer, and none, leaves the outcome unknown: the command is submitted again, or asked for.
//
// outbound is a list of intents, which a remote application may not author: they would have to commit with its behaviour,
// and cannot. A result that carries one is refused (R30).
//
// After close was answered with failed, nothing of that command may commit.
//
// Rules R26 to R30. Spec: Runtime-owned result.
package execute
