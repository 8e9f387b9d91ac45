package drive_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"connectorcore/engine/drive"
	"connectorcore/engine/execute"
	"connectorcore/engine/frozen"
	"connectorcore/engine/materialize"
	"connectorcore/engine/pack"
	"connectorcore/facts"
	"connectorcore/ledger"
	"connectorcore/proptest/stage"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// told is a published delivery of an object, and its input in the object's lane.
type told struct {
	stage.Delivery
	order facts.SourceOrder
	input []byte
}

// busiest are the deliveries of the one object of which most are published, and its partition.
func busiest(t *testing.T, epoch *frozen.Epoch, account stage.Account) (partition string, most []told) {
	t.Helper()
	objects := map[string][]told{}
	for _, d := range published(t, account) {
		channel, err := epoch.Channel(account.ID, d.Channel)
		if err != nil {
			t.Fatal(err)
		}
		var header []facts.HeaderLine
		for _, line := range d.Header {
			header = append(header, facts.HeaderLine(line))
		}
		for _, component := range materialize.Content(epoch.Profile, channel, header, d.Body).Components {
			if e := component.Event; e != nil && len(e.Inputs) == 1 && e.Inputs[0].Order != nil {
				name := e.Partition.String()
				objects[name] = append(objects[name], told{d, e.Order, e.Inputs[0].Bytes})
			}
		}
	}
	for name, all := range objects {
		if len(all) > len(most) {
			partition, most = name, all
		}
	}
	return partition, most
}

