package serving

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
	"pgregory.net/rapid"
)

func anyOf[T any](t *rapid.T, fill func([]byte) T, n int) T {
	return fill(rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "bytes"))
}

func anySum(t *rapid.T) facts.Digest {
	return anyOf(t, func(raw []byte) facts.Digest { return facts.Digest(raw) }, 32)
}

func anyKey[T facts.AnyKey](t *rapid.T) T {
	parsed, err := facts.ParseKey[T](rapid.StringMatching(`[a-z0-9./-]{1,40}`).Draw(t, "key"))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func anyReceipt(t *rapid.T) Receipt {
	return Receipt{anyKey[facts.Protocol](t), OpaqueOf(rapid.SliceOfN(rapid.Byte(), 1, 64).Draw(t, "receipt")), anySum(t)}
}

// anyCandidate has every value drawn at random; its parts stand where they belong, and need not derive to each other.
func anyCandidate(t *rapid.T) Candidate {
	number := rapid.Uint64Range(0, math.MaxInt64)
	revision := func() Revision { return Revision{anyKey[facts.Lineage](t), number.Draw(t, "revision")} }
	id := func() (id facts.EpochID) {
		return anyOf(t, func(raw []byte) facts.EpochID { return facts.EpochID(raw) }, 16)
	}
	c := Candidate{Epoch: id(), Scope: Scope{anySum(t)},
		Catalog: CatalogAttestation{anyKey[facts.Organization](t), anyKey[facts.ApplicationInstallation](t), anyKey[facts.Workload](t), revision(),
			anySum(t), anySum(t), anyKey[facts.Protocol](t), revision(), number.Draw(t, "security"), anyKey[facts.Protocol](t)},
		Configuration: ConfigurationProof{anyKey[facts.Protocol](t), anyKey[facts.ServiceConfigurationGeneration](t), anySum(t), anyReceipt(t)}}
	for i := range rapid.IntRange(0, 5).Draw(t, "bindings") {
		b := Binding{uint64(i), facts.BindingID(id()), anySum(t), BindingIdentity{rapid.SampledFrom(BindingKinds()).Draw(t, "kind"), anyKey[facts.PackName](t),
			anyKey[facts.PackInstallationID](t), anySum(t), anyKey[facts.DefinitionID](t), anyKey[facts.DefinitionVersion](t),
			OpaqueOf(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "refs")), RuntimeCommand{}}}
		if rapid.Bool().Draw(t, "runtime") {
			b.Runtime = RuntimeCommand{anyKey[facts.DefinitionID](t), anyKey[facts.DefinitionVersion](t)}
		}
		c.Bindings = append(c.Bindings, b)
		c.Definitions = append(c.Definitions, DefinitionProof{b.Ordinal, b.Row, b.Identity, anyKey[facts.PackGenerationID](t), anyKey[facts.Protocol](t), anySum(t), anyReceipt(t)})
	}
	for i := range rapid.IntRange(0, 5).Draw(t, "credentials") {
		c.Credentials = append(c.Credentials, CredentialProof{uint64(i), facts.CredentialGenerationID(id()), anySum(t), anyReceipt(t)})
	}
	return c
}

func TestACandidateIsItsRowsAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCandidate(t)
		rows, err := c.Rows()
		if err != nil {
			t.Fatal(err)
		}
		if again := rows.Candidate(); !reflect.DeepEqual(again, c) {
			t.Fatalf("it became\n%+v\nwas\n%+v", again, c)
		}
	})
}

// Every change of one value of a candidate changes its rows, or is refused because they would lose it.
func TestNothingOfACandidateIsLostInItsRows(t *testing.T) {
	before, err := whole(t).Rows()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range changes {
		c := whole(t)
		change(&c)
		after, err := c.Rows()
		if err == nil && reflect.DeepEqual(before, after) || err != nil && !errors.Is(err, facts.GenerationMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := whole(t)
	c.Catalog.Revision.Number = math.MaxInt64 + 1
	if _, err := c.Rows(); !errors.Is(err, facts.GenerationMalformed) || !strings.Contains(err.Error(), "revision") {
		t.Errorf("a number that no column holds: %v", err)
	}
}
