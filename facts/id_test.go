package facts

import (
	"testing"

	"github.com/cockroachdb/errors"
)

func TestAnIDHasOneTextForm(t *testing.T) {
	id := Mint[ReceiptID]()
	if read, err := ParseID[ReceiptID](id.String()); err != nil || read != id {
		t.Errorf("%s reads back as %s, %v", id, read, err)
	}
	for _, text := range []string{
		"", "0B9AD3A2-6F3C-4B7E-8C51-6D1F5C8A90E2", "{0b9ad3a2-6f3c-4b7e-8c51-6d1f5c8a90e2}",
		"urn:uuid:0b9ad3a2-6f3c-4b7e-8c51-6d1f5c8a90e2", "0b9ad3a26f3c4b7e8c516d1f5c8a90e2",
		"00000000-0000-0000-0000-000000000000",
	} {
		before := id
		if err := before.UnmarshalText([]byte(text)); err == nil || before != id {
			t.Errorf("%q was read as %s, %v", text, before, err)
		}
	}
}

func TestZeroIDsAndDigestsNeverReachOrLeaveTheStore(t *testing.T) {
	if _, err := (ReceiptID{}).Value(); !errors.HasAssertionFailure(err) {
		t.Errorf("a zero id was bound: %v", err)
	}
	if _, err := (Digest{}).Value(); !errors.HasAssertionFailure(err) {
		t.Errorf("a zero digest was bound: %v", err)
	}
	var id ReceiptID
	for _, stored := range []any{nil, make([]byte, 16), make([]byte, 15), "0123456789abcdef"} {
		if err := id.Scan(stored); !errors.HasAssertionFailure(err) {
			t.Errorf("stored %#v was read as an id: %v", stored, err)
		}
	}
	var digest Digest
	for _, stored := range []any{nil, make([]byte, 32), make([]byte, 31)} {
		if err := digest.Scan(stored); !errors.HasAssertionFailure(err) {
			t.Errorf("stored %#v was read as a digest: %v", stored, err)
		}
	}
}

func TestStoredIDsAndDigestsReadBack(t *testing.T) {
	id, digest := Mint[PermitID](), Digest{1, 2, 3}
	var readID PermitID
	var readDigest Digest
	value, err := id.Value()
	if err != nil || readID.Scan(value) != nil || readID != id || readID.Compare(id) != 0 {
		t.Errorf("id %s reads back as %s", id, readID)
	}
	value, err = digest.Value()
	if err != nil || readDigest.Scan(value) != nil || readDigest != digest {
		t.Errorf("digest %s reads back as %s", digest, readDigest)
	}
}
