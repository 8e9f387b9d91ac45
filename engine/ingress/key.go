package ingress

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"

	"connectorcore/engine/pack"
	"connectorcore/engine/platform"
)

// keyOf makes the key of a secret's text, in bytes of its own, or says why there is none. A key of zero bytes only is
// none: an HMAC pads a short key with zeros, so that it would be the empty key by another name.
func keyOf(s *pack.Signature, secret platform.Secret) (key []byte, fault string) {
	text, begins := bytes.CutPrefix(secret.Reveal(), []byte(s.Secret.Prefix))
	if !begins {
		return nil, "it does not begin with the prefix that its scheme declares"
	}
	switch s.Secret.Encoding {
	case "hex":
		key = make([]byte, hex.DecodedLen(len(text)))
		if _, err := hex.Decode(key, text); err != nil {
			clear(key)
			return nil, "it is no hex"
		}
	case "base64":
		decoded, ok := unbase64(text)
		if !ok {
			return nil, "it is no base64 with its padding"
		}
		key = decoded
	default:
		key = bytes.Clone(text)
	}
	if len(bytes.Trim(key, "\x00")) == 0 {
		return nil, "it is empty"
	}
	if s.Algorithm != "ed25519" {
		return key, ""
	}
	if public, ok := publicKey(key); ok {
		return public, ""
	}
	return nil, "it is no Ed25519 public key: want its 32 bytes, or their SubjectPublicKeyInfo"
}

// publicKey takes the 32 bytes themselves, or their usual wrapping.
func publicKey(raw []byte) ([]byte, bool) {
	if len(raw) == ed25519.PublicKeySize {
		return raw, true
	}
	parsed, err := x509.ParsePKIXPublicKey(raw)
	if err != nil {
		return nil, false
	}
	public, ok := parsed.(ed25519.PublicKey)
	return public, ok
}

// unbase64 reads the one spelling that padded standard base64 has. The library passes over line breaks and has to be
// told about trailing bits.
func unbase64(text []byte) ([]byte, bool) {
	if bytes.ContainsAny(text, "\r\n") {
		return nil, false
	}
	raw := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Strict().Decode(raw, text)
	if err != nil {
		clear(raw)
		return nil, false
	}
	return raw[:n], true
}

// unhex reads lower-case hex, the only spelling in which signatures are sent.
func unhex(text []byte) ([]byte, bool) {
	if bytes.ContainsAny(text, "ABCDEF") {
		return nil, false
	}
	raw := make([]byte, hex.DecodedLen(len(text)))
	_, err := hex.Decode(raw, text)
	return raw, err == nil
}
