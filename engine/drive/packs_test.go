package drive_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"connectorcore/engine/drive"
	"connectorcore/proptest/stage"
)

// limited is the folder of a pack whose deliveries are lists, of as many components as the product takes.
func limited(t testing.TB) string {
	t.Helper()
	folder := patched(t, stage.Batched, "changes", "")
	file := filepath.Join(folder, "batches.channel.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	without := bytes.Replace(text, []byte("  components: 100\n"), []byte("  components: 1000\n"), 1)
	if bytes.Equal(text, without) {
		t.Fatal("the channel has no limit of components")
	}
	if err := os.WriteFile(file, without, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

var (
	goldenKey   = regexp.MustCompile(`^    key: (.*)$`)
	goldenRoute = regexp.MustCompile(`^      - route: (.*)$`)
	goldenInput = regexp.MustCompile(`^        input: '(.*)'$`)
)

// goldens are the inputs of an account's immediate routes by the golden files of its pack, one for each event and route: of
// those that are independent, which are all applied, or of those that depend on order, of which some are overtaken. They
// were written and read by people, and nothing of what is under test has a part in them here.
func goldens(t testing.TB, account stage.Account, independent bool) map[string]string {
	t.Helper()
	asked := map[string]bool{}
	for _, route := range account.Pack.Routes() {
		asked[route.Name.String()] = route.Ordering.Independent() == independent && route.Window.Immediate() && (!independent || len(route.Dependencies) == 0)
	}
	files, err := filepath.Glob(filepath.Join(account.Folder, "samples", "*.golden.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no golden files: %v", account.Folder, err)
	}
	inputs := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		key, route := "", ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			if m := goldenKey.FindStringSubmatch(line); m != nil {
				key = m[1]
			} else if m := goldenRoute.FindStringSubmatch(line); m != nil {
				route = m[1]
			} else if m := goldenInput.FindStringSubmatch(line); m != nil && asked[route] {
				inputs[key+" "+route] = strings.ReplaceAll(m[1], "''", "'")
			}
		}
	}
	return inputs
}

// forged sends a delivery with one bit of its body changed after it was signed.
func forged(t testing.TB, account stage.Account, door string, d stage.Delivery) int {
	t.Helper()
	request, body := account.Request(t, door, d), bytes.Clone(d.Body)
	body[rand.IntN(len(body))] ^= 1 << rand.IntN(7)
	request.Body, request.GetBody = io.NopCloser(bytes.NewReader(body)), nil
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return 0
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// Packs of three shapes - one event that a header names, a list of events, one event signed with its time - go the same way
// at once, through one door, one queue and one Runtime: shuffled, each again, and each with a bit changed on its way. What
// the application is asked for is, byte for byte, what the golden files of the packs say, and nothing else.
func TestP53PacksOfDifferentShapesGoOneWayAndAreAskedForWhatTheySay(t *testing.T) {
	s := stage.Serving(t, stage.Single, stage.Batched, stage.Stamped)
	one := open(t, s, s.Store.Hosted(t, notes), noting, drive.Options{})
	var want []string
	ordered := map[string]int{}
	of := map[string]stage.Account{}
	var all []stage.Delivery
	for _, account := range s.Accounts {
		for _, input := range goldens(t, account, true) {
			want = append(want, input)
		}
		for _, input := range goldens(t, account, false) {
			ordered[input]++
		}
		for _, d := range account.Samples(t) {
			d.Name = account.ID.String() + " " + d.Name
			of[d.Name], all = account, append(all, d)
		}
	}
	var mutex sync.Mutex
	receipts := map[string]bool{}
	together(slices.Concat(all, all), func(d stage.Delivery) {
		account := of[d.Name]
		if status := forged(t, account, one.door, d); status != http.StatusUnauthorized {
			t.Errorf("%s with a bit changed: %d", d.Name, status)
		}
		status, body := post(t, account, one.door, d)
		mutex.Lock()
		defer mutex.Unlock()
		switch {
		case status == http.StatusAccepted && !receipts[body]:
			receipts[body] = true
		case status == http.StatusOK: // which may be told before the other sender has heard of its own
		default:
			t.Errorf("%s: %d %s", d.Name, status, body)
		}
	})
	const applied = " FROM execution_ledger l JOIN execution e ON e.execution_id = l.subject_id JOIN projection p ON p.projection_id = e.projection_id"
	one.until(len(want), "SELECT COUNT(*)"+applied+" WHERE l.edge = 'complete' AND p.lane_id IS NULL AND p.window_id IS NULL AND p.needs = 0")
	one.until(0, "SELECT COUNT(*) FROM execution_head WHERE state = 'ready'") // a window may stay open, and what waits for another fact
	var got []string
	rows, err := s.Store.Admin.QueryContext(t.Context(), "SELECT n.input, p.lane_id IS NOT NULL FROM "+one.app.Name+".note n JOIN application_result r ON r.command_id = n.command"+
		" JOIN execution e ON e.execution_id = r.execution_id JOIN projection p ON p.projection_id = e.projection_id WHERE p.window_id IS NULL AND (p.lane_id IS NOT NULL OR p.needs = 0)")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var input string
		var inLane bool
		switch err := rows.Scan(&input, &inLane); {
		case err != nil:
			t.Fatal(err)
		case !inLane:
			got = append(got, input)
		case ordered[input] == 0:
			t.Errorf("the application was asked for what no pack says, or once too often: %s", input)
		default:
			ordered[input]--
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(want) < 4 {
		t.Errorf("the application was asked for\n%s\nand the packs say\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	one.q01()
	one.counts(map[string]int{"SELECT COUNT(*) FROM receipt": len(receipts), "SELECT COUNT(DISTINCT account_id) FROM receipt": len(s.Accounts),
		"SELECT COUNT(DISTINCT receipt_id) FROM receipt_component": len(receipts)})
}
