package facts

import (
	"bytes"

	"connectorcore/machines"

	"github.com/cockroachdb/errors"
	"github.com/vmihailenco/msgpack/v5"
)

// MaxEvidence bounds one transition's evidence, in bytes.
const MaxEvidence = 1 << 20

// EvidenceBody is what a proof consists of: a struct whose fields are stored in their order, as a msgpack array. A
// field is never removed or moved; another shape is another version.
type EvidenceBody interface {
	Proof() machines.Proof
	Version() uint16
}

// Evidence is what a ledger row keeps of a transition's proof. Only Prove makes one, so that evidence always says
// what it proves.
type Evidence struct {
	proof machines.Proof
	body  []byte
}

// Prove encodes a proof: an array of its name, its version and its fields. Digests are never taken over these bytes.
func Prove(body EvidenceBody) (Evidence, error) {
	if body.Proof().Says() == "" {
		return Evidence{}, errors.AssertionFailedf("evidence for %q, which is no proof", body.Proof())
	}
	var b bytes.Buffer
	encoder := msgpack.NewEncoder(&b)
	encoder.UseArrayEncodedStructs(true)
	encoder.UseCompactInts(true)
	if err := encoder.EncodeMulti(string(body.Proof()), body.Version(), body); err != nil {
		return Evidence{}, errors.Wrapf(err, "evidence for %s", body.Proof())
	}
	if b.Len() > MaxEvidence {
		return Evidence{}, errors.AssertionFailedf("evidence for %s has %d bytes, more than %d", body.Proof(), b.Len(), MaxEvidence)
	}
	return Evidence{body.Proof(), b.Bytes()}, nil
}

// Proof is what the evidence proves; empty if it is no evidence.
func (e Evidence) Proof() machines.Proof { return e.proof }

// Bytes are the stored form.
func (e Evidence) Bytes() []byte { return bytes.Clone(e.body) }

// ReadEvidence decodes stored evidence into a body of the same proof and version.
func ReadEvidence(stored []byte, into EvidenceBody) error {
	decoder := msgpack.NewDecoder(bytes.NewReader(stored))
	proof, err := decoder.DecodeString()
	if err != nil {
		return errors.Wrap(err, "stored evidence: its proof")
	}
	version, err := decoder.DecodeUint16()
	if err != nil {
		return errors.Wrapf(err, "stored evidence for %s: its version", proof)
	}
	if machines.Proof(proof) != into.Proof() || version != into.Version() {
		return errors.Newf("stored evidence is for %s version %d, not for %s version %d", proof, version, into.Proof(), into.Version())
	}
	return errors.Wrapf(decoder.Decode(into), "stored evidence for %s", proof)
}
