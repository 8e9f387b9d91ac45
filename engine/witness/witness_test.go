package witness

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// The names of the tests' witnesses. They are fixed, so that another process can open them too.
var (
	witnessed = facts.DeploymentID{1}
	life      = Incarnation{2}
	accountA  = facts.AccountID{0xa}
	accountB  = facts.AccountID{0xb}
)

func witnessPath(t testing.TB) string { return filepath.Join(t.TempDir(), "connector.witness") }

func begunWitness(t testing.TB, path string, marks ...Mark) *Witness {
	t.Helper()
	w, err := Begin(path, witnessed, life)
	must(t, err)
	t.Cleanup(w.release)
	must(t, w.Advance(marks...))
	return w
}

func openedWitness(t testing.TB, path string) *Witness {
	t.Helper()
	w, err := Open(path, witnessed, life)
	must(t, err)
	t.Cleanup(w.release)
	return w
}

// onDisk are the marks that anybody would read now, whoever holds the file.
func onDisk(t testing.TB, path string) map[facts.AccountID]uint64 {
	t.Helper()
	w := &Witness{path: path, of: witnessed, life: life}
	must(t, w.read())
	return w.marks
}

func TestAWitnessSaysWhereADatabaseStandsAfterItWasOpenedAgain(t *testing.T) {
	path := witnessPath(t)
	must(t, begunWitness(t, path, Mark{accountB, 7}, Mark{accountA, 5}).Close())
	w := openedWitness(t, path)
	for _, c := range []struct {
		mark Mark
		want Standing
	}{
		{Mark{accountA, 4}, Behind}, {Mark{accountA, 5}, Equal}, {Mark{accountA, 6}, Ahead},
		{Mark{accountA, 0}, Behind}, {Mark{facts.AccountID{0xc}, 1}, Ahead}, {Mark{facts.AccountID{0xc}, 0}, Equal},
	} {
		if got := w.Compare(c.mark); got != c.want {
			t.Errorf("%v is %s, want %s", c.mark, got, c.want)
		}
	}
	for _, c := range []struct{ database, want []Mark }{
		{[]Mark{{accountA, 5}, {accountB, 7}}, nil},
		{[]Mark{{accountA, 9}, {accountB, 6}}, []Mark{{accountB, 7}}},
		{[]Mark{{facts.AccountID{0xc}, 3}}, []Mark{{accountA, 5}, {accountB, 7}}}, // a database that does not know the accounts
	} {
		if got := w.Behind(c.database); !slices.Equal(got, c.want) {
			t.Errorf("%v is behind in %v, want %v", c.database, got, c.want)
		}
	}
	about, err := os.Stat(path)
	if err != nil || about.Mode().Perm() != 0o600 {
		t.Errorf("it has mode %v, %v", about.Mode(), err)
	}
}

func TestThePositionOfAWitnessNeverFalls(t *testing.T) {
	path := witnessPath(t)
	w := begunWitness(t, path, Mark{accountA, 5})
	writes := 0
	w.at = func(step string) {
		if step == stepStage {
			writes++
		}
	}
	must(t, w.Advance(Mark{accountA, 3}, Mark{accountA, 5}))
	must(t, w.Advance())
	if writes != 0 || onDisk(t, path)[accountA] != 5 {
		t.Errorf("%d writes, position %d", writes, onDisk(t, path)[accountA])
	}
	// A write that fails is told, is kept in mind, and is done with the next one.
	must(t, os.Mkdir(path+".new", 0o700))
	if err := w.Advance(Mark{accountA, 8}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a write that cannot be done ended with %v", err)
	}
	if w.Compare(Mark{accountA, 7}) != Behind || onDisk(t, path)[accountA] != 5 {
		t.Error("the failed mark is forgotten, or stands there")
	}
	for _, position := range []uint64{8, 6} { // the lower one is passed in memory, and on the disk it is not
		if err := w.Advance(Mark{accountA, position}); err == nil {
			t.Errorf("position %d is called done, and the disk has %d", position, onDisk(t, path)[accountA])
		}
	}
	must(t, os.Remove(path+".new"))
	must(t, w.Advance(Mark{accountB, 1}))
	if marks := onDisk(t, path); marks[accountA] != 8 || marks[accountB] != 1 {
		t.Errorf("the disk has %v", marks)
	}
	for _, m := range []Mark{{accountA, 0}, {facts.AccountID{}, 1}} {
		if err := w.Advance(Mark{accountB, 2}, m); !errors.IsAssertionFailure(err) || onDisk(t, path)[accountB] != 1 {
			t.Errorf("%v: %v", m, err)
		}
	}
	must(t, w.Close())
	must(t, w.Close())
	if err := w.Advance(Mark{accountA, 9}); !errors.IsAssertionFailure(err) || onDisk(t, path)[accountA] != 8 {
		t.Errorf("it was advanced after its end: %v", err)
	}
}

