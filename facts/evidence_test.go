package facts

import (
	"bytes"
	"encoding/hex"
	"testing"

	"connectorcore/machines"

	"github.com/cockroachdb/errors"
)

// halting is evidence in two versions, told apart by the test.
type halting struct {
	version   uint16
	proof     machines.Proof
	Principal string
	Permits   uint32
	Note      []byte
}

func (h *halting) Proof() machines.Proof { return h.proof }
func (h *halting) Version() uint16       { return h.version }

func TestEvidenceIsAnArrayOfProofVersionAndFields(t *testing.T) {
	body := &halting{version: 1, proof: "authorized_halt", Principal: "operator", Permits: 2, Note: []byte{0}}
	evidence, err := Prove(body)
	if err != nil || evidence.Proof() != "authorized_halt" {
		t.Fatalf("%q, %v", evidence.Proof(), err)
	}
	// A string, a small number, an array of three: frozen, because the rows outlive the code.
	const want = "af617574686f72697a65645f68616c74" + "01" + "93" + "a86f70657261746f72" + "02" + "c40100"
	if got := hex.EncodeToString(evidence.Bytes()); got != want {
		t.Errorf("stored as %s, want %s", got, want)
	}
	read := &halting{version: 1, proof: "authorized_halt"}
	if err := ReadEvidence(evidence.Bytes(), read); err != nil || read.Principal != "operator" || read.Permits != 2 || !bytes.Equal(read.Note, []byte{0}) {
		t.Errorf("read back as %+v, %v", read, err)
	}
	evidence.Bytes()[0] = 0
	if evidence.Bytes()[0] == 0 {
		t.Error("the stored bytes can be changed from outside")
	}
}

func TestEvidenceOfAnotherProofOrVersionIsNotRead(t *testing.T) {
	evidence, err := Prove(&halting{version: 1, proof: "authorized_halt"})
	if err != nil {
		t.Fatal(err)
	}
	for name, into := range map[string]*halting{
		"another version": {version: 2, proof: "authorized_halt"},
		"another proof":   {version: 1, proof: "open_set_empty"},
	} {
		if err := ReadEvidence(evidence.Bytes(), into); err == nil {
			t.Errorf("%s: was read", name)
		}
	}
	for cut := range evidence.Bytes() {
		if err := ReadEvidence(evidence.Bytes()[:cut], &halting{version: 1, proof: "authorized_halt"}); err == nil {
			t.Errorf("%d bytes of %d were read", cut, len(evidence.Bytes()))
		}
	}
}

func TestOnlyADeclaredProofOfBoundedSizeIsEvidence(t *testing.T) {
	for name, body := range map[string]*halting{
		"a proof that the table does not have": {proof: "trust_me"},
		"no proof":                             {},
		"too much":                             {proof: "authorized_halt", Note: make([]byte, MaxEvidence)},
	} {
		if evidence, err := Prove(body); !errors.HasAssertionFailure(err) || evidence.Proof() != "" {
			t.Errorf("%s: %q, %v", name, evidence.Proof(), err)
		}
	}
}
