package activate

import (
	"fmt"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/readers/owners"

	"github.com/cockroachdb/errors"
	"pgregory.net/rapid"
)

// tampered changes one thing of an answer: a part and, of bytes, which one.
func tampered(e owners.Exact, part string, at int) owners.Exact {
	bytes := func(o serving.Opaque) serving.Opaque {
		raw := o.Bytes()
		raw[at%len(raw)] ^= 1 << (at % 8)
		return serving.OpaqueOf(raw)
	}
	other := func(p facts.Protocol) facts.Protocol {
		made, _ := facts.ParseKey[facts.Protocol](p.String() + "x")
		return made
	}
	switch part {
	case "name":
		e.Name, _ = facts.ParseKey[serving.Name](e.Name.String() + "x")
	case "protocol":
		e.Protocol = other(e.Protocol)
	case "canonical":
		e.Canonical = bytes(e.Canonical)
	case "digest":
		e.Digest[at%32] ^= 1 << (at % 8)
	case "receipt protocol":
		e.Receipt.Protocol = other(e.Receipt.Protocol)
	case "receipt":
		e.Receipt.Bytes = bytes(e.Receipt.Bytes)
	case "receipt digest":
		e.Receipt.Digest[at%32] ^= 1 << (at % 8)
	}
	return e
}

var parts = []string{"name", "protocol", "canonical", "digest", "receipt protocol", "receipt", "receipt digest", "the whole answer", "absent"}

// asks are the names that a reading asks for, each with its owner.
func (s *scene) asks() (all []generationAsked) {
	s.t.Helper()
	b := &between{set: s.at.Set(), answer: func(owner serving.Owner, name serving.Name, a owners.Answer[owners.Exact]) owners.Answer[owners.Exact] {
		all = append(all, generationAsked{owner, name})
		return a
	}}
	w := s.wanted()
	if fault := owners.Read(s.t.Context(), b.ports(), owners.Question{Scope: s.at.Scope(), Least: w.Least, Configuration: w.Configuration}).Fault; !fault.IsZero() {
		s.t.Fatal(fault)
	}
	return all
}

// generationAsked is one exact read.
type generationAsked struct {
	owner serving.Owner
	name  serving.Name
}

// Whatever one part of one answer changes, in any bit, between preparation and verification or between verification and
// activation: the epoch is rejected, the message names owner and generation, nothing serves, and every owner may publish.
func TestP02EveryChangedAnswerRejectsTheEpochByName(t *testing.T) {
	s := newScene(t)
	asks := s.asks()
	if len(asks) != 2+6+len(s.credentials) {
		t.Fatalf("%d exact reads", len(asks))
	}
	clean := s.coordinator()
	rounds := 0
	rapid.Check(t, func(r *rapid.T) {
		target := rapid.SampledFrom(asks).Draw(r, "generation")
		part := rapid.SampledFrom(parts).Draw(r, "part")
		at := rapid.IntRange(0, 1<<16).Draw(r, "bit")
		late := rapid.SampledFrom([]bool{false, false, true}).Draw(r, "after verification")
		var last owners.Exact
		b := &between{set: s.at.Set(), answer: func(owner serving.Owner, name serving.Name, a owners.Answer[owners.Exact]) owners.Answer[owners.Exact] {
			e, found := a.Value()
			switch {
			case !found || name != target.name || owner != target.owner:
				last = e
				return a
			case part == "absent":
				return owners.None[owners.Exact]()
			case part == "the whole answer" && last.Name != (serving.Name{}) && last.Name != name:
				return owners.Have(last)
			}
			return owners.Have(tampered(e, strings.Replace(part, "the whole answer", "canonical", 1), at))
		}}
		c := s.coordinator(over(b.ports()))
		ref := s.prepared(clean)
		step := c.Verify
		if late {
			ref, step = s.verified(clean), c.Activate
		}
		judged, err := step(t.Context(), ref)
		rounds++
		if err != nil || judged.Cause == nil || judged.State.String() != "rejected" {
			r.Fatalf("%+v, %v", judged, err)
		}
		if text := judged.Cause.Error(); !errors.Is(judged.Cause, facts.OwnerDisagrees) || !strings.Contains(text, target.owner.String()+" ") || !strings.Contains(text, target.name.String()) {
			r.Fatalf("%s of %s %s: %s", part, target.owner, target.name, text)
		}
		if got := s.states(); strings.Contains(got, "serving at 6") || strings.Contains(got, "active") || strings.Contains(got, "held") || strings.Contains(got, "acquiring") {
			r.Fatalf("left %s", got)
		}
	})
	t.Logf("%d changes, %d of them while the barriers were held", rounds, s.count("SELECT COUNT(*) FROM serving_publication_barrier_set"))
	if _, err := clean.Advance(t.Context(), s.wanted()); err != nil {
		t.Error(err)
	}
	if got := s.states(); !strings.Contains(got, "active at 3") || !strings.HasSuffix(got, "; sets released; gates v2_serving at 6 under an epoch; owners open") {
		t.Error(got)
	}
}

