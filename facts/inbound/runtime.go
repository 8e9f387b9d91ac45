package inbound

import (
	"bytes"
	"io"

	"connectorcore/facts"
	"connectorcore/facts/digest"
	"connectorcore/machines"
)

// CommandRef names one command of the Runtime, and the exact execution behind it. Command and Ref alone address a result;
// Account and Execution say where its refusals are to be looked at.
//
// Spec: Runtime-owned result.
type CommandRef struct {
	Account   facts.AccountID
	Execution facts.ExecutionID
	Command   facts.CommandID
	Ref       facts.ExecutionRefDigest
}

// RuntimeReceipt is the Runtime's proof that a command has its one result. Connector keeps its digest as the evidence of a
// completion, and never the result itself.
//
// Spec: Runtime-owned result ("Runtime commit receipt").
type RuntimeReceipt struct {
	Command facts.CommandID
	Ref     facts.ExecutionRefDigest
	Outcome machines.ApplicationResultState
	Result  facts.Digest // of ResultDigest
}

// The closed shapes of the Runtime's side. A shape is frozen from its first day: a change of meaning is a new label.
var (
	resultShape = digest.Declare("application-result",
		digest.OfBytes("payload"))
	receiptShape = digest.Declare("runtime-receipt",
		digest.OfID("command"), digest.OfSum("execution_ref"), digest.OfText("outcome"), digest.OfSum("result"))
)

// Shapes lists every declared shape, for docs/digests.md and its test.
func Shapes() []*digest.Shape {
	return []*digest.Shape{resultShape, receiptShape, groupingShape, windowMembersShape, routeDefinitionShape}
}

// ResultDigest is the digest of an application's own answer, exactly as it gave it. Zero bytes have a digest of their own;
// a profile that authors nothing has none.
func ResultDigest(profile facts.Profile, payload []byte) facts.Digest {
	return sum(resultShape.Begin(profile.String()).Bytes("payload", payload))
}

// Digest names the receipt. It is zero if a field of it is absent, or the profile authors nothing.
func (r RuntimeReceipt) Digest(profile facts.Profile) facts.Digest {
	return r.seal(profile, io.Discard)
}

// Canonical is the bytes whose SHA-256 the digest is: a remote Runtime signs or keeps these. It is empty where there is no
// digest.
func (r RuntimeReceipt) Canonical(profile facts.Profile) []byte {
	var canonical bytes.Buffer
	if r.seal(profile, &canonical).IsZero() {
		return nil
	}
	return canonical.Bytes()
}

func (r RuntimeReceipt) seal(profile facts.Profile, trace io.Writer) facts.Digest {
	w := receiptShape.BeginTo(profile.String(), trace).ID("command", r.Command).Sum("execution_ref", r.Ref.Digest)
	if r.Outcome.Valid() {
		w.Text("outcome", r.Outcome.String())
	}
	return sum(w.Sum("result", r.Result))
}

func sum(w *digest.Writer) facts.Digest {
	digest, err := w.End()
	if err != nil {
		return facts.Digest{} // a field is absent: what has no digest is never bound to a statement
	}
	return digest
}

// Receipt is the Runtime's receipt for the result.
func (r ApplicationResult) Receipt() RuntimeReceipt {
	return RuntimeReceipt{Command: r.Command, Ref: facts.ExecutionRefDigest{Digest: r.ExecutionRef}, Outcome: r.Outcome, Result: r.Result}
}