// widened is a copy of a pack whose busiest route takes every delivery that shows its object, and not only those of one kind.
func widened(t *testing.T) string {
	t.Helper()
	folder := patched(t, stage.Single, "activity", "")
	file := filepath.Join(folder, "webhooks.channel.yaml")
	text, err := os.ReadFile(file)
	if err == nil {
		text = regexp.MustCompile(`(?m)when: headers.* == "pull_request"$`).ReplaceAll(text, []byte("when: has(component.pull_request)"))
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// standing upserts an application's record: the last input that is applied is what stands.
func standing(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
	input, err := readInput(c)
	if err == nil {
		_, err = h.Exec(ctx, "REPLACE INTO standing (record, input) VALUES (?, ?)", input.Record, c.Input)
	}
	return execute.Answer{Outcome: execute.Applied}, err
}

// Everything that is published of one object: many payloads share a position, as they do at their source, and only the
// tie-breaker tells them apart. A hundred copies of the object get them in a hundred orders of arrival, and all of them end in
// the one state that the source's order says.
func TestP15U11RealPayloadsWithTiesEndInOneStateInAHundredOrdersOfArrival(t *testing.T) {
	const copies, senders = 100, 50
	s := stage.ServingPacks(t, widened(t))
	app, account := s.Store.Hosted(t, map[string]string{"standing": "record varbinary(255) PRIMARY KEY, input mediumblob NOT NULL"}), s.Accounts[0]
	one := open(t, s, app, standing, drive.Options{})
	partition, all := busiest(t, opened(t, s), account)
	positions, last := map[string]bool{}, all[0]
	for _, d := range all {
		positions[string(d.order.Position.Encoded())] = true
		if order, err := d.order.Compare(last.order); err != nil {
			t.Fatal(err)
		} else if order > 0 {
			last = d
		}
	}
	if len(all) != 40 || len(positions) != 6 { // 39 of one publisher, and one of another
		t.Fatalf("%d payloads on %d positions, and 40 on 6 are published", len(all), len(positions))
	}
	owner := strings.Join(strings.SplitN(partition, "/", 3)[:2], "/")
	var group sync.WaitGroup
	free := make(chan bool, senders)
	for n := range copies {
		group.Go(func() {
			free <- true
			defer func() { <-free }()
			for _, at := range rand.Perm(len(all)) {
				d := copied(all[at].Delivery, owner, n)
				if status, body := post(t, account, one.door, d); status != http.StatusAccepted {
					t.Errorf("%s: %d %s", d.Name, status, body)
				}
			}
		})
	}
	group.Wait()
	one.drains()
	one.counts(map[string]int{"SELECT COUNT(*) FROM event": copies * len(all), "SELECT COUNT(*) FROM ordering_lane": copies,
		"SELECT COUNT(*) FROM " + app.Name + ".standing":                                  copies,
		"SELECT COUNT(*) FROM projection_ledger WHERE to_state = 'quarantined'":           0,
		"SELECT COUNT(*) FROM execution_attempt_end":                                      0,
		"SELECT COUNT(*) FROM execution_ledger WHERE to_state <> 'completed'":             0,
		"SELECT COUNT(DISTINCT high_position, high_tie_breaker) FROM ordering_lane_guard": copies})
	for n := range copies {
		record := strings.Replace(partition, owner, ownerOf(owner, n), 1)
		if state := app.Text(t, "SELECT input FROM "+app.Name+".standing WHERE record = ?", record); strings.ReplaceAll(state, ownerOf(owner, n), owner) != string(last.input) {
			t.Errorf("copy %d ends in %s, want %s", n, state, last.input)
		}
	}
	one.q01()
	t.Logf("%d payloads on %d positions, %d executions of %d events", len(all), len(positions), s.Count(t, "SELECT COUNT(*) FROM execution"), copies*len(all))
}

func ownerOf(owner string, n int) string { return fmt.Sprintf("%s-%03d", owner, n) }

// copied is the delivery of another object that is alike: its owner has another name, and the delivery another key, which
// sorts among its own as before.
func copied(d stage.Delivery, owner string, n int) stage.Delivery {
	one := stage.Delivery{Name: fmt.Sprintf("%03d %s", n, d.Name), Channel: d.Channel, Body: bytes.ReplaceAll(d.Body, []byte(owner), []byte(ownerOf(owner, n)))}
	for _, line := range d.Header {
		if strings.HasPrefix(line.Value, "delivery-") {
			line.Value = fmt.Sprintf("%03d-%s", n, line.Value)
		}
		one.Header = append(one.Header, pack.Line(line))
	}
	return one
}

// breaking is counting, but fails for the steps of one key while it is told to.
type breaking struct {
	key    string
	panics bool
	broken atomic.Bool
	tried  atomic.Int64
}

func (b *breaking) handle(ctx context.Context, h *ledger.Handle, c execute.Command) (execute.Answer, error) {
	if input, err := readInput(c); err == nil && input.Record == b.key && b.broken.Load() {
		b.tried.Add(1)
		if b.panics {
			panic("what nobody thought of")
		}
		return execute.Answer{}, errors.New("not now")
	}
	return counting(ctx, h, c)
}

// The first step of a lane fails and is tried again: nothing behind it is applied or marked, whoever is in its turn goes on,
// and a process that knows nothing but the tables resumes at that very step.
func TestP15Scenario049AFirstItemThatFailsHoldsItsLaneAndARestartResumesThere(t *testing.T) {
	s := stage.ServingPacks(t, again(t, "[1"+strings.Repeat(", 1", 60)+"]"))
	app, account := s.Store.Hosted(t, numbered), s.Accounts[0]
	p := &breaking{key: "p"}
	p.broken.Store(true)
	options := drive.Options{Sweep: 200e6}
	one := open(t, s, app, p.handle, options)
	one.accepts(account, carrying(t, append(append(steps("p", 1, 2, 3), steps("q", 2, 3)...), steps("q", 1)...)...))
	one.until(3, "SELECT COUNT(*) FROM "+app.Name+".applied")
	one.until(1, "SELECT COUNT(*) >= 2 FROM execution_attempt_end")
	failing := []string{one.words("SELECT HEX(execution_id) FROM execution_head"), one.inOrder("p"), one.inOrder("q")}
	one.counts(map[string]int{"SELECT COUNT(*) FROM projection_head": 2, "SELECT COUNT(*) FROM ordering_lane_guard WHERE state = 'taken' AND high_position IS NULL": 1})
	one.close()
	p.broken.Store(false)
	next := open(t, s, app, p.handle, options)
	next.age()
	next.until(0, openHeads)
	next.appliedInOrder(6)
	if failing[1] != "" || failing[2] != "1,2,3" || s.Count(t, "SELECT COUNT(*) FROM execution_attempt WHERE HEX(execution_id) = ?", failing[0]) < 3 {
		t.Errorf("%q failed, and it was not it that was resumed", failing)
	}
}

// again is the pack with a schedule of retries of its steps.
func again(t *testing.T, delays string) string {
	t.Helper()
	return patchedFolder(t, sequence, "steps", "execution: {retry: {delays_seconds: "+delays+", jitter_percent: 0}}")
}

// The steps of partition p fail for good. The rest of p waits by policy; the other partition, the notes of the same account
// and the other account come to their ends.
func TestP15R22Scenario059APartitionThatFailsForEverStopsNobodyElse(t *testing.T) {
	s := stage.ServingPacks(t, sequence, stage.Folder(t, stage.Batched))
	app := s.Store.Hosted(t, numbered)
	p := &breaking{key: "p"}
	p.broken.Store(true)
	one := open(t, s, app, p.handle, drive.Options{})
	one.accepts(s.Accounts[0], carrying(t, append(steps("p", 1, 2, 3), steps("p2", 1, 2, 3, 4)...)...))
	one.accepts(s.Accounts[0], carrying(t, item("note", "p3", 1), item("note", "p3", 7)))
	one.accepts(s.Accounts[1], batch(t, s.Accounts[1], 3))
	one.accepts(s.Accounts[0], carrying(t, steps("p", 4)...)) // behind what failed, and later than it
	one.until(0, underWay)
	one.counts(map[string]int{"SELECT COUNT(*) FROM " + app.Name + ".applied WHERE record = 'p2' AND was = n - 1": 4,
		"SELECT COUNT(*) FROM " + app.Name + ".applied WHERE record = 'p3'": 2, "SELECT COUNT(*) FROM " + app.Name + ".note": 3,
		"SELECT COUNT(*) FROM " + app.Name + ".applied WHERE record = 'p'": 0, "SELECT COUNT(*) FROM projection_head": 3,
		"SELECT COUNT(*) FROM application_result WHERE outcome = 'failed'":                        1,
		"SELECT COUNT(*) FROM ordering_lane_guard WHERE state = 'held' AND high_position IS NULL": 1})
	if n := s.Count(t, "SELECT COUNT(*) FROM execution_attempt a JOIN execution x USING (execution_id) JOIN ordering_lane_guard g ON g.lane_id = x.lane_id AND g.state = 'held'"); n != 1 {
		t.Errorf("what may be tried once had %d attempts", n)
	}
	one.q01()
}

// A component that is no event, and a handler that panics: each is set aside by its own policy, the panic reaches nobody, and
// the lanes beside them go on, those of the same delivery too.
func TestP15Scenario057WhatCannotBeReadAndWhatPanicsStopNoOtherLane(t *testing.T) {
	s := stage.ServingPacks(t, sequence)
	app, account := s.Store.Hosted(t, numbered), s.Accounts[0]
	p := &breaking{key: "p", panics: true}
	p.broken.Store(true)
	one := open(t, s, app, p.handle, drive.Options{})
	items := append(append(steps("q", 1), `{"kind": "step", "key": {"not": "a key"}, "n": 1}`, `{"kind": "step", "key": "r", "n": 1.5}`, `7`), steps("p", 1, 2)...)
	one.accepts(account, carrying(t, append(items, steps("q", 2)...)...))
	one.accepts(account, carrying(t, steps("q", 3)...))
	one.until(0, underWay)
	one.counts(map[string]int{"SELECT COUNT(*) FROM receipt_component WHERE verdict = 'quarantined'": 3, "SELECT COUNT(*) FROM " + app.Name + ".applied": 3,
		"SELECT COUNT(*) FROM projection_head": 1, "SELECT COUNT(*) FROM ordering_lane_guard WHERE state = 'held'": 1, "SELECT COUNT(*) FROM ordering_lane_guard WHERE state = 'free'": 1})
	if got := one.inOrder("q"); got != "1,2,3" || p.tried.Load() == 0 {
		t.Errorf("applied of q: %s; p was tried %d times", got, p.tried.Load())
	}
	one.q01()
}

// What was admitted first commits last, on another connection, after a sweep has passed its due time: the sweep finds it all
// the same. No read goes by the order of commits.
func TestScenario047WhatCommitsLateIsNotPassedOver(t *testing.T) {
	s := stage.ServingPacks(t, sequence, stage.Folder(t, stage.Batched))
	app := s.Store.Hosted(t, numbered)
	proxy := world.NewProxy(t, s.Store.Login.Address)
	slow := *s
	var err error
	if slow.Ledger, err = ledger.Open(s.Store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil)); err != nil {
		t.Fatal(err)
	}
	door := open(t, &slow, app, counting, drive.Options{Hand: -1}) // takes in, and claims nothing
	held := proxy.Arm(world.HoldCommit, 1)
	early := make(chan int, 1)
	go func() {
		status, _ := post(t, s.Accounts[0], door.door, carrying(t, append(steps("p", 1, 2), item("note", "z", 1))...))
		early <- status
	}()
	<-held.Fired()
	one := open(t, s, app, counting, drive.Options{Sweep: 20e6})
	for range 3 { // each is admitted, found due by nobody else, applied, and passed by the sweeps
		one.accepts(s.Accounts[1], batch(t, s.Accounts[1], 2))
		one.until(0, openHeads)
	}
	held.Release()
	if status := <-early; status != http.StatusAccepted {
		t.Fatalf("the first one: %d", status)
	}
	one.until(3, "SELECT COUNT(*) FROM "+app.Name+".applied")
	one.until(0, openHeads)
	one.counts(map[string]int{"SELECT COUNT(*) FROM " + app.Name + ".note": 6})
	one.appliedOnly("p", "1,2")
}

func (s *scene) appliedOnly(record, want string) {
	s.t.Helper()
	if got := s.inOrder(record); got != want {
		s.t.Errorf("applied of %s: %s, want %s", record, got, want)
	}
	s.q01()
}

// Inputs wait in ten thousand lanes that nobody can move, ahead of one that waits in a lane which is free.
func TestScenario061TenThousandWaitingInputsThatCannotBeMovedHideNothing(t *testing.T) {
	s := stage.ServingPacks(t, sequence)
	app, account := s.Store.Hosted(t, numbered), s.Accounts[0]
	door := open(t, s, app, counting, drive.Options{Hand: -1}) // takes in, and claims nothing
	door.accepts(account, carrying(t, steps("p", 1, 2)...))
	door.close()
	door.counts(map[string]int{"SELECT COUNT(*) FROM projection_head": 2, "SELECT COUNT(*) FROM execution": 0})
	const stuck = 10001
	stranger := facts.Mint[facts.AccountID]()
	at, err := facts.ParseIntegerPosition("1")
	if err != nil {
		t.Fatal(err)
	}
	for rest := stuck; rest > 0; rest -= min(rest, 1000) {
		var rows []string
		var args []any
		for range min(rest, 1000) {
			lane, projection := facts.Mint[facts.LaneID](), facts.Mint[facts.ProjectionID]()
			rows = append(rows, "(?, ?, ?, '', ?, REPEAT('x', 32), NOW(6) - INTERVAL 9 MINUTE, 'waiting', 1)")
			args = append(args, stranger[:], projection[:], lane[:], at)
		}
		if _, err := s.Store.Admin.ExecContext(t.Context(), "INSERT INTO projection_head (account_id, projection_id, lane_id, sort_key, position, content_digest, due_at, state, fence) VALUES "+strings.Join(rows, ","), args...); err != nil {
			t.Fatal(err)
		}
	}
	next := open(t, s, app, counting, drive.Options{})
	next.until(2, "SELECT COUNT(*) FROM "+app.Name+".applied")
	next.close()
	if _, err := s.Store.Admin.ExecContext(t.Context(), "DELETE FROM projection_head WHERE account_id = ?", stranger[:]); err != nil {
		t.Fatal(err)
	}
	next.until(0, openHeads)
	next.appliedInOrder(2)
}