// What changes at the owners themselves, by their own operations or behind their backs, is found by both readings.
func TestP02WhatHappensAtTheOwnersRejectsTheEpochByName(t *testing.T) {
	generation := func(owner serving.Owner, name string) string {
		return fmt.Sprintf("generation_digest=(SELECT g.generation_digest FROM (SELECT generation_digest FROM owner_generation WHERE owner='%s' AND name='%s') g)", owner, name)
	}
	for what, change := range map[string]func(s *scene) (owner serving.Owner, names string){
		"another view is current": func(s *scene) (serving.Owner, string) {
			_, err := s.at.Authorise(s.t.Context(), []facts.PackGenerationID{s.packs[1].Generation})
			ok(s.t, err)
			return serving.Configuration, "against revision 2 of the Catalog view: "
		},
		"a view of the same bindings and another revision": func(s *scene) (serving.Owner, string) {
			p := s.packOf("more")
			ok(s.t, s.at.PublishPack(s.t.Context(), p))
			_, err := s.at.Authorise(s.t.Context(), []facts.PackGenerationID{s.packs[0].Generation, s.packs[1].Generation, p.Generation})
			ok(s.t, err)
			return 0, "attestation: revision"
		},
		"a credential generation is gone": func(s *scene) (serving.Owner, string) {
			name := s.credentials[0].ID.String()
			s.execute("UPDATE owner_standing SET standing='removed' WHERE " + generation(serving.Credentials, name))
			return serving.Credentials, name
		},
		"the configuration is gone": func(s *scene) (serving.Owner, string) {
			name := s.wanted().Configuration.String()
			s.execute("UPDATE owner_standing SET standing='removed' WHERE " + generation(serving.Configuration, name))
			return serving.Configuration, name
		},
		"a byte of a definition": func(s *scene) (serving.Owner, string) {
			ask := s.asked(serving.FieldMappings)
			s.execute("UPDATE owner_generation SET canonical=CONCAT(canonical, ' ') WHERE owner='field_mappings' AND name=?", ask.name)
			return ask.owner, ask.name.String()
		},
		"a byte of a receipt": func(s *scene) (serving.Owner, string) {
			ask := s.asked(serving.PushContracts)
			s.execute("UPDATE owner_generation SET receipt_digest=REVERSE(receipt_digest) WHERE owner='push_contracts' AND name=?", ask.name)
			return ask.owner, ask.name.String()
		},
	} {
		for _, late := range []bool{false, true} {
			s := stage(t, serving.Conformance, 1)
			c := s.coordinator()
			ref := s.prepared(c)
			step := c.Verify
			if late {
				ref, step = s.verified(c), c.Activate
			}
			owner, names := change(s)
			judged, err := step(t.Context(), ref)
			if err != nil || judged.Cause == nil {
				t.Errorf("%s, late %v: %+v, %v", what, late, judged, err)
				continue
			}
			if text := judged.Cause.Error(); !strings.Contains(text, names) || owner != 0 && !strings.Contains(text, owner.String()) {
				t.Errorf("%s, late %v: %s", what, late, text)
			}
			want := map[bool]string{false: "epochs rejected at 2; sets none; gates none; owners open", true: "epochs rejected at 3; sets released; gates v2_validating at 5; owners open"}
			s.stands(what, want[late])
		}
	}
}

