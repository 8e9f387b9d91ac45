package facts

import (
	"bytes"
	"testing"

	"github.com/cockroachdb/errors"

	"connectorcore/facts/digest"
)

func TestOnlyTwoProfileIDsAreKnownAndEmptyIsNoAlias(t *testing.T) {
	for text, want := range map[string]Profile{digest.ProfileV2: ProfileV2, profileV1: ProfileV1} {
		if profile, err := ParseProfile(text); err != nil || profile != want || profile.String() != text {
			t.Errorf("%q is %s, %v", text, profile, err)
		}
	}
	for _, text := range []string{
		"", " ", digest.ProfileV2 + " ", "nexuscrm.connector-digest-profile.v3", "nexuscrm.connector-digest-profile.V2",
		"v2", "legacy", ProfileLegacy.String(), Profile(0).String(),
	} {
		if profile, err := ParseProfile(text); !errors.Is(err, ProfileUnsupported) || profile != 0 {
			t.Errorf("%q is %s, %v", text, profile, err)
		}
	}
}

func TestOnlyV2Authors(t *testing.T) {
	if author, err := ProfileV2.Author(); err != nil || author.ReceiptBody(nil).IsZero() {
		t.Errorf("v2 does not author: %v", err)
	}
	for profile, code := range map[Profile]Code{
		ProfileV1: ProfileNotAuthored, ProfileLegacy: ProfileNotAuthored, 0: ProfileUnsupported, 9: ProfileUnsupported,
	} {
		author, err := profile.Author()
		if !errors.Is(err, code) || !author.ReceiptBody([]byte("x")).IsZero() {
			t.Errorf("%s gave an author of %s, %v", profile, author.ReceiptBody([]byte("x")), err)
		}
	}
}

func TestStoredDigestsAreReadAndComparedExactly(t *testing.T) {
	stored := bytes.Repeat([]byte{7}, 32)
	other := bytes.Clone(stored)
	other[31]++
	for _, profile := range []Profile{ProfileV2, ProfileV1, ProfileLegacy} {
		first, err := ReadDigest(profile, stored)
		if err != nil || !bytes.Equal(first.Bytes(), stored) || first.Profile() != profile {
			t.Fatalf("%s: %x, %v", profile, first.Bytes(), err)
		}
		second, err := ReadDigest(profile, other)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := first.Matches(first); !same || err != nil {
			t.Errorf("%s: equal bytes compare as %v, %v", profile, same, err)
		}
		if same, err := first.Matches(second); same || err != nil {
			t.Errorf("%s: different bytes compare as %v, %v", profile, same, err)
		}
		first.Bytes()[0]++
		if !bytes.Equal(first.Bytes(), stored) {
			t.Errorf("%s: a reader changed the stored bytes", profile)
		}
	}
	if legacy, err := ReadDigest(ProfileLegacy, []byte("md5:abc")); err != nil || string(legacy.Bytes()) != "md5:abc" {
		t.Errorf("a legacy digest of another form was not taken as it is: %q, %v", legacy.Bytes(), err)
	}
}

func TestDigestsOfTwoProfilesHaveNoComparison(t *testing.T) {
	stored := bytes.Repeat([]byte{7}, 32)
	profiles := []Profile{ProfileV2, ProfileV1, ProfileLegacy}
	for _, mine := range profiles {
		for _, theirs := range profiles {
			first, _ := ReadDigest(mine, stored)
			second, _ := ReadDigest(theirs, stored)
			if _, err := first.Matches(second); (err == nil) != (mine == theirs) || (err != nil && !errors.Is(err, ProfilesDiffer)) {
				t.Errorf("%s against %s: %v", mine, theirs, err)
			}
		}
	}
	if _, err := (StoredDigest{}).Matches(StoredDigest{}); !errors.Is(err, ProfileUnsupported) {
		t.Errorf("two digests that were never read compare: %v", err)
	}
}

func TestWhatIsNoStoredDigestIsRefused(t *testing.T) {
	for _, bad := range []struct {
		profile Profile
		bytes   int
	}{{ProfileV2, 31}, {ProfileV2, 33}, {ProfileV2, 0}, {ProfileV1, 0}, {ProfileLegacy, 0}, {ProfileLegacy, 513}, {0, 32}, {9, 32}} {
		if _, err := ReadDigest(bad.profile, make([]byte, bad.bytes)); !errors.Is(err, ProfileUnsupported) {
			t.Errorf("%d bytes of %s: %v", bad.bytes, bad.profile, err)
		}
	}
}
