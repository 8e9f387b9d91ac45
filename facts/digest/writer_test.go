package digest

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"pgregory.net/rapid"
)

var sample = Declare("sample",
	OfText("name"), Optional(OfBytes("body")), OfGroup("items", OfUint("number"), OfGroup("tags", OfText("tag"))), OfID("id"), OfSum("sum"))

func whole(w *Writer) *Writer {
	return w.Text("name", "n").Bytes("body", []byte{1, 2}).
		Group("items", 2, func(item *Writer, ordinal int) {
			item.Uint("number", uint64(ordinal)).Group("tags", ordinal, func(tag *Writer, _ int) { tag.Text("tag", "t") })
		}).ID("id", [16]byte{1}).Sum("sum", [32]byte{2})
}

func TestDigestIsTheHashOfTheTracedPreimage(t *testing.T) {
	var trace bytes.Buffer
	sum, err := whole(sample.BeginTo(ProfileV2, &trace)).End()
	if err != nil || sum != sha256.Sum256(trace.Bytes()) {
		t.Errorf("digest %x of %x: %v", sum, trace.Bytes(), err)
	}
	again, err := whole(sample.Begin(ProfileV2)).End()
	if err != nil || again != sum {
		t.Errorf("without a trace the digest is %x, %v", again, err)
	}
	if !bytes.Contains(trace.Bytes(), []byte(ProfileV2)) || !bytes.Contains(trace.Bytes(), []byte("sample")) {
		t.Error("the profile or the label is not inside the preimage")
	}
}

func TestOnlyTheDeclaredFieldsInTheirOrderHaveADigest(t *testing.T) {
	v2 := func() *Writer { return sample.Begin(ProfileV2) }
	faulty := map[string]*Writer{
		"nothing written":      v2(),
		"incomplete":           v2().Text("name", "n"),
		"another name":         v2().Text("title", "n"),
		"another kind":         v2().Bytes("name", []byte("n")),
		"another order":        v2().Bytes("body", nil).Text("name", "n"),
		"required left out":    v2().Null("name"),
		"one too many":         whole(v2()).Text("name", "n"),
		"invalid text":         v2().Text("name", "\xff"),
		"negative count":       v2().Text("name", "n").Null("body").Group("items", -1, nil),
		"item incomplete":      v2().Text("name", "n").Null("body").Group("items", 1, func(item *Writer, _ int) { item.Uint("number", 1) }),
		"item too long":        v2().Text("name", "n").Null("body").Group("items", 1, func(item *Writer, _ int) { whole(item) }),
		"zero id":              Declare("x", OfID("id")).Begin(ProfileV2).ID("id", [16]byte{}),
		"zero digest":          Declare("x", OfSum("sum")).Begin(ProfileV2).Sum("sum", [32]byte{}),
		"a read-only profile":  whole(sample.Begin("nexuscrm.connector-digest-profile.v1")),
		"no profile":           whole(sample.Begin("")),
		"an unknown profile":   whole(sample.Begin(ProfileV2 + " ")),
		"a trace that refuses": whole(sample.BeginTo(ProfileV2, refusing{})),
	}
	for name, w := range faulty {
		if sum, err := w.End(); !errors.HasAssertionFailure(err) || sum != [32]byte{} {
			t.Errorf("%s: digest %x, %v", name, sum, err)
		}
	}
	twice := whole(v2())
	if _, err := twice.End(); err != nil {
		t.Fatal(err)
	}
	if sum, err := twice.End(); !errors.HasAssertionFailure(err) || sum != [32]byte{} {
		t.Errorf("ended twice: digest %x, %v", sum, err)
	}
}

type refusing struct{}

func (refusing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestTheFirstFaultIsTheOneReported(t *testing.T) {
	_, err := sample.Begin(ProfileV2).Text("title", "n").Bytes("nonsense", nil).End()
	if err == nil || !strings.Contains(err.Error(), "text title was written where text name was due") {
		t.Errorf("%v", err)
	}
}

// Two different lists of values never have one preimage, wherever bytes move from one value to its neighbour.
func TestFramingIsInjective(t *testing.T) {
	pair := Declare("pair", OfText("a"), Optional(OfBytes("b")), OfGroup("c", OfBytes("d")))
	type values struct {
		a     string
		b     []byte
		hasB  bool
		items [][]byte
	}
	preimage := func(v values) []byte {
		var trace bytes.Buffer
		w := pair.BeginTo(ProfileV2, &trace).Text("a", v.a)
		if v.hasB {
			w.Bytes("b", v.b)
		} else {
			w.Null("b")
		}
		w.Group("c", len(v.items), func(item *Writer, i int) { item.Bytes("d", v.items[i]) })
		if _, err := w.End(); err != nil {
			t.Fatal(err)
		}
		return trace.Bytes()
	}
	small := rapid.SliceOfN(rapid.ByteRange(0, 3), 0, 3)
	draw := rapid.Custom(func(t *rapid.T) values {
		return values{
			a: string(small.Draw(t, "a")), b: small.Draw(t, "b"), hasB: rapid.Bool().Draw(t, "hasB"),
			items: rapid.SliceOfN(small, 0, 3).Draw(t, "items"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		v, u := draw.Draw(t, "v"), draw.Draw(t, "u")
		same := v.a == u.a && v.hasB == u.hasB && (!v.hasB || bytes.Equal(v.b, u.b)) && len(v.items) == len(u.items)
		for i := 0; same && i < len(v.items); i++ {
			same = bytes.Equal(v.items[i], u.items[i])
		}
		if bytes.Equal(preimage(v), preimage(u)) != same {
			t.Fatalf("%+v and %+v", v, u)
		}
	})
}

func TestAbsentAndEmptyAreTwoPreimages(t *testing.T) {
	shape := Declare("optional", Optional(OfBytes("b")))
	absent, err := shape.Begin(ProfileV2).Null("b").End()
	if err != nil {
		t.Fatal(err)
	}
	empty, err := shape.Begin(ProfileV2).Bytes("b", nil).End()
	if err != nil || absent == empty {
		t.Errorf("absent %x and empty %x, %v", absent, empty, err)
	}
}

func TestShapeListsItsFields(t *testing.T) {
	want := "sample: name text, body bytes?, items [number uint, tags [tag text]], id id, sum digest"
	if sample.String() != want || sample.Label() != "sample" {
		t.Errorf("got %s", sample)
	}
}
