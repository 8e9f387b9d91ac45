package digest

import (
	"testing"

	"github.com/cockroachdb/errors"
)

// epochShape is the closed nested order of the serving epoch, as the spec lists it, to prove that a Shape can hold it.
// The product's own shape comes with the epoch's facts.
//
// Spec: Identity rules ("The V2 ServingEpoch preimage has one closed nested order").
var epochShape = Declare("serving-epoch",
	OfID("epoch"), OfSum("serving_scope"),
	OfText("organization"), OfText("installation"), OfText("workload"),
	OfGroup("lineage_revision", OfText("part")), OfSum("source_snapshot"), OfSum("view"), OfText("catalog_receipt_protocol"),
	OfGroup("receipt_revision", OfText("part")), OfUint("security_epoch"), OfText("capability_version"),
	OfText("generation_protocol"), OfText("configuration_receipt_protocol"), OfText("configuration_generation"),
	OfSum("configuration_digest"), OfBytes("configuration_receipt"), OfSum("configuration_receipt_digest"),
	OfGroup("bindings",
		OfID("row"), OfSum("identity"), OfText("kind"), OfText("owner_pack"), OfText("pack_installation"),
		OfSum("pack_payload"), OfText("business_key"), OfText("definition_version"), OfBytes("credential_refs"),
		OfGroup("runtime", OfText("command"), OfText("version")), // no item or one
		OfText("pack_generation"), OfText("envelope_version"), OfText("receipt_version"), OfSum("definition"),
		OfBytes("owner_receipt"), OfSum("owner_receipt_digest")),
	OfGroup("credential_generations",
		OfID("generation"), OfText("receipt_protocol"), OfSum("transport_configuration"), OfBytes("owner_receipt"),
		OfSum("owner_receipt_digest")))

func writeEpoch(bindings, runtimes, credentials int, receipt []byte) ([32]byte, error) {
	id, sum := [16]byte{1}, [32]byte{2}
	part := func(item *Writer, _ int) { item.Text("part", "1") }
	w := epochShape.Begin(ProfileV2).ID("epoch", id).Sum("serving_scope", sum).
		Text("organization", "o").Text("installation", "i").Text("workload", "w").Group("lineage_revision", 2, part).
		Sum("source_snapshot", sum).Sum("view", sum).Text("catalog_receipt_protocol", "p").Group("receipt_revision", 2, part).
		Uint("security_epoch", 3).Text("capability_version", "1").
		Text("generation_protocol", "p").Text("configuration_receipt_protocol", "p").Text("configuration_generation", "g").
		Sum("configuration_digest", sum).Bytes("configuration_receipt", receipt).Sum("configuration_receipt_digest", sum)
	w.Group("bindings", bindings, func(item *Writer, _ int) {
		item.ID("row", id).Sum("identity", sum).Text("kind", "k").Text("owner_pack", "p").Text("pack_installation", "i").
			Sum("pack_payload", sum).Text("business_key", "b").Text("definition_version", "1").Bytes("credential_refs", nil).
			Group("runtime", runtimes, func(tuple *Writer, _ int) { tuple.Text("command", "c").Text("version", "1") }).
			Text("pack_generation", "g").Text("envelope_version", "1").Text("receipt_version", "1").Sum("definition", sum).
			Bytes("owner_receipt", receipt).Sum("owner_receipt_digest", sum)
	})
	return w.Group("credential_generations", credentials, func(item *Writer, _ int) {
		item.ID("generation", id).Text("receipt_protocol", "p").Sum("transport_configuration", sum).
			Bytes("owner_receipt", receipt).Sum("owner_receipt_digest", sum)
	}).End()
}

func TestTheNestedOrderOfAServingEpochCanBeDeclaredAndWritten(t *testing.T) {
	seen := map[[32]byte]bool{}
	for _, counts := range [][3]int{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {2, 1, 0}, {0, 0, 1}, {2, 1, 2}} {
		sum, err := writeEpoch(counts[0], counts[1], counts[2], []byte("receipt"))
		if err != nil || seen[sum] {
			t.Errorf("%v: digest %x, %v", counts, sum, err)
		}
		seen[sum] = true
	}
	if _, err := epochShape.Begin(ProfileV2).ID("epoch", [16]byte{1}).End(); !errors.HasAssertionFailure(err) {
		t.Errorf("an epoch without its parts: %v", err)
	}
}

// An owner's receipt goes in as it is: not parsed, not normalised, not decoded as text.
func TestOwnerReceiptsAreOpaqueBytes(t *testing.T) {
	seen := map[[32]byte]bool{}
	for _, receipt := range []string{`{"a":1}`, `{"a": 1}`, `{"a":1.0}`, "{\"a\":1}\n", "\xff\xfe", "e\u0301", "\u00e9", "", "\x00"} {
		sum, err := writeEpoch(1, 1, 1, []byte(receipt))
		if err != nil || seen[sum] {
			t.Errorf("receipt %q: digest %x, %v", receipt, sum, err)
		}
		seen[sum] = true
	}
}
