package execute_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"connectorcore/engine/execute"
	"connectorcore/engine/execute/conformance"
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/machines"

	"github.com/cockroachdb/errors"
)

// remote is an application behind HTTP that keeps its results in memory: each under a lock, so that behaviour and result
// are one.
type remote struct {
	mu      sync.Mutex
	results map[string]map[string]any // by command
	done    map[string]int
	asked   []string                                         // what requests were about
	answer  func(w http.ResponseWriter, good map[string]any) // in place of the good answer
}

func newRemote(t testing.TB) (*remote, conformance.Fixture) {
	t.Helper()
	a := &remote{results: map[string]map[string]any{}, done: map[string]int{}}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	runtime, err := execute.NewRemote(server.URL+"/connector", nil)
	if err != nil {
		t.Fatal(err)
	}
	account := facts.Mint[facts.AccountID]()
	author, err := facts.ProfileV2.Author()
	if err != nil {
		t.Fatal(err)
	}
	return a, conformance.Fixture{Runtime: runtime, Account: account,
		Command: func(input string) execute.Command {
			execution := facts.Mint[facts.ExecutionID]()
			ref := inbound.CommandRef{Account: account, Execution: execution, Command: author.Command(execution).ID,
				Ref: facts.ExecutionRefDigest{Digest: author.ExecutionInput(execution[:])}}
			return execute.Command{Subject: execute.Subject{CommandRef: ref, Profile: facts.ProfileV2}, Attempt: 1, Input: []byte(input)}
		},
		Behaviour: func(command execute.Command) int {
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.done[command.Command.String()]
		}}
}

// answers puts something in place of the good answers.
func (a *remote) answers(answer func(http.ResponseWriter, map[string]any)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = answer
}

// ServeHTTP is the protocol as an application would write it from its description.
func (a *remote) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/connector"))
	asks := struct {
		Command      string
		ExecutionRef string `json:"execution_ref"`
		Input        []byte // encoding/json reads it from base64
	}{}
	path := strings.Split(r.URL.Path, "/")[3:] // "", connector, commands
	switch {
	case len(path) > 0:
		asks.Command, asks.ExecutionRef, asks.Input = path[0], r.URL.Query().Get("execution_ref"), []byte(strings.Join(path[1:], ""))
	case json.NewDecoder(r.Body).Decode(&asks) != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	result, status := a.decide(asks.Command, asks.ExecutionRef, string(asks.Input))
	if a.answer != nil {
		a.answer(w, result)
		return
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(result)
}

// decide applies a command once. Nothing to do is a query.
func (a *remote) decide(command, ref, doing string) (map[string]any, int) {
	if result, there := a.results[command]; there {
		if result["execution_ref"] != ref {
			return nil, http.StatusNotFound
		}
		return result, http.StatusOK
	}
	outcome, payload := machines.ApplicationResultFailed, ""
	switch doing {
	case "":
		return nil, http.StatusNotFound
	case conformance.DoFail:
		return map[string]any{"command": command, "failure": "it fails"}, http.StatusUnprocessableEntity
	case conformance.DoApply:
		outcome, payload = execute.Applied, "applied"
		a.done[command]++
	case conformance.DoNoop:
		outcome = execute.Noop
	case conformance.DoReject:
		outcome = execute.Rejected
	}
	a.results[command] = sealed(command, ref, outcome, payload)
	return a.results[command], http.StatusOK
}

func sealed(command, ref string, outcome execute.Outcome, payload string) map[string]any {
	var receipt inbound.RuntimeReceipt
	_ = receipt.Command.UnmarshalText([]byte(command))
	raw, _ := hex.DecodeString(ref)
	copy(receipt.Ref.Digest[:], raw)
	receipt.Outcome, receipt.Result = outcome, inbound.ResultDigest(facts.ProfileV2, []byte(payload))
	return map[string]any{"command": command, "execution_ref": ref, "outcome": outcome.String(), "result": base64.StdEncoding.EncodeToString([]byte(payload)),
		"result_digest": receipt.Result.String(), "receipt": receipt.Digest(facts.ProfileV2).String()}
}

func TestRemoteRuntimeConforms(t *testing.T) {
	conformance.Run(t, func(t testing.TB) conformance.Fixture { _, f := newRemote(t); return f })
}

// respond answers with a status and a change of the good answer.
func respond(status int, change func(map[string]any)) func(http.ResponseWriter, map[string]any) {
	return func(w http.ResponseWriter, good map[string]any) {
		answer := map[string]any{}
		for k, v := range good {
			answer[k] = v
		}
		change(answer)
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer)
	}
}

