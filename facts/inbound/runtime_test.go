package inbound

import (
	"crypto/sha256"
	"os"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/machines"
)

func someReceipt() RuntimeReceipt {
	return RuntimeReceipt{Command: facts.CommandID{1}, Ref: facts.ExecutionRefDigest{Digest: facts.Digest{2}},
		Outcome: machines.ApplicationResultApplied, Result: ResultDigest(facts.ProfileV2, []byte("done"))}
}

// A receipt's digest is the SHA-256 of its canonical bytes, and every field is in it.
func TestRuntimeReceiptNamesEveryFieldOfIt(t *testing.T) {
	seen := map[facts.Digest]string{}
	for name, change := range map[string]func(*RuntimeReceipt){
		"as it is":      func(*RuntimeReceipt) {},
		"its command":   func(r *RuntimeReceipt) { r.Command[3]++ },
		"its reference": func(r *RuntimeReceipt) { r.Ref.Digest[3]++ },
		"its outcome":   func(r *RuntimeReceipt) { r.Outcome = machines.ApplicationResultFailed },
		"its result":    func(r *RuntimeReceipt) { r.Result = ResultDigest(facts.ProfileV2, nil) },
	} {
		r := someReceipt()
		change(&r)
		sum := r.Digest(facts.ProfileV2)
		if sum.IsZero() || sum != facts.Digest(sha256.Sum256(r.Canonical(facts.ProfileV2))) || seen[sum] != "" {
			t.Errorf("%s: %s, as %q", name, sum, seen[sum])
		}
		seen[sum] = name
	}
}

// What is incomplete, or of a profile that authors nothing, has no digest and no bytes.
func TestIncompleteRuntimeReceiptHasNoDigest(t *testing.T) {
	for name, change := range map[string]func(*RuntimeReceipt){
		"no command": func(r *RuntimeReceipt) { r.Command = facts.CommandID{} }, "no reference": func(r *RuntimeReceipt) { r.Ref = facts.ExecutionRefDigest{} },
		"no outcome": func(r *RuntimeReceipt) { r.Outcome = 0 }, "an outcome that is none": func(r *RuntimeReceipt) { r.Outcome = 9 },
		"no result": func(r *RuntimeReceipt) { r.Result = facts.Digest{} },
	} {
		r := someReceipt()
		change(&r)
		if sum := r.Digest(facts.ProfileV2); !sum.IsZero() || r.Canonical(facts.ProfileV2) != nil {
			t.Errorf("%s: %s", name, sum)
		}
	}
	for _, profile := range []facts.Profile{0, facts.ProfileV1, facts.ProfileLegacy} {
		if r := someReceipt(); !r.Digest(profile).IsZero() || !ResultDigest(profile, nil).IsZero() {
			t.Errorf("profile %s authors", profile)
		}
	}
}

func TestDocumentedShapesAreTheDeclaredOnes(t *testing.T) {
	page, err := os.ReadFile("../../docs/digests.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```runtime-shapes\n")
	listed, _, _ := strings.Cut(rest, "```")
	var declared strings.Builder
	for _, shape := range Shapes() {
		declared.WriteString(shape.String() + "\n")
	}
	if listed != declared.String() {
		t.Errorf("docs/digests.md lists\n%s\nand declared is\n%s", listed, &declared)
	}
}
