package owners

import (
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/serving"
)

// ManifestProtocol is how the Catalog writes what an installed pack generation consists of.
var ManifestProtocol = protocol("connectorcore.pack-manifest.v1")

// Manifest is one installed generation of a pack: the complete identities of its bindings.
type Manifest struct {
	Pack         facts.PackName
	Installation facts.PackInstallationID
	Payload      facts.Digest // the pack's own digest of its whole payload
	Generation   facts.PackGenerationID
	Bindings     []serving.BindingIdentity // ascending, as in a view
}

type manifestForm struct {
	Pack         facts.PackName           `json:"pack"`
	Installation facts.PackInstallationID `json:"pack_installation"`
	Payload      hexDigest                `json:"pack_payload"`
	Generation   facts.PackGenerationID   `json:"pack_generation"`
	Bindings     []bindingForm            `json:"bindings"`
}

// ManifestName is the name of a pack generation at the Catalog.
func ManifestName(generation facts.PackGenerationID) (serving.Name, error) {
	return facts.ParseKey[serving.Name]("pack/" + generation.String())
}

// SealManifest makes the Catalog's generation of an installed pack.
//
// Refuses: GenerationMalformed (a binding twice, out of order, or of another pack).
func SealManifest(scope serving.Scope, m Manifest) (Exact, error) {
	form := manifestForm{m.Pack, m.Installation, hexDigest(m.Payload), m.Generation, []bindingForm{}}
	for i, b := range m.Bindings {
		fault := ""
		switch {
		case b.OwnerPack != m.Pack || b.Installation != m.Installation || b.PackPayload != m.Payload:
			fault = "it is of another pack, installation or payload"
		case i > 0 && CompareBindings(m.Bindings[i-1], b) >= 0:
			fault = "it stands twice or out of order"
		}
		if fault != "" {
			return Exact{}, facts.Refuse(facts.GenerationMalformed, facts.OfInput("pack "+m.Pack.String()+", "+bindingNoun(b)), "%s", fault)
		}
		one, err := formOf(b)
		if err != nil {
			return Exact{}, err
		}
		form.Bindings = append(form.Bindings, one)
	}
	name, err := ManifestName(m.Generation)
	if err != nil {
		return Exact{}, err
	}
	raw, err := encode(form)
	if err != nil {
		return Exact{}, err
	}
	return seal(serving.Catalog, scope, name, ManifestProtocol, raw, nil)
}

// OpenManifest takes the Catalog's answer apart and checks all of it.
//
// Refuses: GenerationMalformed.
func OpenManifest(scope serving.Scope, e Exact) (Manifest, error) {
	form, err := decode[manifestForm](e.Canonical.Bytes(), "pack manifest")
	if err != nil {
		return Manifest{}, err
	}
	m := Manifest{form.Pack, form.Installation, facts.Digest(form.Payload), form.Generation, nil}
	for _, one := range form.Bindings {
		b, err := one.identity()
		if err != nil {
			return Manifest{}, err
		}
		m.Bindings = append(m.Bindings, b)
	}
	want, err := SealManifest(scope, m)
	if err != nil {
		return Manifest{}, err
	}
	return m, same(e, want, "pack manifest")
}

// Snapshot is the digest of the pack generations that a view is made of, in any order.
func Snapshot(manifests []Exact) facts.Digest {
	sums := make([]string, len(manifests))
	for i, e := range manifests {
		sums[i] = e.Digest.String()
	}
	slices.Sort(sums)
	text := ""
	for _, sum := range sums {
		text += sum + "\n"
	}
	return Sum(ManifestProtocol, []byte(text))
}
