package owners

import (
	"fmt"

	"connectorcore/facts"
	"connectorcore/facts/serving"
)

// View is the Catalog's whole IntegrationBindingView of a scope.
//
// Spec: Ownership boundaries ("Authorized connector binding membership").
type View struct {
	Organization   facts.Organization
	Installation   facts.ApplicationInstallation
	Workload       facts.Workload
	Revision       serving.Revision
	SourceSnapshot facts.Digest // of the pack generations that the view was made of
	SecurityEpoch  uint64
	Capabilities   facts.Protocol
	Bindings       []serving.BindingIdentity // ascending by kind, pack, business key, version, installation
}

type revision struct {
	Lineage       facts.Lineage  `json:"lineage"`
	Number        uint64         `json:"number"`
	SecurityEpoch uint64         `json:"security_epoch"`
	Capabilities  facts.Protocol `json:"capabilities"`
}

type viewForm struct {
	Organization   facts.Organization            `json:"organization"`
	Installation   facts.ApplicationInstallation `json:"installation"`
	Workload       facts.Workload                `json:"workload"`
	Revision       revision                      `json:"revision"`
	SourceSnapshot hexDigest                     `json:"source_snapshot"`
	Bindings       []bindingForm                 `json:"bindings"`
}

// CompareBindings is the order of the bindings in a view.
func CompareBindings(a, b serving.BindingIdentity) int {
	for _, by := range []int{int(a.Kind) - int(b.Kind), a.OwnerPack.Compare(b.OwnerPack), a.BusinessKey.Compare(b.BusinessKey),
		a.Version.Compare(b.Version), a.Installation.Compare(b.Installation)} {
		if by != 0 {
			return by
		}
	}
	return 0
}

// ViewName is the name of a view at the Catalog.
func ViewName(at serving.Revision) (serving.Name, error) {
	return facts.ParseKey[serving.Name](fmt.Sprintf("view/%s/%d", at.Lineage, at.Number))
}

// SealView makes the generation of a view.
//
// Refuses: GenerationMalformed (incomplete, or its bindings are not in their order, each once).
func SealView(scope serving.Scope, v View) (Exact, error) {
	for i := 1; i < len(v.Bindings); i++ {
		if CompareBindings(v.Bindings[i-1], v.Bindings[i]) >= 0 {
			return Exact{}, facts.Refuse(facts.GenerationMalformed, facts.OfInput("catalog view, "+bindingNoun(v.Bindings[i])), "it stands twice or out of order")
		}
	}
	name, err := ViewName(v.Revision)
	if err != nil {
		return Exact{}, err
	}
	at := revision{v.Revision.Lineage, v.Revision.Number, v.SecurityEpoch, v.Capabilities}
	form := viewForm{v.Organization, v.Installation, v.Workload, at, hexDigest(v.SourceSnapshot), []bindingForm{}}
	for _, b := range v.Bindings {
		one, err := formOf(b)
		if err != nil {
			return Exact{}, err
		}
		form.Bindings = append(form.Bindings, one)
	}
	raw, err := encode(form)
	if err != nil {
		return Exact{}, err
	}
	return seal(serving.Catalog, scope, name, ViewProtocol, raw, &at)
}

// OpenView takes the Catalog's answer apart and checks all of it.
//
// Refuses: GenerationMalformed.
func OpenView(scope serving.Scope, e Exact) (View, error) {
	form, err := decode[viewForm](e.Canonical.Bytes(), "catalog view")
	if err != nil {
		return View{}, err
	}
	v := View{form.Organization, form.Installation, form.Workload, serving.Revision{Lineage: form.Revision.Lineage, Number: form.Revision.Number},
		facts.Digest(form.SourceSnapshot), form.Revision.SecurityEpoch, form.Revision.Capabilities, nil}
	for _, one := range form.Bindings {
		identity, err := one.identity()
		if err != nil {
			return View{}, err
		}
		v.Bindings = append(v.Bindings, identity)
	}
	want, err := SealView(scope, v)
	if err != nil {
		return View{}, err
	}
	return v, same(e, want, "catalog view")
}

// Attest is what an epoch freezes of a view that was opened: the receipt's own revision is read from the receipt.
func Attest(v View, e Exact) (serving.CatalogAttestation, error) {
	says, err := decode[statement](e.Receipt.Bytes.Bytes(), "catalog receipt")
	if err != nil {
		return serving.CatalogAttestation{}, err
	}
	if says.Revision == nil {
		return serving.CatalogAttestation{}, facts.Refuse(facts.GenerationMalformed, facts.OfInput("catalog receipt"), "it states no revision")
	}
	return serving.CatalogAttestation{
		Organization: v.Organization, Installation: v.Installation, Workload: v.Workload, Revision: v.Revision,
		SourceSnapshot: v.SourceSnapshot, View: e.Digest, ReceiptProtocol: e.Receipt.Protocol,
		ReceiptRevision: serving.Revision{Lineage: says.Revision.Lineage, Number: says.Revision.Number},
		SecurityEpoch:   says.Revision.SecurityEpoch, CapabilityVersion: says.Revision.Capabilities,
	}, nil
}
