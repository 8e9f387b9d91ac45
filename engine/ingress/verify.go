package ingress

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"hash"
	"strings"

	"connectorcore/engine/pack"
	"connectorcore/engine/platform"
	"connectorcore/facts"
)

// Request is a delivery as it came over HTTP.
type Request struct {
	Method string
	URL    string             // as its sender called it: scheme, host, path and query, nothing decoded
	Header []facts.HeaderLine // names in lower case; lines of one name in the order in which they came
	Body   []byte
}

// values are the lines of a header.
func (r Request) values(name string) []string {
	var all []string
	for _, line := range r.Header {
		if line.Name == name {
			all = append(all, line.Value)
		}
	}
	return all
}

// signaturesMax bounds how many signatures of one header are tried. A provider sends one for each secret that it rolls.
const signaturesMax = 32

// Verify finds the member of the set by which a request is signed as one of the channel's schemes says. Any scheme, any
// signature that counts and any member may match; a member that no scheme can use spoils the whole set, because
// whoever minted it believes that it verifies something.
//
// REQUIRES: the set is not wiped while this runs.
//
// Refuses: SecretUnusable (a member is empty, or no scheme can decode it), GenerationMalformed (a scheme that does not
// prove the body), SignatureInvalid. No refusal holds a byte of a secret, of a signature or of the request.
//
// Rule R43.
func Verify(channel *pack.Channel, set platform.SecretSet, request Request, clock facts.Clock) (platform.SecretKey, error) {
	members := set.Members()
	if len(members) == 0 || len(channel.Signatures) == 0 {
		return platform.SecretKey{}, facts.Refuse(facts.SecretUnusable, facts.OfInput("secret set"), "there is no secret, or no scheme that would use it")
	}
	schemes, err := prepare(channel.Signatures, members)
	defer func() {
		for _, s := range schemes {
			s.wipe()
		}
	}()
	if err != nil {
		return platform.SecretKey{}, err
	}
	var faults []string
	for _, s := range schemes {
		claim, fault := s.read(request, clock.Now())
		if fault == "" {
			if at, ok := s.match(request, claim); ok {
				return members[at].Name, nil
			}
			fault = "no secret of the set made the signature"
		}
		faults = append(faults, s.Header+": "+fault)
	}
	return platform.SecretKey{}, facts.Refuse(facts.SignatureInvalid, facts.OfInput("signature"), "%s", strings.Join(faults, "; "))
}

// scheme is one of a channel's schemes with the keys that the members of a set are under it.
type scheme struct {
	*pack.Signature
	parts []part
	keys  [][]byte // by member; nil where this scheme cannot use it
}

// prepare decodes every member under every scheme.
func prepare(signatures []pack.Signature, members []platform.SecretMember) ([]scheme, error) {
	schemes := make([]scheme, 0, len(signatures))
	useless := make([]string, len(members)) // why the first scheme cannot use it
	used := make([]bool, len(members))
	for i := range signatures {
		s := scheme{Signature: &signatures[i], parts: partsOf(signatures[i].Content), keys: make([][]byte, len(members))}
		schemes = append(schemes, s)
		if fault := s.unsound(); fault != "" {
			return schemes, facts.Refuse(facts.GenerationMalformed, facts.OfInput("signature scheme "+s.Header), "%s", fault)
		}
		for at, member := range members {
			key, fault := keyOf(s.Signature, member.Secret)
			if fault != "" && useless[at] == "" {
				useless[at] = fault
			}
			s.keys[at], used[at] = key, used[at] || fault == ""
		}
	}
	for at, member := range members {
		if !used[at] {
			return schemes, facts.Refuse(facts.SecretUnusable, facts.OfInput("secret set, member "+member.Name.String()), "%s", useless[at])
		}
	}
	return schemes, nil
}

func (s scheme) wipe() {
	for _, key := range s.keys {
		clear(key)
	}
}

// match finds the member whose key made one of the claimed signatures. Which member it is and how many there are is no
// secret; the comparison of bytes takes the same time wherever they differ.
func (s scheme) match(request Request, claim claim) (int, bool) {
	for _, url := range s.urls(request.URL) {
		for at, key := range s.keys {
			if key != nil && s.proves(key, s.content(request, claim, url, key), claim.signatures) {
				return at, true
			}
		}
	}
	return 0, false
}

// hashes are the algorithms that make a digest.
var hashes = map[string]func() hash.Hash{
	"hmac-sha1": sha1.New, "hmac-sha256": sha256.New, "hmac-sha512": sha512.New, "sha256": sha256.New,
}

// proves tells whether one of the signatures was made of the content with the key.
func (s scheme) proves(key []byte, content [][]byte, signatures [][]byte) bool {
	if s.Algorithm == "ed25519" {
		whole := bytes.Join(content, nil)
		for _, signature := range signatures {
			if ed25519.Verify(key, whole, signature) {
				return true
			}
		}
		return false
	}
	made, known := hashes[s.Algorithm]
	if !known {
		return false
	}
	digest := made()
	if strings.HasPrefix(s.Algorithm, "hmac-") {
		digest = hmac.New(made, key)
	}
	for _, piece := range content {
		digest.Write(piece)
	}
	want, found := digest.Sum(nil), 0
	for _, signature := range signatures {
		found |= subtle.ConstantTimeCompare(want, signature)
	}
	return found == 1
}
