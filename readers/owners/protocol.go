package owners

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"connectorcore/facts"
	"connectorcore/facts/serving"

	"github.com/cockroachdb/errors"
)

// The protocols of the owners. A protocol never changes; another form is another protocol.
var (
	ViewProtocol          = protocol("connectorcore.catalog-view.v1")
	DefinitionProtocol    = protocol("connectorcore.definition-envelope.v1")
	ConfigurationProtocol = protocol("connectorcore.configuration-generation.v1")
	CredentialProtocol    = protocol("connectorcore.credential-generation.v1")
	TransportProtocol     = protocol("connectorcore.transport-configuration.v1")
	ReceiptProtocol       = protocol("connectorcore.owner-receipt.v1")
	HoldProtocol          = protocol("connectorcore.barrier-receipt.v1")
	Capabilities          = protocol("connectorcore.catalog-capabilities.v1")
)

// protocol is the key of a text that is known to be one; a test asserts that none is absent.
func protocol(text string) facts.Protocol {
	key, err := facts.ParseKey[facts.Protocol](text)
	if err != nil {
		return facts.Protocol{}
	}
	return key
}

// maxCanonical bounds one generation's canonical bytes, below what the store takes for one row.
const maxCanonical = 4 << 20

// Sum is the owners' digest: SHA-256 over the protocol, one zero byte, and the bytes. It is not made under a digest
// profile, and no profile makes it again.
func Sum(of facts.Protocol, raw []byte) facts.Digest {
	hash := sha256.New()
	_, _ = hash.Write(append([]byte(of.String()), 0)) // a hash never fails
	_, _ = hash.Write(raw)
	return facts.Digest(hash.Sum(nil))
}

// encode writes the one canonical form of a value: JSON of a struct whose fields stand in a fixed order.
func encode[T any](value T) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, facts.Refuse(facts.GenerationMalformed, facts.OfInput("generation"), "%s", errors.UnwrapAll(err))
	}
	raw := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	if len(raw) > maxCanonical {
		return nil, facts.Refuse(facts.GenerationMalformed, facts.OfInput("generation"), "it has %d bytes, at most %d", len(raw), maxCanonical)
	}
	return raw, nil
}

// decode reads the canonical form and refuses every other spelling of the same value: a field twice, unknown or in
// another place, a blank, another escape. It does so by writing the value again.
func decode[T any](raw []byte, noun string) (value T, err error) {
	refuse := func(detail string) error {
		return facts.Refuse(facts.GenerationMalformed, facts.OfInput(noun), "%s", detail)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		return value, refuse("its canonical bytes cannot be read: " + err.Error())
	}
	again, err := encode(value)
	if err != nil {
		return value, refuse("its canonical bytes lack a required value")
	}
	if !bytes.Equal(raw, again) {
		return value, refuse("its bytes are not the canonical ones of what they say")
	}
	return value, nil
}

// hexDigest is a digest in a canonical form: 64 lower-case hexadecimal digits.
type hexDigest facts.Digest

func (d hexDigest) MarshalText() ([]byte, error) {
	if facts.Digest(d).IsZero() {
		return nil, errors.New("an absent digest was written as text")
	}
	return []byte(facts.Digest(d).String()), nil
}

func (d *hexDigest) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(string(text))
	if err != nil || len(raw) != len(d) {
		return errors.New("a digest of 64 hexadecimal digits was expected")
	}
	copy(d[:], raw)
	return nil
}

// statement is what a receipt says. The same generation has the same statement, whoever asks and whenever.
type statement struct {
	Protocol   facts.Protocol `json:"protocol"`
	Owner      string         `json:"owner"`
	Scope      hexDigest      `json:"scope"`
	Name       serving.Name   `json:"name"`
	Generation facts.Protocol `json:"generation_protocol"`
	Digest     hexDigest      `json:"digest"`
	Revision   *revision      `json:"revision,omitempty"` // of a Catalog view
}

// seal makes the Exact of canonical bytes: digest and receipt follow from them.
func seal(owner serving.Owner, scope serving.Scope, name serving.Name, of facts.Protocol, raw []byte, at *revision) (Exact, error) {
	e := Exact{Name: name, Protocol: of, Canonical: serving.OpaqueOf(raw), Digest: Sum(of, raw)}
	receipt, err := encode(statement{ReceiptProtocol, owner.String(), hexDigest(scope.Digest), name, of, hexDigest(e.Digest), at})
	if err != nil {
		return Exact{}, err
	}
	e.Receipt = serving.Receipt{Protocol: ReceiptProtocol, Bytes: serving.OpaqueOf(receipt), Digest: Sum(ReceiptProtocol, receipt)}
	return e, nil
}

// same tells whether an owner's Exact is the one that its content makes; the fault says which part is not.
func same(got, want Exact, noun string) error {
	fault := ""
	switch {
	case got.Protocol != want.Protocol:
		fault = "it is of protocol " + got.Protocol.String() + ", which is not " + want.Protocol.String()
	case got.Name != want.Name:
		fault = "it is named " + got.Name.String() + ", and its content names " + want.Name.String()
	case got.Canonical != want.Canonical:
		fault = "its bytes are not the canonical ones of what they say"
	case got.Digest != want.Digest:
		fault = "its digest " + got.Digest.String() + " is not that of its bytes"
	case got.Receipt != want.Receipt:
		fault = "its receipt is not that of its bytes"
	default:
		return nil
	}
	return facts.Refuse(facts.GenerationMalformed, facts.OfInput(noun), "%s", fault)
}
