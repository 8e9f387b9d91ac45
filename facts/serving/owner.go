package serving

import (
	"database/sql/driver"

	"github.com/cockroachdb/errors"
)

// Owner is one of the closed set of owners whose facts an epoch freezes. Each holds a publication barrier of its own.
// The zero Owner is none.
//
// Spec: Ownership boundaries.
type Owner uint8

// The owners.
const (
	Catalog         Owner = iota + 1 // which bindings are authorised
	InboundRoutes                    // definitions of inbound routes
	CalloutProfiles                  // definitions of callout profiles
	FieldMappings                    // definitions of field mappings
	PushContracts                    // definitions of push contracts
	Configuration                    // the tenant's configuration
	Credentials                      // credential generations, and whether they may be used
)

var ownerNames = []string{"", "catalog", "inbound_routes", "callout_profiles", "field_mappings", "push_contracts", "configuration", "credentials"}

// Owners are all owners, in the order of the constants.
func Owners() []Owner {
	return []Owner{Catalog, InboundRoutes, CalloutProfiles, FieldMappings, PushContracts, Configuration, Credentials}
}

// String is the owner's stable name, "no owner" for the zero Owner.
func (o Owner) String() string { return named(ownerNames, uint8(o), "no owner") }

// Value is the owner as it is stored.
func (o Owner) Value() (driver.Value, error) { return bind(ownerNames, uint8(o), "owner") }

// Scan reads a stored owner and refuses any other bytes.
func (o *Owner) Scan(source any) error {
	n, err := scan(ownerNames, source, "owner")
	*o = Owner(n)
	return err
}

// BindingKind is one of the four closed kinds of Catalog binding. The zero BindingKind is none.
//
// Spec: Existing foundations and schema ownership ("each of the four closed binding kinds").
type BindingKind uint8

// The kinds.
const (
	InboundRoute BindingKind = iota + 1
	CalloutProfile
	FieldMapping
	PushContract
)

var kindNames = []string{"", "inbound_route", "callout_profile", "field_mapping", "push_contract"}

// BindingKinds are all kinds, in the order of the constants.
func BindingKinds() []BindingKind {
	return []BindingKind{InboundRoute, CalloutProfile, FieldMapping, PushContract}
}

// ParseBindingKind reads a kind's stable name.
func ParseBindingKind(name string) (BindingKind, error) {
	n, err := scan(kindNames, []byte(name), "binding kind")
	return BindingKind(n), err
}

// String is the kind's stable name, "no kind" for the zero BindingKind.
func (k BindingKind) String() string { return named(kindNames, uint8(k), "no kind") }

// MarshalText is the stable name. The zero kind has none.
func (k BindingKind) MarshalText() ([]byte, error) {
	raw, err := bind(kindNames, uint8(k), "binding kind")
	if err != nil {
		return nil, err
	}
	return raw.([]byte), nil
}

// UnmarshalText reads a stable name and refuses every other.
func (k *BindingKind) UnmarshalText(text []byte) error {
	n, err := scan(kindNames, text, "binding kind")
	*k = BindingKind(n)
	return err
}

// Owner is who defines bindings of the kind; the zero Owner for no kind.
func (k BindingKind) Owner() Owner {
	if k < InboundRoute || k > PushContract {
		return 0
	}
	return InboundRoutes + Owner(k-InboundRoute)
}

func named(names []string, n uint8, none string) string {
	if n == 0 || int(n) >= len(names) {
		return none
	}
	return names[n]
}

func bind(names []string, n uint8, noun string) (driver.Value, error) {
	if n == 0 || int(n) >= len(names) {
		return nil, errors.AssertionFailedf("%d was bound as %s", n, noun)
	}
	return []byte(names[n]), nil
}

func scan(names []string, source any, noun string) (uint8, error) {
	raw, ok := source.([]byte)
	if !ok {
		return 0, errors.AssertionFailedf("a column of a %s held %T, want bytes", noun, source)
	}
	for n := 1; n < len(names); n++ {
		if names[n] == string(raw) {
			return uint8(n), nil
		}
	}
	return 0, errors.Newf("%q is no %s: want one of %q", raw, noun, names[1:])
}
