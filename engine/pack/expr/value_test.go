package expr

import (
	"strings"
	"testing"

	"github.com/cockroachdb/errors"

	"connectorcore/facts"
)

func TestOnlyStrictJSONIsRead(t *testing.T) {
	for name, body := range map[string]string{
		"empty": "", "blank": " \n", "two values": "{} {}", "trailing comma": "[1,]", "duplicate": `{"id":"A","id":"B"}`,
		"duplicate after unescaping": `{"id":"A","\u0069d":"B"}`, "invalid UTF-8": "{\"a\":\"\xff\"}", "lone surrogate": `{"a":"\ud800"}`,
		"raw NUL": "{\"a\":\"\x00\"}", "NaN": "NaN", "leading zero": "[01]", "byte order mark": "\ufeff{}", "comment": "{/*x*/}",
		"cut": `{"a":`, "key only": `{"a"}`, "cut list": `[1`,
	} {
		if _, err := Decode([]byte(body), 64); !errors.Is(err, facts.BodyUnreadable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, body := range []string{`null`, `0`, `""`, `{"a":"\u0000"}`, `{"a":{},"b":[[]]}`, "\t[1]\r\n"} {
		if _, err := Decode([]byte(body), 64); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestScenario025TwoNamesThatDifferByCaseNameNothing(t *testing.T) {
	for _, body := range []string{`{"id":"A","ID":"B"}`, `{"id":"A","Id":"B","x":1}`, "{\"id\":\"A\",\"\u0130d\":\"B\",\"iD\":\"C\"}"} {
		if _, err := EvalKey[facts.SourceEventKey](expression(t, Event, Key, "payload.id"), payload(t, body), 512); !errors.Is(err, facts.ExpressionFailed) {
			t.Errorf("%s: %v", body, err)
		}
		if _, err := EvalKey[facts.SourceEventKey](expression(t, Event, Key, `has(payload.id) ? "there" : "not"`), payload(t, body), 512); !errors.Is(err, facts.ExpressionFailed) {
			t.Errorf("has(%s): %v", body, err)
		}
		if _, err := expression(t, Event, JSON, `pointer(payload, "/id", "none")`).JSON(payload(t, body)); !errors.Is(err, facts.ExpressionFailed) {
			t.Errorf("pointer in %s: %v", body, err)
		}
	}
	if got, err := expression(t, Event, JSON, "payload.x").JSON(payload(t, `{"x":1,"id":2,"ID":3}`)); err != nil || string(got) != "1" {
		t.Errorf("another member of that object: %s, %v", got, err)
	}
}

func TestScenario029DepthHasALimitAndAClosedRefusal(t *testing.T) {
	for name, body := range map[string]string{
		"lists": strings.Repeat("[", 200_000), "objects": strings.Repeat(`{"a":`, 200_000),
		"closed": strings.Repeat("[", 65) + strings.Repeat("]", 65),
	} {
		if _, err := Decode([]byte(body), 64); !errors.Is(err, facts.BodyTooDeep) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Decode([]byte(strings.Repeat("[", 64)+strings.Repeat("]", 64)), 64); err != nil {
		t.Errorf("64 levels: %v", err)
	}
}

func TestScenario023NULIsDataAndNeverAKey(t *testing.T) {
	in := payload(t, `{"id":"a\u0000b"}`)
	if _, err := EvalKey[facts.SourceEventKey](expression(t, Event, Key, "payload.id"), in, 512); !errors.Is(err, facts.KeyNotCanonical) {
		t.Errorf("%v", err)
	}
	if got, err := expression(t, Event, JSON, "payload.id").JSON(in); err != nil || string(got) != `"a\u0000b"` {
		t.Errorf("%s, %v", got, err)
	}
}

func FuzzDecodeGivesBackWhatItRead(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.50,"x",null,true],"A":{}}`, `[[[]]]`, `"\ud83d\ude00"`, `{"id":1,"id":2}`, `1e400`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		v, err := Decode(body, 64)
		if err != nil {
			if !errors.Is(err, facts.BodyUnreadable) && !errors.Is(err, facts.BodyTooDeep) {
				t.Fatalf("%v", err)
			}
			return
		}
		once, err := v.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(once, 64)
		if err != nil {
			t.Fatalf("%s is not read again: %v", once, err)
		}
		if twice, err := again.AppendJSON(nil); err != nil || string(twice) != string(once) {
			t.Fatalf("%s became %s, %v", once, twice, err)
		}
	})
}
