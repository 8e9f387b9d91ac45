package facts

import (
	"bytes"
	"slices"

	"connectorcore/facts/digest"
)

// Profile is the closed set of ways in which a stored digest was made. The zero Profile is none of them.
//
// Spec: Identity rules (the table of supported ServingEpoch digest states).
type Profile uint8

const (
	// ProfileV2 authors and reads.
	ProfileV2 Profile = iota + 1
	// ProfileV1 only reads: its bytes are compared exactly; nothing is recomputed, relabelled or authored.
	ProfileV1
	// ProfileLegacy is the form without any profile id, for its exact reader only. It is never inferred and has no
	// text: an empty id is refused and is no name of it.
	ProfileLegacy
)

const profileV1 = "nexuscrm.connector-digest-profile.v1"

// ParseProfile reads an exact profile id. Everything but the two known ids is refused, the empty text included.
func ParseProfile(text string) (Profile, error) {
	switch text {
	case digest.ProfileV2:
		return ProfileV2, nil
	case profileV1:
		return ProfileV1, nil
	default:
		return 0, Refuse(ProfileUnsupported, OfInput("digest profile"), "%q", text)
	}
}

// String is the profile's exact id, or a word in brackets for what has none.
func (p Profile) String() string {
	switch p {
	case ProfileV2:
		return digest.ProfileV2
	case ProfileV1:
		return profileV1
	case ProfileLegacy:
		return "(legacy, without a profile)"
	default:
		return "(no profile)"
	}
}

// Author gives the functions that derive ids and digests under the profile. Only ProfileV2 has one.
func (p Profile) Author() (Author, error) {
	switch p {
	case ProfileV2:
		return Author{profile: digest.ProfileV2}, nil
	case ProfileV1, ProfileLegacy:
		return Author{}, Refuse(ProfileNotAuthored, OfInput("digest profile"), "%s", p)
	default:
		return Author{}, Refuse(ProfileUnsupported, OfInput("digest profile"), "%s", p)
	}
}

// storedDigestMaxBytes bounds what a reader takes for a stored digest.
const storedDigestMaxBytes = 512

// StoredDigest is a digest as somebody stored it: opaque bytes under the profile that made them. It is the only form
// in which digests of ProfileV1 and ProfileLegacy exist here.
type StoredDigest struct {
	profile Profile
	bytes   string
}

// ReadDigest takes stored bytes as they are, under the profile that stands beside them.
func ReadDigest(profile Profile, stored []byte) (StoredDigest, error) {
	if profile < ProfileV2 || profile > ProfileLegacy {
		return StoredDigest{}, Refuse(ProfileUnsupported, OfInput("stored digest"), "%s", profile)
	}
	if len(stored) == 0 || len(stored) > storedDigestMaxBytes || profile == ProfileV2 && len(stored) != len(Digest{}) {
		return StoredDigest{}, Refuse(ProfileUnsupported, OfInput("stored digest"), "%d bytes are no digest of %s", len(stored), profile)
	}
	return StoredDigest{profile: profile, bytes: string(stored)}, nil
}

// Profile is the profile that made the digest.
func (d StoredDigest) Profile() Profile { return d.profile }

// Bytes are the exact stored bytes, in a copy of the caller's own.
func (d StoredDigest) Bytes() []byte { return slices.Clone([]byte(d.bytes)) }

// Matches compares two digests of one profile byte for byte. Digests of different profiles have no comparison, not
// even a negative one, and are refused with ProfilesDiffer.
func (d StoredDigest) Matches(other StoredDigest) (bool, error) {
	if d.profile == 0 || other.profile == 0 {
		return false, Refuse(ProfileUnsupported, OfInput("stored digest"), "nothing was read")
	}
	if d.profile != other.profile {
		return false, Refuse(ProfilesDiffer, OfInput("stored digest"), "%s and %s", d.profile, other.profile)
	}
	return bytes.Equal([]byte(d.bytes), []byte(other.bytes)), nil
}
