package pack

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cockroachdb/errors"

	"connectorcore/facts"
)

func intentOf(t testing.TB, body string) Intent {
	t.Helper()
	slot, err := facts.ParseKey[facts.OwnerSlot]("orders/1")
	if err != nil {
		t.Fatal(err)
	}
	return Intent{Body: []byte(body), Key: facts.IdempotencyKey{Digest: facts.Digest{0xAB, 31: 1}}, OwnerSlot: slot}
}

func noteContract(t testing.TB, edits ...func(fstest.MapFS)) (*Push, *Callout, *Callout) {
	t.Helper()
	folder := whole(t)
	for _, e := range edits {
		e(folder)
	}
	made := compiledPack(t, folder)
	p := made.Pushes()[0]
	callout, _ := made.Callout(p.Callout)
	query, _ := made.Callout(p.Reconcile.Callout)
	return p, callout, query
}

const note = `{"order":9007199254740993,"text":"a \"note\" & more"}`

func TestARequestIsTheSameBytesInEveryRun(t *testing.T) {
	p, callout, query := noteContract(t)
	key := "ab" + strings.Repeat("00", 30) + "01"
	want := `{POST https://api.shop.example /orders/9007199254740993/notes [{accept application/json} {content-type application/json} {idempotency-key "` +
		key + `"} {x-note ` + key + `}] {"count":1,"text":"a \"note\" & more"}}`
	for range 100 {
		made, err := p.Render(callout, intentOf(t, note))
		if got := fmt.Sprintf("{%s %s %s %v %s}", made.Method, made.Origin, made.Target, made.Header, made.Body); err != nil || got != want {
			t.Fatalf("%s, %v", got, err)
		}
	}
	asked, err := p.Query(query, intentOf(t, note))
	if err != nil || asked.Method != "GET" || asked.Target != "/orders/9007199254740993/notes" || asked.Body != nil || len(asked.Header) != 0 {
		t.Errorf("the query is %+v, %v", asked, err)
	}
	if order, err := p.Order(intentOf(t, note)); err != nil || order.String() != "orders/1" {
		t.Errorf("the order key is %q, %v", order, err)
	}
}

func TestWhatFillsARequestIsDataWhateverItHolds(t *testing.T) {
	plain := func(folder fstest.MapFS) {
		edit(t, folder, contract, "headers: [{name: x-note, value: effect.key}]", `headers: [{name: x-note, value: intent.header}]
  query: [{name: a b, value: intent.text}]`)
		edit(t, folder, contract, "request:\n  path: [{name: order, value: text(intent.order)}]", "request:\n  path: [{name: order, value: intent.order}]")
	}
	p, callout, _ := noteContract(t, plain)
	made, err := p.Render(callout, intentOf(t, `{"order":"../x?y#z%2f é","text":"1&b=2 ü","header":"one line"}`))
	if err != nil || made.Target != "/orders/..%2Fx%3Fy%23z%252f%20%C3%A9/notes?a+b=1%26b%3D2+%C3%BC" {
		t.Errorf("%s, %v", made.Target, err)
	}
	for name, body := range map[string]string{
		"a header of two lines": `{"order":"1","text":"","header":"a\r\nx-other: b"}`, "no segment": `{"order":"","text":"","header":""}`,
		"the parent": `{"order":"..","text":"","header":""}`, "the place itself": `{"order":".","text":"","header":""}`,
		"a number without text()": `{"order":1,"text":"","header":""}`, "nothing": `{}`, "no JSON": `{`,
	} {
		var refusal *facts.Refusal
		if made, err := p.Render(callout, intentOf(t, body)); !errors.As(err, &refusal) {
			t.Errorf("%s gave %+v, %v", name, made, err)
		}
	}
}

func TestAFormIsSingleValuesInTheOrderOfTheirNames(t *testing.T) {
	form := func(body string) func(fstest.MapFS) {
		return func(folder fstest.MapFS) {
			edit(t, folder, contract, "body_form: json", "body_form: form")
			edit(t, folder, contract, `'{"text": intent.text, "count": 1}'`, body)
		}
	}
	p, callout, _ := noteContract(t, form(`'{"z": intent.order, "meta[a]": intent.text, "b": true}'`))
	made, err := p.Render(callout, intentOf(t, note))
	if err != nil || string(made.Body) != "b=true&meta%5Ba%5D=a+%22note%22+%26+more&z=9007199254740993" || made.Header[1].Value != "application/x-www-form-urlencoded" {
		t.Errorf("%s %v, %v", made.Body, made.Header, err)
	}
	for _, body := range []string{`'{"a": [1]}'`, `'{"a": {"b": 1}}'`, `'{"a": null}'`, `'["a"]'`, `intent.text`} {
		p, callout, _ := noteContract(t, form(body))
		if made, err := p.Render(callout, intentOf(t, note)); !errors.Is(err, facts.ExpressionTypeDiffers) {
			t.Errorf("%s became the form %s, %v", body, made.Body, err)
		}
	}
}