func (s *scene) asked(owner serving.Owner) generationAsked {
	for _, ask := range s.asks() {
		if ask.owner == owner {
			return ask
		}
	}
	s.t.Fatalf("nothing of %s was asked for", owner)
	return generationAsked{}
}

// An owner that does not answer decides nothing, whichever it is and whenever: the epoch stays prepared, or verified, the
// attempt is given up, and a later run comes to serve.
func TestP02AnOwnerThatDoesNotAnswerDecidesNothing(t *testing.T) {
	s := stage(t, serving.Conformance, 1)
	b := &between{set: s.at.Set()}
	c := s.coordinator(over(b.ports()))
	silent := func(owner serving.Owner) {
		b.answer = func(of serving.Owner, _ serving.Name, a owners.Answer[owners.Exact]) owners.Answer[owners.Exact] {
			if of == owner {
				return owners.Nobody[owners.Exact](errDown)
			}
			return a
		}
	}
	expect := func(what string, owner serving.Owner, err error, want facts.Code, stands string) {
		t.Helper()
		b.answer, b.barrier = nil, nil
		refused(t, what, err, want)
		if err != nil && !strings.Contains(err.Error(), owner.String()) {
			t.Errorf("%s: %v does not name %s", what, err, owner)
		}
		s.stands(what, stands)
	}
	const prepared = "epochs prepared at 1; sets none; gates none; owners open"
	for _, owner := range serving.Owners() {
		silent(owner)
		_, err := c.Prepare(t.Context(), s.wanted())
		expect("preparation without "+owner.String(), owner, err, facts.OwnerUnavailable, "epochs none; sets none; gates none; owners open")
	}
	ref := s.prepared(c)
	for _, owner := range serving.Owners() {
		silent(owner)
		_, err := c.Verify(t.Context(), ref)
		expect("verification without "+owner.String(), owner, err, facts.OwnerUnavailable, prepared)
	}
	s.verified(c)
	for _, owner := range serving.Owners() {
		silent(owner)
		_, err := c.Activate(t.Context(), ref)
		expect("reading under held barriers without "+owner.String(), owner, err, facts.OwnerUnavailable, offers)
		for call, want := range map[string]facts.Code{"acquire": facts.OwnerUnavailable, "verify": facts.OwnerUnavailable} {
			b.barrier = func(of serving.Owner, asked string) error {
				if of == owner && asked == call {
					return errDown
				}
				return nil
			}
			_, err := c.Activate(t.Context(), ref)
			expect(call+" of "+owner.String(), owner, err, want, offers)
		}
		b.barrier = func(of serving.Owner, asked string) error {
			if of == owner && asked == "verify" {
				return errGone
			}
			return nil
		}
		_, err = c.Activate(t.Context(), ref)
		expect("a hold that is gone of "+owner.String(), owner, err, facts.BarrierNotHeld, offers)
	}
	// An owner that cannot be opened stays closed, and whoever meets it next opens it.
	b.barrier = func(of serving.Owner, asked string) error {
		if of == serving.PushContracts && asked != "acquire" {
			return errDown
		}
		return nil
	}
	_, err := c.Activate(t.Context(), ref)
	expect("an owner that cannot be opened", serving.PushContracts, err, facts.OwnerUnavailable, strings.Replace(offers, "owners open", "owners held,open", 1))
	_, err = c.Activate(t.Context(), ref)
	ok(t, err)
	s.stands("at last", serves)
}
