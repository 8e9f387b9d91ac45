package owners

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"

	"github.com/cockroachdb/errors"
)

// library is owners that answer from memory, each answer as it may have been changed.
type library struct {
	Barrier
	mutex   sync.Mutex
	answers map[serving.Name]Exact
	change  map[serving.Name]func(Exact) Answer[Exact]
	before  func(serving.Name) // called before each exact read
}

func (l *library) answer(name serving.Name) Answer[Exact] {
	if l.before != nil {
		l.before(name)
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	e, known := l.answers[name]
	if change := l.change[name]; change != nil {
		return change(e)
	}
	if !known {
		return None[Exact]()
	}
	return Have(e)
}

func (l *library) CurrentView(context.Context, serving.Scope, serving.Revision) Answer[Exact] {
	for name := range l.answers {
		if strings.HasPrefix(name.String(), "view/") {
			return l.answer(name)
		}
	}
	return None[Exact]()
}

func (l *library) Definition(_ context.Context, _ serving.Scope, identity serving.BindingIdentity) Answer[Exact] {
	name, err := DefinitionName(identity)
	if err != nil {
		return Nobody[Exact](err)
	}
	return l.answer(name)
}

func (l *library) Configuration(_ context.Context, _ serving.Scope, id facts.ServiceConfigurationGeneration) Answer[Exact] {
	name, err := ConfigurationName(id)
	if err != nil {
		return Nobody[Exact](err)
	}
	return l.answer(name)
}

func (l *library) Credential(_ context.Context, _ serving.Scope, id facts.CredentialGenerationID) Answer[Exact] {
	name, err := CredentialName(id)
	if err != nil {
		return Nobody[Exact](err)
	}
	return l.answer(name)
}

func (l *library) set() Set { return Set{l, l, l, l, l, l, l} }

// asked is one thing that a reading asks for, in the order of the faults.
type asked struct {
	owner serving.Owner
	name  serving.Name
}

func shelved(t testing.TB) (*library, Question, []asked) {
	t.Helper()
	l := &library{answers: map[serving.Name]Exact{}, change: map[serving.Name]func(Exact) Answer[Exact]{}}
	must := func(e Exact, err error) Exact {
		if err != nil {
			t.Fatal(err)
		}
		l.answers[e.Name] = e
		return e
	}
	v := someView(t)
	order := []asked{{serving.Catalog, must(SealView(scope, v)).Name}}
	c, generations := someConfiguration(t)
	id, e, err := SealConfiguration(scope, c)
	order = append(order, asked{serving.Configuration, must(e, err).Name})
	for _, b := range v.Bindings {
		d := Definition{b, key[facts.PackGenerationID](t, "g-1"), serving.OpaqueOf([]byte("definition of " + b.BusinessKey.String())), facts.Digest{9}}
		order = append(order, asked{b.Kind.Owner(), must(SealDefinition(scope, d)).Name})
	}
	for _, id := range c.Generations() {
		order = append(order, asked{serving.Credentials, must(SealCredential(scope, generations[id])).Name})
	}
	return l, Question{scope, serving.Revision{Lineage: v.Revision.Lineage, Number: v.Revision.Number}, id}, order
}

func TestAReadingFreezesWhatTheOwnersHave(t *testing.T) {
	l, q, order := shelved(t)
	r := Read(t.Context(), l.set(), q)
	if !r.Fault.IsZero() {
		t.Fatal(r.Fault)
	}
	author, err := serving.AuthorOf(facts.ProfileV2)
	if err != nil {
		t.Fatal(err)
	}
	c := r.Candidate(facts.EpochID{7})
	if err := c.Check(author, r.Configured); err != nil {
		t.Error(err)
	}
	if len(r.Accounts) != 2 || len(c.Bindings) != 4 || c.Configuration.Generation != q.Configuration || c.Catalog.Revision != q.Least {
		t.Errorf("%+v", c)
	}
	for i, d := range c.Definitions {
		if e := l.answers[order[2+i].name]; d.Definition != e.Digest || d.Receipt != e.Receipt || d.EnvelopeVersion != e.Protocol {
			t.Errorf("definition %d is not the owner's", i)
		}
	}
	for i, p := range c.Credentials {
		e := l.answers[order[2+len(c.Bindings)+i].name]
		if g, err := OpenCredential(scope, e); err != nil || p.Generation != g.ID || p.Receipt != e.Receipt {
			t.Errorf("credential %d is not the owner's: %v", i, err)
		}
	}
	other := r.Candidate(facts.EpochID{8})
	if author.Epoch(other).Digest == author.Epoch(c).Digest || other.Bindings[0].Row == c.Bindings[0].Row {
		t.Error("two epochs of one reading are one")
	}
}

// Whatever byte or part of an answer changes, it is a fault of that owner and that
// generation, and never an absence.
func TestP02EveryChangedAnswerIsAFaultThatNamesItsOwner(t *testing.T) {
	l, q, order := shelved(t)
	changed := 0
	expect := func(at asked, what string, change func(*Exact)) {
		t.Helper()
		l.change = map[serving.Name]func(Exact) Answer[Exact]{at.name: func(e Exact) Answer[Exact] { change(&e); return Have(e) }}
		fault := Read(t.Context(), l.set(), q).Fault
		changed++
		if fault.Standing != Found || fault.Owner != at.owner || !strings.Contains(fault.String(), at.owner.String()+" ") || !strings.Contains(fault.String(), at.name.String()) || fault.Detail == "" {
			t.Errorf("%s of %s %s: %+v", what, at.owner, at.name, fault)
		}
	}
	for _, at := range order {
		expect(at, "name", func(e *Exact) { e.Name = key[serving.Name](t, "another") })
		expect(at, "protocol", func(e *Exact) { e.Protocol = key[facts.Protocol](t, "another") })
		expect(at, "digest", func(e *Exact) { e.Digest[5] ^= 1 })
		expect(at, "receipt protocol", func(e *Exact) { e.Receipt.Protocol = key[facts.Protocol](t, "another") })
		expect(at, "receipt digest", func(e *Exact) { e.Receipt.Digest[5] ^= 1 })
		for i := 0; i < len(l.answers[at.name].Canonical.Bytes()); i += 19 { // every byte is the openers' own test
			expect(at, fmt.Sprint("byte ", i), func(e *Exact) { raw := e.Canonical.Bytes(); raw[i] ^= 1; e.Canonical = serving.OpaqueOf(raw) })
		}
		for i := 0; i < len(l.answers[at.name].Receipt.Bytes.Bytes()); i += 19 {
			expect(at, fmt.Sprint("receipt byte ", i), func(e *Exact) { raw := e.Receipt.Bytes.Bytes(); raw[i] ^= 1; e.Receipt.Bytes = serving.OpaqueOf(raw) })
		}
		if other := order[(slices.Index(order, at)+1)%len(order)]; at.owner != serving.Catalog { // another generation, whole and well sealed
			expect(at, "the generation", func(e *Exact) { *e = l.answers[other.name] })
		}
	}
	t.Logf("%d changes of %d answers", changed, len(order))
}

// Absent is absent and unavailable is unavailable, at every owner, and neither is taken for the other or for a mismatch.
func TestP02TheThreeAnswersAreNeverConfused(t *testing.T) {
	l, q, order := shelved(t)
	for _, at := range order {
		l.change = map[serving.Name]func(Exact) Answer[Exact]{at.name: func(Exact) Answer[Exact] { return None[Exact]() }}
		if fault := Read(t.Context(), l.set(), q).Fault; fault.Standing != Absent || fault.Owner != at.owner || fault.Name != at.name {
			t.Errorf("%s %s is absent: %+v", at.owner, at.name, fault)
		}
		cause := errors.New("no answer")
		l.change = map[serving.Name]func(Exact) Answer[Exact]{at.name: func(Exact) Answer[Exact] { return Nobody[Exact](cause) }}
		if fault := Read(t.Context(), l.set(), q).Fault; fault.Standing != Unavailable || fault.Owner != at.owner || fault.Name != at.name || !errors.Is(fault.Cause, cause) {
			t.Errorf("%s %s is unavailable: %+v", at.owner, at.name, fault)
		}
		l.change = map[serving.Name]func(Exact) Answer[Exact]{at.name: func(Exact) Answer[Exact] { return Answer[Exact]{} }}
		if fault := Read(t.Context(), l.set(), q).Fault; fault.Standing != Unavailable || fault.IsZero() {
			t.Errorf("%s %s: a forgotten answer is %+v", at.owner, at.name, fault)
		}
	}
	l.change = nil
	for what, want := range map[string]Standing{"a later revision": Unavailable, "another lineage": Found} {
		asks := q
		if asks.Least.Number++; want == Found {
			asks.Least = serving.Revision{Lineage: key[facts.Lineage](t, "another"), Number: 1}
		}
		if fault := Read(t.Context(), l.set(), asks).Fault; fault.Standing != want || fault.Owner != serving.Catalog {
			t.Errorf("%s was asked for: %+v", what, fault)
		}
	}
}

// With several faults at once, whichever answer comes first, the reading tells of the first in its own order. Never more
// than eight exact reads are under way.
func TestAReadingDoesNotDependOnTheOrderOfAnswers(t *testing.T) {
	l, q, order := shelved(t)
	exact := order[2:]
	if len(exact) < 6 || len(exact) > inFlight {
		t.Fatalf("%d exact reads do not fit into one flight", len(exact))
	}
	for lowest := range exact {
		for _, reversed := range []bool{false, true} {
			answered := make([]chan struct{}, len(exact)+1)
			for i := range answered {
				answered[i] = make(chan struct{})
			}
			l.change = map[serving.Name]func(Exact) Answer[Exact]{}
			for i, at := range exact {
				l.change[at.name] = func(e Exact) Answer[Exact] {
					defer close(answered[i])
					if i < lowest {
						return Have(e)
					}
					return []Answer[Exact]{None[Exact](), Nobody[Exact](errors.New("no answer"))}[i%2]
				}
			}
			l.before = func(name serving.Name) {
				i := slices.IndexFunc(exact, func(at asked) bool { return at.name == name })
				if i >= 0 && reversed && i+1 < len(exact) {
					<-answered[i+1] // this one waits for the one after it, so that they come in the reverse order
				}
			}
			fault := Read(t.Context(), l.set(), q).Fault
			if fault.Name != exact[lowest].name || (fault.Standing == Absent) != (lowest%2 == 0) {
				t.Errorf("lowest fault %d, reversed %v: %s", lowest, reversed, fault)
			}
		}
	}
	var under, most atomic.Int64
	first(500, func(int) Fault {
		now := under.Add(1)
		for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
		}
		defer under.Add(-1)
		return Fault{}
	})
	if most.Load() > inFlight {
		t.Errorf("%d tasks were under way at once", most.Load())
	}
}

func TestP03AReadingWhoseRelationDoesNotFitIsAFaultOfTheConfiguration(t *testing.T) {
	l, q, _ := shelved(t)
	c, _ := someConfiguration(t)
	c.Accounts[1].Credentials = c.Accounts[1].Credentials[1:]
	id, e, err := SealConfiguration(scope, c)
	if err != nil {
		t.Fatal(err)
	}
	l.answers[e.Name], q.Configuration = e, id
	fault := Read(t.Context(), l.set(), q).Fault
	if fault.Standing != Found || fault.Owner != serving.Configuration || fault.Name != e.Name || !strings.Contains(fault.Detail, c.Accounts[1].Account.String()) || !strings.Contains(fault.Detail, "not mapped") {
		t.Errorf("%+v", fault)
	}
}
