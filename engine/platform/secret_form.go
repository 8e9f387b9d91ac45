package platform

import (
	"bytes"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
)

// secretForm is a set as every backend keeps it:
//
//	{"secrets":[{"name":"2026-11","value":"...","outbound":true},{"name":"2026-08","base64":"..."}]}
//
// A member has a value, which is text, or base64, which is bytes.
type secretForm struct {
	Secrets []memberForm `json:"secrets"`
}

type memberForm struct {
	Name     SecretKey  `json:"name"`
	Value    secretText `json:"value,omitzero"`
	Base64   []byte     `json:"base64,omitzero"`
	Outbound bool       `json:"outbound,omitzero"`
}

// secretText is text that is kept as bytes, because a string cannot be zeroed.
type secretText []byte

func (t *secretText) UnmarshalText(text []byte) error {
	*t = bytes.Clone(text)
	return nil
}

func (t secretText) MarshalText() ([]byte, error) { return t, nil }

// decodeSecrets reads an encoded set. What it says of a fault holds nothing of the input: the cause of a decoder's error
// may quote it.
func decodeSecrets(encoded []byte) (members []SecretMember, fault string) {
	var form secretForm
	if err := json.Unmarshal(encoded, &form, json.RejectUnknownMembers(true)); err != nil {
		for _, m := range form.Secrets {
			clear(m.Value)
			clear(m.Base64)
		}
		return nil, `it cannot be decoded: want {"secrets":[{"name":"...","value":"..."}]}, with base64 in place of value for bytes`
	}
	for _, m := range form.Secrets {
		raw := []byte(m.Value)
		if len(m.Value) > 0 && len(m.Base64) > 0 {
			fault = "member " + m.Name.String() + " has a value and base64"
		}
		if len(raw) == 0 {
			raw = m.Base64
		}
		members = append(members, SecretMember{m.Name, NewSecret(raw), m.Outbound})
	}
	return members, fault
}

// EncodeSecrets writes a set as every backend keeps it, for whoever stores a new version. The caller zeroes it.
//
// Refuses: SecretUnusable.
func EncodeSecrets(set SecretSet) ([]byte, error) {
	if fault := setFault(set.members); fault != "" {
		return nil, facts.Refuse(facts.SecretUnusable, facts.OfInput("secret set"), "%s", fault)
	}
	var form secretForm
	for _, m := range set.members {
		form.Secrets = append(form.Secrets, memberForm{Name: m.Name, Base64: m.Secret.Reveal(), Outbound: m.Outbound})
	}
	encoded, err := json.Marshal(form)
	if err != nil {
		return nil, errors.AssertionFailedf("a secret set of %d members cannot be encoded", len(set.members))
	}
	return encoded, nil
}