func TestAnAnswerProvesWhatItsContractSaysAndNothingElse(t *testing.T) {
	p, _, _ := noteContract(t, func(folder fstest.MapFS) {
		edit(t, folder, contract, "  - {status_from: 429", `  - {status_from: 409, status_to: 409, when: 'body.error == "gone"', outcome: no_effect}
  - {status_from: 409, status_to: 409, when: '"retry-after" in headers', outcome: retry}
  - {status_from: 429`)
	})
	for _, c := range []struct {
		status   int
		body     string
		retry    bool
		want     Verdict
		identity string
		failed   bool
	}{
		{201, `{"id":9007199254740993}`, false, Confirmed, "9007199254740993", false},
		{201, `{}`, false, Uncertain, "", true},
		{201, ``, false, Uncertain, "", true},
		{201, `{"id":1,"id":2}`, false, Uncertain, "", true},
		{200, `{"id":1}`, false, Uncertain, "", false},
		{429, ``, false, TryAgain, "", false},
		{404, `x`, false, NoEffect, "", false},
		{408, ``, false, Uncertain, "", false},
		{500, `{"id":1}`, false, Uncertain, "", false},
		{503, ``, true, Uncertain, "", false},
		{302, ``, false, Uncertain, "", false},
		{409, `{"error":"gone"}`, false, NoEffect, "", false},
		{409, `{"error":"busy"}`, true, TryAgain, "", false},
		{409, `{"error":"busy"}`, false, Uncertain, "", false},
		{409, `nothing`, true, Uncertain, "", true},
	} {
		answer := Answer{Status: c.status, Body: []byte(c.body)}
		if c.retry {
			answer.Header = []Line{{"Retry-After", "5"}}
		}
		got, identity, err := p.Classify(intentOf(t, note), answer)
		if got != c.want || identity.String() != c.identity || (err != nil) != c.failed {
			t.Errorf("%d %s: %s %q, %v; want %s %q", c.status, c.body, got, identity, err, c.want, c.identity)
		}
	}
}

func TestAReconciliationProvesOnlyWhatItFinds(t *testing.T) {
	key := intentOf(t, note).Key.String()
	p, _, _ := noteContract(t)
	proves, _, _ := noteContract(t, func(folder fstest.MapFS) {
		edit(t, folder, contract, "  found:", "  absent: status == 200 && body.all(n, n.key != effect.key)\n  found:")
	})
	for _, c := range []struct {
		p        *Push
		status   int
		body     string
		want     Verdict
		identity string
	}{
		{p, 200, `[{"id":1,"key":"x"},{"id":7,"key":"` + key + `"}]`, Confirmed, "7"},
		{p, 200, `[{"key":"` + key + `"}]`, Uncertain, ""},
		{p, 200, `[]`, Uncertain, ""},
		{p, 500, `[]`, Uncertain, ""},
		{p, 200, `no list`, Uncertain, ""},
		{proves, 200, `[{"id":1,"key":"x"}]`, NoEffect, ""},
		{proves, 500, `[]`, Uncertain, ""},
	} {
		got, identity, _ := c.p.Reconciled(intentOf(t, note), Answer{Status: c.status, Body: []byte(c.body)})
		if got != c.want || identity.String() != c.identity {
			t.Errorf("%d %s: %s %q, want %s %q", c.status, c.body, got, identity, c.want, c.identity)
		}
	}
}

func TestTheShippedContractsRenderAndRecogniseTheirOwnRequests(t *testing.T) {
	intent := intentOf(t, `{"owner":"acme","repository":"anvil","number":7,"text":"Done.","label":"bug","not_before":"2026-01-01T00:00:00Z","name":"Ada","email":"ada@example.com"}`)
	rendered := 0
	for _, name := range shipped(t) {
		made := compiledPack(t, folderOf(name))
		for _, p := range made.Pushes() {
			callout, _ := made.Callout(p.Callout)
			request, err := p.Render(callout, intent)
			if err != nil {
				t.Errorf("%s %s: %v", name, p.Name, err)
				continue
			}
			rendered++
			keyed := strings.Contains(fmt.Sprint(request.Header), intent.Key.String())
			if keyed != (p.Idempotency.Form != "none") {
				t.Errorf("%s %s: the header %v", name, p.Name, request.Header)
			}
			query, _ := made.Callout(p.Reconcile.Callout)
			if _, err := p.Query(query, intent); err != nil {
				t.Errorf("%s %s: its query: %v", name, p.Name, err)
			}
			if got, _, _ := p.Classify(intent, Answer{Status: 500}); got != Uncertain {
				t.Errorf("%s %s: an answer 500 is %s", name, p.Name, got)
			}
		}
	}
	if rendered < 3 {
		t.Errorf("%d requests were rendered", rendered)
	}
}