func TestWhatManyAdvanceAtOnceIsOnTheDiskWhenEachIsTold(t *testing.T) {
	path := witnessPath(t)
	w := begunWitness(t, path)
	writes := 0
	w.at = func(step string) {
		if step == stepStage {
			writes++ // under the lock of writes
		}
	}
	const accounts, rounds = 8, 20
	var together sync.WaitGroup
	for n := range accounts {
		account := facts.AccountID{byte(n + 1)}
		together.Go(func() {
			for position := uint64(1); position <= rounds; position++ {
				if err := w.Advance(Mark{account, position}); err != nil {
					t.Error(err)
					return
				}
				seen := &Witness{path: path, of: witnessed, life: life}
				if err := seen.read(); err != nil || seen.marks[account] < position {
					t.Errorf("told of position %d, the disk has %d, %v", position, seen.marks[account], err)
				}
			}
		})
	}
	together.Wait()
	if writes == 0 || writes > accounts*rounds {
		t.Errorf("%d writes for %d marks", writes, accounts*rounds)
	}
	t.Logf("%d writes for %d marks", writes, accounts*rounds)
}

// refusedWitness is a file that must be refused by its name, and stay as it is.
func refusedWitness(t *testing.T, what, path string, kind error, words ...string) {
	t.Helper()
	before, _ := os.ReadFile(path)
	w, err := Open(path, witnessed, life)
	if err == nil {
		w.release()
		t.Errorf("%s: opened", what)
		return
	}
	for _, word := range append(words, path) {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: want %q in: %v", what, word, err)
		}
	}
	if after, _ := os.ReadFile(path); !errors.Is(err, kind) || strings.Contains(err.Error(), "\n") || !bytes.Equal(before, after) {
		t.Errorf("%s: changed %v; %v", what, !bytes.Equal(before, after), err)
	}
}

func TestADamagedWitnessIsRefusedByName(t *testing.T) {
	path := witnessPath(t)
	must(t, begunWitness(t, path, Mark{accountA, 5}, Mark{accountB, 70}).Close())
	whole, err := os.ReadFile(path)
	must(t, err)
	try := func(what string, text []byte) {
		t.Helper()
		must(t, os.WriteFile(path, text, 0o600))
		refusedWitness(t, what, path, ErrForeign)
	}
	for i := range whole {
		flipped := slices.Clone(whole)
		flipped[i] ^= 1
		try(fmt.Sprintf("byte %d", i), flipped)
		try(fmt.Sprintf("cut off at %d", i), whole[:i])
	}
	lines := strings.SplitAfter(string(whole), "\n")
	lines[3], lines[4] = lines[4], lines[3]
	try("two lines in another order", []byte(strings.Join(lines, "")))
	try("twice", append(slices.Clone(whole), whole...))
	try("another ending", append(slices.Clone(whole), '\n'))
	try("other line ends", bytes.ReplaceAll(whole, []byte("\n"), []byte("\r\n")))
	must(t, os.WriteFile(path, whole, 0o600))
	openedWitness(t, path)
}

func TestAWitnessOfAnotherIsRefusedByName(t *testing.T) {
	path := witnessPath(t)
	refusedWitness(t, "none", path, ErrMissing, "bring it back")
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 0 {
		t.Errorf("looking has left %v, %v", left, err)
	}
	w := begunWitness(t, path, Mark{accountA, 5})
	refusedWitness(t, "held by another", path, ErrInUse)
	must(t, w.Close())
	if _, err := Begin(path, witnessed, life); !errors.Is(err, ErrForeign) || onDisk(t, path)[accountA] != 5 {
		t.Errorf("it was begun twice: %v", err)
	}
	for what, as := range map[string]*Witness{"deployment": {of: facts.DeploymentID{9}, life: life}, "incarnation": {of: witnessed, life: Incarnation{9}}} {
		_, err := Open(path, as.of, as.life)
		if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), what) {
			t.Errorf("another %s: %v", what, err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(path, link))
	refusedWitness(t, "a link", link, ErrForeign, "no plain file")
	folder := t.TempDir()
	refusedWitness(t, "a folder", folder, ErrForeign, "no plain file")
	openedWitness(t, path) // no refusal keeps the lock
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