// An answer that does not prove itself is none: the outcome is unknown, and the command's result is what a good answer says
// later. It never becomes a result, a failure or a missing one.
func TestP22RemoteAnswerThatProvesNothingLeavesTheOutcomeUnknown(t *testing.T) {
	a, f := newRemote(t)
	set := func(name string, value any) func(http.ResponseWriter, map[string]any) {
		return respond(http.StatusOK, func(answer map[string]any) { answer[name] = value })
	}
	other := f.Command(conformance.DoApply)
	for name, answer := range map[string]func(http.ResponseWriter, map[string]any){
		"another command":     set("command", other.Command.String()),
		"another reference":   set("execution_ref", other.Ref.String()),
		"no outcome":          set("outcome", ""),
		"an unknown outcome":  set("outcome", "accepted"),
		"another outcome":     set("outcome", "noop"),
		"another payload":     set("result", "AAAA"),
		"no base64":           set("result", "?"),
		"another digest":      set("result_digest", other.Ref.String()),
		"another receipt":     set("receipt", other.Ref.String()),
		"a number for a text": set("outcome", 1),
		"nothing":             func(w http.ResponseWriter, _ map[string]any) {},
		"text":                func(w http.ResponseWriter, _ map[string]any) { _, _ = w.Write([]byte("applied")) },
		"two members": func(w http.ResponseWriter, _ map[string]any) {
			_, _ = w.Write([]byte(`{"outcome":"noop","outcome":"applied"}`))
		},
		"too much": func(w http.ResponseWriter, _ map[string]any) { _, _ = w.Write(make([]byte, 2*ledger.MaxPayload+2)) },
		"accepted": respond(http.StatusAccepted, func(map[string]any) {}),
		"a redirect": func(w http.ResponseWriter, _ map[string]any) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"an error":             respond(http.StatusInternalServerError, func(map[string]any) {}),
		"a refusal":            respond(http.StatusConflict, func(map[string]any) {}),
		"a failure of nothing": respond(http.StatusUnprocessableEntity, func(answer map[string]any) { answer["failure"] = "" }),
		"another's failure":    respond(http.StatusUnprocessableEntity, func(answer map[string]any) { answer["failure"], answer["command"] = "no", other.Command.String() }),
		"a cut connection":     func(http.ResponseWriter, map[string]any) { panic(http.ErrAbortHandler) },
	} {
		command := f.Command(conformance.DoApply)
		a.answers(answer)
		_, closed := f.Runtime.Close(t.Context(), f.Command(conformance.DoApply))
		for doing, err := range map[string]error{"submitted": f.Runtime.Submit(t.Context(), f.Account, []execute.Command{command})[0].Err, "closed": closed} {
			if !errors.Is(err, facts.ErrOutcomeUnknown) {
				t.Errorf("%s, %s: %v", doing, name, err)
			}
		}
		a.answers(nil)
		if got := f.Runtime.Submit(t.Context(), f.Account, []execute.Command{command})[0]; got.Err != nil || got.Result.Receipt.Outcome != execute.Applied || f.Behaviour(command) != 1 {
			t.Errorf("%s, and then a good answer: %+v", name, got)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, asked := range a.asked {
		if !strings.Contains(asked, " /commands") {
			t.Errorf("it was led to %s", asked)
		}
	}
}

// A remote application's result that carries outbound intents is refused by code, whatever it proves (R30).
func TestR30RemoteResultWithIntentsIsRefused(t *testing.T) {
	a, f := newRemote(t)
	a.answers(respond(http.StatusOK, func(answer map[string]any) { answer["outbound"] = []any{map[string]any{"slot": "note"}} }))
	got := f.Runtime.Submit(t.Context(), f.Account, []execute.Command{f.Command(conformance.DoApply)})[0]
	if !errors.Is(got.Err, facts.RemoteIntentsRefused) {
		t.Errorf("%+v", got)
	}
	a.answers(respond(http.StatusOK, func(answer map[string]any) { answer["outbound"] = []any{} }))
	if got := f.Runtime.Submit(t.Context(), f.Account, []execute.Command{f.Command(conformance.DoApply)})[0]; got.Err != nil {
		t.Errorf("no intent: %v", got.Err)
	}
}

// A caller that gives up does not know what became of its command; another account's command is not sent at all.
func TestRemoteRuntimeSendsOnlyWhatItWasGiven(t *testing.T) {
	a, f := newRemote(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := f.Runtime.Submit(ctx, f.Account, []execute.Command{f.Command(conformance.DoApply)})[0]; !errors.Is(got.Err, facts.ErrOutcomeUnknown) || errors.Is(got.Err, context.Canceled) {
		t.Errorf("given up: %v", got.Err)
	}
	got := f.Runtime.Submit(t.Context(), facts.Mint[facts.AccountID](), []execute.Command{f.Command(conformance.DoApply)})[0]
	if !errors.HasAssertionFailure(got.Err) || len(a.asked) > 0 {
		t.Errorf("%v, asked %q", got.Err, a.asked)
	}
	for _, address := range []string{"", "crm.example", "http://crm.example", "https://user:secret@crm.example", "https://crm.example?x=1", "ftp://crm.example", "https://crm.example/#x", ":"} {
		if _, err := execute.NewRemote(address, nil); !errors.Is(err, facts.ConfigurationInvalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{"https://crm.example", "http://127.0.0.1:8080/x", "http://localhost"} {
		if _, err := execute.NewRemote(address, nil); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
}
