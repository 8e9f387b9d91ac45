package drive_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"connectorcore/engine/drive"
	"connectorcore/engine/execute"
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/machines"
	"connectorcore/proptest/stage"
)

// crm is an application behind HTTP, written from the protocol's description. What it did for a command it keeps, and
// answers with it for ever.
type crm struct {
	mutex   sync.Mutex
	plans   []string // what becomes of the commands, in the order in which it meets them: applied, refused, lost, outbound
	plan    map[string]string
	results map[string]map[string]any
	done    map[string]int // behaviours, which a bug of ours could repeat
	asked   map[string]int
	mended  bool
}

func (a *crm) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	var asks struct {
		Command      string
		ExecutionRef string `json:"execution_ref"`
	}
	closes := strings.HasSuffix(r.URL.Path, "/close")
	if closes {
		asks.Command, asks.ExecutionRef = strings.Split(r.URL.Path, "/")[2], r.URL.Query().Get("execution_ref")
	} else if json.NewDecoder(r.Body).Decode(&asks) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if _, met := a.plan[asks.Command]; !met {
		a.plan[asks.Command], a.plans = a.plans[0], a.plans[1:]
	}
	plan, result := a.plan[asks.Command], a.results[asks.Command]
	a.asked[asks.Command]++
	switch {
	case result == nil && closes:
		result = sealed(asks.Command, asks.ExecutionRef, machines.ApplicationResultFailed, "")
	case result == nil && plan == "refused":
		w.WriteHeader(http.StatusUnprocessableEntity)
		_ = json.NewEncoder(w).Encode(map[string]any{"command": asks.Command, "failure": "no room for " + payload})
		return
	case result == nil:
		a.done[asks.Command]++
		result = sealed(asks.Command, asks.ExecutionRef, execute.Applied, "kept by the application")
	}
	a.results[asks.Command] = result
	switch {
	case plan == "lost" && a.asked[asks.Command] < 4:
		panic(http.ErrAbortHandler) // it is committed, and nobody is told
	case plan == "outbound" && !a.mended:
		result = map[string]any{"outbound": []any{map[string]any{"slot": "note"}}}
		for name, value := range a.results[asks.Command] {
			result[name] = value
		}
	}
	_ = json.NewEncoder(w).Encode(result)
}

func sealed(command, ref string, outcome execute.Outcome, says string) map[string]any {
	var receipt inbound.RuntimeReceipt
	_ = receipt.Command.UnmarshalText([]byte(command))
	raw, _ := hex.DecodeString(ref)
	copy(receipt.Ref.Digest[:], raw)
	receipt.Outcome, receipt.Result = outcome, inbound.ResultDigest(facts.ProfileV2, []byte(says))
	return map[string]any{"command": command, "execution_ref": ref, "outcome": outcome.String(), "result": base64.StdEncoding.EncodeToString([]byte(says)),
		"result_digest": receipt.Result.String(), "receipt": receipt.Digest(facts.ProfileV2).String()}
}

// The whole way to an application elsewhere: each command is applied once, however often its answer is lost; one that the
// application does not take ends as failed; and one whose result carries outbound intents is never completed by it, until
// the application is mended. Nothing of that stops another command, and no payload comes back to us (P22).
func TestR30P22ARemoteApplicationIsServedAndAuthorsNothing(t *testing.T) {
	s := stage.Serving(t, stage.Batched)
	account := s.Accounts[0]
	app := &crm{plans: []string{"applied", "refused", "lost", "outbound", "applied"}, plan: map[string]string{}, results: map[string]map[string]any{}, done: map[string]int{}, asked: map[string]int{}}
	server := httptest.NewServer(app)
	t.Cleanup(server.Close)
	one := openRuntime(t, s, nil, drive.Options{Sweep: 20 * time.Millisecond}, func(ledger.Queue) (execute.Runtime, error) { return execute.NewRemote(server.URL, nil) })
	for range app.plans {
		if status, body := one.send(account, batch(t, account, 1)); status != http.StatusAccepted {
			t.Fatalf("%d %s", status, body)
		}
	}
	one.aged(4, "SELECT COUNT(*) FROM execution_ledger WHERE edge = 'complete'")
	one.aged(1, "SELECT LEAST(COUNT(*), 1) FROM execution_attempt_end WHERE reason = 'remote_intents_refused'")
	one.counts(map[string]int{"SELECT COUNT(*) FROM execution_head": 1, "SELECT COUNT(*) FROM execution_ledger WHERE LOCATE(CAST('kept by' AS BINARY), evidence) > 0": 0,
		"SELECT COUNT(*) FROM execution_ledger WHERE LOCATE(CAST('failed' AS BINARY), evidence) > 0": 1, "SELECT COUNT(*) FROM application_result": 0})
	app.mutex.Lock()
	app.mended = true
	app.mutex.Unlock()
	one.aged(5, "SELECT COUNT(*) FROM execution_ledger WHERE edge = 'complete'")
	one.q01()
	one.close()
	app.mutex.Lock()
	defer app.mutex.Unlock()
	for command, plan := range app.plan {
		want := 1
		if plan == "refused" {
			want = 0
		}
		if app.done[command] != want {
			t.Errorf("%s: it behaved %d times, want %d", plan, app.done[command], want)
		}
	}
}
