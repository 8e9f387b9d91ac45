package drive_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"connectorcore/engine/drive"
	"connectorcore/engine/execute"
	"connectorcore/engine/frozen"
	"connectorcore/engine/ingress"
	"connectorcore/facts"
	"connectorcore/ledger"
	"connectorcore/proptest/stage"
	"connectorcore/proptest/world"
	"connectorcore/schema"
)

const folder = "../../packs/"

// shop is a stage with a driver, a door and an application.
type shop struct {
	*stage.Stage
	t      *testing.T
	driver *drive.Driver
	door   string
}

type handler = execute.Handler

func open(t *testing.T, s *stage.Stage, app *world.Application, handle handler, options drive.Options) *shop {
	t.Helper()
	directory := frozen.NewDirectory(s.Reader, s.Owners.Set())
	pool := s.Store.Pool(t, schema.RoleApplication)
	driver, err := drive.Open(drive.Parts{Ledger: s.Ledger, Reader: s.Reader, Directory: directory,
		Runtime: func(queue ledger.Queue) (execute.Runtime, error) {
			hosted, err := s.Ledger.Host(t.Context(), pool, ledger.Hosting{Database: app.Name, Queue: queue})
			if err != nil {
				return nil, err
			}
			return execute.NewInDatabase(s.Ledger, hosted, handle), nil
		}}, options)
	if err != nil {
		t.Fatal(err)
	}
	door, err := ingress.NewDoor(ingress.Options{Directory: driver, Secrets: s.Secrets, Admitter: driver, Clock: facts.SystemClock{}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(door)
	driver.Start()
	t.Cleanup(func() {
		server.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := driver.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return &shop{s, t, driver, server.URL}
}

// send delivers an issue's body in the shape of the first pack and gives status and body of the answer.
func (s *shop) send(event, delivery, body string) (int, string) {
	s.t.Helper()
	account := s.Accounts[0]
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.door+"/in/"+account.ID.String()+"/webhooks", bytes.NewBufferString(body))
	if err != nil {
		s.t.Fatal(err)
	}
	mac := hmac.New(sha256.New, account.Secret)
	mac.Write([]byte(body))
	for name, value := range map[string]string{"Content-Type": "application/json", "X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil)),
		"X-GitHub-Event": event, "X-GitHub-Delivery": delivery} {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// until waits for a count.
func (s *shop) until(want int, query string) {
	s.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for s.Count(s.t, query) != want {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s gives %d, want %d", query, s.Count(s.t, query), want)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

var notes = map[string]string{"note": "command binary(16) NOT NULL, input blob NOT NULL"}

func noting() handler {
	return func(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
		_, err := h.Exec(ctx, "INSERT INTO note (command, input) VALUES (?, ?)", c.Command, c.Input)
		return execute.Answer{Outcome: execute.Applied}, err
	}
}

// The whole way of one delivery: proved, admitted, applied once, completed; and the same again changes nothing.
func TestADeliveryIsAppliedOnceAndEnds(t *testing.T) {
	s := stage.Serving(t, folder+"github")
	app := s.Store.Hosted(t, notes)
	shop := open(t, s, app, noting(), drive.Options{})
	body := `{"action":"created","sender":{"login":"ada"},"repository":{"full_name":"acme/anvil"}}`
	status, answer := shop.send("star", "d-1", body)
	if status != http.StatusAccepted {
		t.Fatalf("%d %s", status, answer)
	}
	shop.until(1, "SELECT COUNT(*) FROM execution_ledger")
	again, same := shop.send("star", "d-1", body)
	if again != http.StatusOK || same != answer {
		t.Errorf("again: %d %s, want %s", again, same, answer)
	}
	if conflict, _ := shop.send("star", "d-1", body+" "); conflict != http.StatusConflict {
		t.Errorf("other bytes: %d", conflict)
	}
	for query, want := range map[string]int{"SELECT COUNT(*) FROM " + app.Name + ".note": 1, "SELECT COUNT(*) FROM application_result": 1,
		"SELECT COUNT(*) FROM execution_head": 0, "SELECT COUNT(*) FROM receipt_head": 0, "SELECT COUNT(*) FROM receipt": 1} {
		if got := s.Count(t, query); got != want {
			t.Errorf("%s gives %d, want %d", query, got, want)
		}
	}
}
