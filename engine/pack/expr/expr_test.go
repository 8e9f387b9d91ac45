package expr

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"

	"connectorcore/facts"
)

func expression(t testing.TB, scope Scope, result Result, source string) *Expression {
	t.Helper()
	e, complaint := New(scope, result, "test", source)
	if complaint != nil {
		t.Fatalf("%s: %+v", source, complaint)
	}
	if err := e.Bind(100_000); err != nil {
		t.Fatal(err)
	}
	return e
}

func payload(t testing.TB, body string) Inputs {
	t.Helper()
	v, err := Decode([]byte(body), 64)
	if err != nil {
		t.Fatal(err)
	}
	return Inputs{"payload": v}
}

func TestNumbersKeepTheirExactText(t *testing.T) {
	const body = `{"big":9007199254740993,"huge":820982911946154508123456789,"e":1e3,"point":1000.0,"minus":-0,"far":1e400,"tiny":1E-999}`
	got, err := expression(t, Event, JSON, "payload").JSON(payload(t, body))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"big":9007199254740993,"e":1e3,"far":1e400,"huge":820982911946154508123456789,"minus":-0,"point":1000.0,"tiny":1E-999}`
	if string(got) != want {
		t.Errorf("got %s", got)
	}
}

func TestScenario027IdsAreNeverMergedAndOddNumbersNameNothing(t *testing.T) {
	e := expression(t, Event, Key, "payload.id")
	seen := map[string]bool{}
	for _, id := range []string{"9007199254740993", "9007199254740992", "820982911946154508", "820982911946154500"} {
		key, err := EvalKey[facts.SourceEventKey](e, payload(t, `{"id":`+id+`}`), 512)
		if err != nil || key.String() != id || seen[key.String()] {
			t.Errorf("%s became %q: %v", id, key, err)
		}
		seen[key.String()] = true
	}
	for _, id := range []string{"1e3", "1000.0", "-0", "1e400", "0.5"} {
		if _, err := EvalKey[facts.SourceEventKey](e, payload(t, `{"id":`+id+`}`), 512); !errors.Is(err, facts.NumberNotInteger) {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, id := range []string{`true`, `null`, `{}`, `[]`} {
		if _, err := EvalKey[facts.SourceEventKey](e, payload(t, `{"id":`+id+`}`), 512); !errors.Is(err, facts.ExpressionTypeDiffers) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if _, err := EvalKey[facts.SourceEventKey](e, payload(t, `{"id":"12345"}`), 4); !errors.Is(err, facts.KeyNotCanonical) {
		t.Errorf("a key above its channel's limit: %v", err)
	}
}

func TestWalkingAnObjectHasOneOrder(t *testing.T) {
	const body = `{"m":{"k9":1,"k1":2,"K5":3,"k7":4,"a":5,"z":6,"é":7,"k3":8}}`
	for source, want := range map[string]string{
		"payload.m.map(k, k)":                  `["K5","a","k1","k3","k7","k9","z","é"]`,
		"payload.m.filter(k, k != 'a')":        `["K5","k1","k3","k7","k9","z","é"]`,
		"payload.m.map(k, text(payload.m[k]))": `["3","5","2","8","4","1","6","7"]`,
	} {
		e := expression(t, Event, JSON, source)
		for run := range 500 {
			if got, err := e.JSON(payload(t, body)); err != nil || string(got) != want {
				t.Fatalf("run %d of %s: %s, %v", run, source, got, err)
			}
		}
	}
}

func TestMapLiteralsAreWrittenInOneOrder(t *testing.T) {
	e := expression(t, Event, JSON, `{"b": payload.x, "a": payload.y, "c": payload.x}`)
	for range 500 {
		got, err := e.JSON(payload(t, `{"x":1.50,"y":{"z":1,"Z":2}}`))
		if err != nil || string(got) != `{"a":{"Z":2,"z":1},"b":1.50,"c":1.50}` {
			t.Fatalf("%s: %v", got, err)
		}
	}
}

func TestWhatIsInexactOrRandomDoesNotCompile(t *testing.T) {
	for source, want := range map[string]string{
		`{"a": 1, "b": 2}.map(k, k)`:                                "map literal",
		`(payload.x == null ? {"a": 1} : {"b": 1}).exists(k, true)`: "map literal",
		`[{"a": 1, "b": 2}].map(m, m.map(k, k))`:                    "map literal",
		`[1].map(x, {"a": 1, "b": 2}).map(m, m.map(k, k))`:          "map literal",
		`pointer({"a": 1, "b": 2}, "").map(k, k)`:                   "map literal",
		`payload.count == 5`:                                        "compared with an int",
		`5 != payload.count`:                                        "compared with an int",
		`payload.count in [1, 2]`:                                   "compared with an int",
		`[1, 2].exists(x, x == payload.n)`:                          "compared with an int",
		`payload.count == 1.5`:                                      "inexact",
		`double("1.5")`:                                             "reference to 'double'",
		`timestamp("2020-01-01T00:00:00Z")`:                         "reference to 'timestamp'",
		`now()`:                                                     "reference to 'now'",
		`dyn(5) == payload.x`:                                       "reference to 'dyn'",
		`int(payload.x)`:                                            "reference to 'int'",
		`component.id`:                                              "reference to 'component'",
		`payload.`:                                                  "Syntax error",
		`b"bytes"`:                                                  "gives bytes",
		`integer(payload.x)`:                                        "gives position",
		`[1, "a"]`:                                                  "ints beside other values",
		`payload.n in [1, payload.x]`:                               "ints beside other values",
	} {
		_, complaint := New(Event, JSON, "test", source)
		if complaint == nil || !strings.Contains(complaint.What, want) {
			t.Errorf("%s: %+v, want %q", source, complaint, want)
		} else if complaint.Hint == "" {
			t.Errorf("%s: no hint beside %q", source, complaint.What)
		}
	}
	for result, source := range map[Result]string{Bool: "payload.x", Position: "payload.x", Key: "payload.x == ''", Str: "true"} {
		if _, complaint := New(Event, result, "test", source); complaint == nil || complaint.Hint == "" {
			t.Errorf("%s was taken for a %s: %+v", source, result, complaint)
		}
	}
}

func TestEveryFailureOfAnExpressionIsAClosedRefusal(t *testing.T) {
	const deep = `payload.list.map(a, payload.list.map(b, payload.list.map(c, payload.list.map(d, payload.list.map(e, payload.list.map(f, a))))))`
	for source, want := range map[string]facts.Code{
		`payload.missing`:                             facts.ExpressionFailed,
		`payload.text.deeper`:                         facts.ExpressionFailed,
		`payload[payload.text]`:                       facts.ExpressionFailed,
		`payload.list[7]`:                             facts.ExpressionFailed,
		`payload.number + payload.one`:                facts.ExpressionFailed,
		`payload.list.map(x, payload.number < x)`:     facts.ExpressionFailed,
		`pointer(payload, "/missing")`:                facts.ExpressionFailed,
		`pointer(payload, "no pointer")`:              facts.ExpressionTypeDiffers,
		`concat([payload.number])`:                    facts.ExpressionFailed,
		`text(payload.list)`:                          facts.ExpressionTypeDiffers,
		`integer(payload.point) == integer(1)`:        facts.PositionUnreadable,
		`time(payload.text, "rfc3339") == integer(1)`: facts.PositionUnreadable,
		`time(payload.text, "guess") == integer(1)`:   facts.PositionUnreadable,
		`payload.id`:                                  facts.ExpressionFailed,
		deep:                                          facts.ExpressionTooCostly,
	} {
		_, err := expression(t, Event, JSON, source).JSON(
			payload(t, `{"text":"secret-value","number":1,"one":1,"point":1.5,"list":[1,2,3,4,5,6,7],"id":"A","ID":"B"}`))
		var refusal *facts.Refusal
		if !errors.As(err, &refusal) || refusal.Code != want {
			t.Errorf("%s: %v, want %s", source, err, want)
		} else if strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "input test") {
			t.Errorf("%s: the message repeats the input or names no place: %v", source, err)
		}
	}
}

func TestPackFunctionsGiveWhatTheySay(t *testing.T) {
	table, err := os.ReadFile("testdata/functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(table)), "\n")
	for _, line := range lines[2:] {
		source, want, ok := strings.Cut(line, " => ")
		if !ok {
			t.Fatalf("%q is no row", line)
		}
		got, err := expression(t, Event, JSON, source).JSON(payload(t, lines[1]))
		if err != nil || string(got) != want {
			t.Errorf("%s gives %s, %v; want %s", source, got, err, want)
		}
	}
	for _, name := range Functions() {
		if !strings.Contains(string(table), name+"(") {
			t.Errorf("no row tries %s", name)
		}
	}
}

func TestNoExpressionRunsUnbound(t *testing.T) {
	e, _ := New(Event, JSON, "test", "payload")
	if _, err := e.JSON(Inputs{}); !errors.HasAssertionFailure(err) {
		t.Errorf("%v", err)
	}
}

func TestTheCostOfPackFunctionsGrowsWithWhatTheyRead(t *testing.T) {
	e := expression(t, Event, JSON, `sha256(payload) + sha256(payload)`)
	if _, err := e.JSON(Inputs{"payload": Text(strings.Repeat("x", 2<<20))}); !errors.Is(err, facts.ExpressionTooCostly) {
		t.Errorf("4 MiB were hashed under a limit of 100,000: %v", err)
	}
	if _, err := e.JSON(Inputs{"payload": Text("x")}); err != nil {
		t.Error(err)
	}
}

func ExampleScope() {
	for _, scope := range Scopes() {
		fmt.Println(strings.TrimSpace(string(scope) + " " + strings.Join(scope.Variables(), " ")))
	}
	// Output:
	// constant
	// request headers body body_digest
	// component headers body component ordinal
	// event event.kind event.key event.locator payload
	// members event.kind event.key event.locator payload members
	// intent intent effect.key effect.owner_slot
	// response intent effect.key effect.owner_slot headers body status
}
