package owners

import (
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
)

// P04: an owner that has replaced a generation under its own name answers with something that is whole, well sealed and of the
// right name, and that nothing but the proof in the epoch can tell from what was frozen. It is a fault of that owner and
// that generation, whatever kind it is of, and nothing of the answer is used.
func TestP04AGenerationThatWasReplacedUnderItsNameIsNotWhatWasFrozen(t *testing.T) {
	l, q, order := shelved(t)
	read := Read(t.Context(), l.set(), q)
	if !read.Fault.IsZero() {
		t.Fatal(read.Fault)
	}
	frozen := read.Candidate(facts.EpochID{7})
	if f, fault := ReadFrozen(t.Context(), l.set(), frozen); !fault.IsZero() || len(f.Definitions) != len(frozen.Bindings) || len(f.Credentials) != len(frozen.Credentials) {
		t.Fatalf("nothing was replaced: %s", fault)
	}
	for _, at := range order[2:] {
		l.change = map[serving.Name]func(Exact) Answer[Exact]{at.name: func(e Exact) Answer[Exact] { return Have(replaced(t, at, e)) }}
		if again := Read(t.Context(), l.set(), q); !again.Fault.IsZero() {
			t.Fatalf("%s %s: what replaced it is not sound by itself: %s", at.owner, at.name, again.Fault)
		}
		f, fault := ReadFrozen(t.Context(), l.set(), frozen)
		if fault.Standing != Found || fault.Owner != at.owner || fault.Name != at.name || !strings.Contains(fault.Detail, "not what the epoch froze") {
			t.Errorf("%s %s was replaced: %+v", at.owner, at.name, fault)
		}
		for _, d := range f.Definitions {
			if strings.Contains(string(d.Content.Bytes()), "replaced") {
				t.Errorf("%s %s: what replaced it was taken", at.owner, at.name)
			}
		}
	}
	l.change = nil
	// The configuration's name is over its content, so that only the epoch can be of another one.
	other := frozen
	other.Configuration.Receipt.Digest[0]++
	if _, fault := ReadFrozen(t.Context(), l.set(), other); fault.Standing != Found || fault.Owner != serving.Configuration || fault.Name != order[1].name {
		t.Errorf("another receipt of the configuration was frozen: %+v", fault)
	}
}

// replaced is another content under the name of a generation, sealed as its owner would.
func replaced(t *testing.T, at asked, e Exact) Exact {
	t.Helper()
	if at.owner == serving.Credentials {
		g, err := OpenCredential(scope, e)
		if err != nil {
			t.Fatal(err)
		}
		g.Version = key[facts.SecretVersion](t, "replaced")
		if e, err = SealCredential(scope, g); err != nil {
			t.Fatal(err)
		}
		return e
	}
	d, err := OpenDefinition(scope, e)
	if err != nil {
		t.Fatal(err)
	}
	d.Content = serving.OpaqueOf([]byte("replaced"))
	if e, err = SealDefinition(scope, d); err != nil {
		t.Fatal(err)
	}
	return e
}
