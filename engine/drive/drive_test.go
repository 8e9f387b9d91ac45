package drive_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"connectorcore/engine/drive"
	"connectorcore/engine/execute"
	"connectorcore/engine/frozen"
	"connectorcore/engine/ingress"
	"connectorcore/engine/materialize"
	"connectorcore/facts"
	"connectorcore/ledger"
	"connectorcore/proptest/stage"
	"connectorcore/proptest/world"
	"connectorcore/schema"
)

// scene is a stage with a driver, a door and an application.
type scene struct {
	*stage.Stage
	t      *testing.T
	driver *drive.Driver
	door   string
	app    *world.Application
	close  func() // of the driver and the door; the test's end does it too
}

// notes is the table of an application that writes down what it is asked for.
var notes = map[string]string{"note": "command binary(16) NOT NULL, input mediumblob NOT NULL"}

func noting(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
	_, err := h.Exec(ctx, "INSERT INTO note (command, input) VALUES (?, ?)", c.Command, c.Input)
	return execute.Answer{Outcome: execute.Applied}, err
}

func open(t *testing.T, s *stage.Stage, app *world.Application, handle execute.Handler, options drive.Options) *scene {
	t.Helper()
	return openRuntime(t, s, app, options, func(queue ledger.Queue) (execute.Runtime, error) {
		return hosted(t, s, app, handle, ledger.Hosting{Queue: queue})
	})
}

// hosted is the Runtime of a handler.
func hosted(t *testing.T, s *stage.Stage, app *world.Application, handle execute.Handler, hosting ledger.Hosting) (execute.Runtime, error) {
	hosting.Database = app.Name
	host, err := s.Ledger.Host(t.Context(), s.Store.Pool(t, schema.RoleApplication), hosting)
	return execute.NewInDatabase(s.Ledger, host, handle), err
}

func openRuntime(t *testing.T, s *stage.Stage, app *world.Application, options drive.Options, runtime func(ledger.Queue) (execute.Runtime, error)) *scene {
	t.Helper()
	directory := frozen.NewDirectory(s.Reader, s.Owners.Set())
	driver, err := drive.Open(drive.Parts{Ledger: s.Ledger, Reader: s.Reader, Directory: directory, Runtime: runtime}, options)
	if err != nil {
		t.Fatal(err)
	}
	door, err := ingress.NewDoor(ingress.Options{Directory: driver, Secrets: s.Secrets, Admitter: driver, Clock: facts.SystemClock{}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(door)
	driver.Start()
	closing := sync.OnceFunc(func() {
		server.Close()
		closed(t, driver)
		door.Close()
	})
	t.Cleanup(closing)
	return &scene{s, t, driver, server.URL, app, closing}
}

// send delivers to an account and gives status and body of the answer.
func (s *scene) send(account stage.Account, d stage.Delivery) (int, string) {
	s.t.Helper()
	answer, err := http.DefaultClient.Do(account.Request(s.t, s.door, d))
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
func (s *scene) until(want int, query string) {
	s.t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(time.Minute)
	for s.Count(s.t, query) != want {
		select {
		case <-ticker.C:
		case <-deadline:
			s.t.Fatalf("%s gives %d, want %d", query, s.Count(s.t, query), want)
		}
	}
}

// opened is the epoch of a stage.
func opened(t *testing.T, s *stage.Stage) *frozen.Epoch {
	t.Helper()
	epoch, err := frozen.Open(t.Context(), s.Reader, s.Owners.Set(), s.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	return epoch
}

// expected is how many executions a delivery brings that need no lane.
func expected(t *testing.T, epoch *frozen.Epoch, account stage.Account, d stage.Delivery) (independent int) {
	t.Helper()
	channel, err := epoch.Channel(account.ID, d.Channel)
	if err != nil {
		t.Fatal(err)
	}
	var header []facts.HeaderLine
	for _, line := range d.Header {
		header = append(header, facts.HeaderLine(line))
	}
	for _, component := range materialize.Content(epoch.Profile, channel, header, d.Body).Components {
		if component.Event == nil {
			continue
		}
		for _, input := range component.Event.Inputs {
			if input.Order == nil {
				independent++
			}
		}
	}
	return independent
}

// The whole way of every sample of two packs: proved, admitted, applied once, completed; and the same again changes
// nothing.
func TestEverySampleIsAppliedOnceAndEnds(t *testing.T) {
	s := stage.Serving(t, stage.Single, stage.Batched)
	scene := open(t, s, s.Store.Hosted(t, notes), noting, drive.Options{})
	independent, receipts, epoch := 0, 0, opened(t, s)
	for _, account := range s.Accounts {
		samples := account.Samples(t)
		for _, d := range slices.Concat(samples, samples) {
			status, body := scene.send(account, d)
			switch status {
			case http.StatusAccepted:
				independent, receipts = independent+expected(t, epoch, account, d), receipts+1
			case http.StatusOK:
			default:
				t.Errorf("%s: %d %s", d.Name, status, body)
			}
		}
	}
	scene.ends(independent)
	if ordered := s.Count(t, "SELECT COUNT(*) FROM execution WHERE lane_id IS NOT NULL"); independent < 3 || ordered < 3 || s.Count(t, "SELECT COUNT(*) FROM receipt") != receipts || receipts < 10 {
		t.Errorf("%d independent and %d ordered executions of %d receipts", independent, ordered, receipts)
	}
}
