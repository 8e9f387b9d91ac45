package witness

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

type incarnationKind struct{}

// Incarnation names one life of a deployment's database. A copy of the database that was brought back is another life,
// but carries the same deployment id.
type Incarnation = facts.ID[incarnationKind]

// Mark is how far one account has come: a number that only rises with what was committed on it. Zero is nothing yet.
type Mark struct {
	Account  facts.AccountID
	Position uint64
}

// Standing is where a database stands beside its witness.
type Standing uint8

const (
	// Behind: the witness has seen more than the database holds. The database is an older copy, and what it calls open
	// may have been done already.
	Behind Standing = iota + 1
	// Equal: the database holds what the witness has seen.
	Equal
	// Ahead: the database holds more. That is how a death between a commit and its mark leaves it, and is no fault.
	Ahead
)

// String is the word that people read.
func (s Standing) String() string {
	if s < Behind || s > Ahead {
		return "no standing"
	}
	return []string{"behind", "equal", "ahead"}[s-Behind]
}

// Witness remembers, outside the database, how far each account had come before anything was sent on its behalf. It is
// one file, which this process alone may write until Close. It is safe for concurrent use; those who wait for a write
// share the next one.
//
// A mark is advanced after the acquisition was committed and before its send. Then no send can happen of which a
// database that was restored from an older copy knows nothing, unless the witness says that it is behind.
//
// INVARIANT: a position on the disk never falls. Every write holds all marks that were ever tried, also those whose
// write failed: nobody knows which of two files a failed write has left.
//
// Spec: none; rule R41.
type Witness struct {
	path string
	of   facts.DeploymentID
	life Incarnation

	writing sync.Mutex // held through a write, and taken before known
	lock    *os.File   // nil after Close
	written uint64     // the change that is on the disk

	known   sync.Mutex // held for a moment
	marks   map[facts.AccountID]uint64
	changes uint64 // how often a mark was raised

	// at is called before each step of a write, so that a test can end the process there.
	at func(step string)
}

// What a witness is refused for; callers tell them apart by errors.Is.
var (
	ErrMissing = errors.New("there is no witness")
	ErrInUse   = errors.New("the witness is in use")
	ErrForeign = errors.New("the witness is another deployment's, or damaged")
)

// Begin makes the witness of a deployment whose database nothing was sent for yet, and refuses a path at which
// there is one. Only a new deployment begins one: a lost witness that came back empty would call every old copy of the
// database a good one.
func Begin(path string, of facts.DeploymentID, life Incarnation) (*Witness, error) {
	if of.IsZero() || life.IsZero() {
		return nil, errors.AssertionFailedf("witness %s is begun for no deployment or no incarnation", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, errors.Wrapf(err, "witness: %s cannot be made", path)
	}
	w, err := holdWitness(path, of, life)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); err == nil || !os.IsNotExist(err) {
		w.release()
		return nil, errors.Mark(errors.Newf("witness: there is something at %s already: a witness is begun once; name another path by store.witness", path), ErrForeign)
	}
	if err := w.write(); err != nil {
		w.release()
		return nil, err
	}
	return w, nil
}

// Open opens the witness of a deployment's database.
//
// It refuses, naming the file: none there (ErrMissing), one that another process holds (ErrInUse), and one
// that is of another deployment or incarnation, or not exactly as it was written (ErrForeign).
func Open(path string, of facts.DeploymentID, life Incarnation) (*Witness, error) {
	if _, err := os.Lstat(path); os.IsNotExist(err) { // before a lock file is left beside nothing
		return nil, errors.Mark(errors.Newf("witness: there is none at %s: bring it back from where it was, or name its path by store.witness; without it nobody can tell an old copy of the database from the present one", path), ErrMissing)
	}
	w, err := holdWitness(path, of, life)
	if err != nil {
		return nil, err
	}
	if err := w.read(); err != nil {
		w.release()
		return nil, err
	}
	return w, nil
}

// holdWitness takes the exclusive right to a path. The lock is a file of its own, because a write replaces the other.
func holdWitness(path string, of facts.DeploymentID, life Incarnation) (*Witness, error) {
	lock, err := lockFile(path + ".lock")
	switch {
	case errors.Is(err, errLocked):
		return nil, errors.Mark(errors.Newf("witness: another process holds %s: stop that one first, or name another path by store.witness", path), ErrInUse)
	case err != nil:
		return nil, errors.Wrapf(err, "witness: %s cannot be locked", path)
	}
	return &Witness{path: path, lock: lock, of: of, life: life, marks: map[facts.AccountID]uint64{}, at: func(string) {}}, nil
}

// Advance raises marks and returns when they are on the disk. A position that the witness has passed already changes
// nothing: marks of one account may come out of order, and the higher one speaks for the lower.
//
// After an error the marks may be on the disk or not. Nothing may be sent for them before an Advance of the same marks
// has succeeded.
func (w *Witness) Advance(marks ...Mark) error {
	change, err := w.raise(marks)
	if err != nil {
		return err
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	switch {
	case w.lock == nil:
		return errors.AssertionFailedf("witness %s was advanced after its end", w.path)
	case w.written >= change:
		return nil
	}
	return w.write()
}

// raise raises the marks in memory, and tells which change must be on the disk for all of them to be. A mark that was
// passed already may still be on its way there.
func (w *Witness) raise(marks []Mark) (change uint64, err error) {
	w.known.Lock()
	defer w.known.Unlock()
	for _, m := range marks {
		if m.Account.IsZero() || m.Position == 0 {
			return 0, errors.AssertionFailedf("witness %s was to note no account or no position", w.path)
		}
	}
	for _, m := range marks {
		if m.Position > w.marks[m.Account] {
			w.marks[m.Account] = m.Position
			w.changes++
		}
	}
	return w.changes, nil
}

// Compare says where the database stands on one account: mark is the position that the database holds, zero if it knows
// nothing of the account.
func (w *Witness) Compare(mark Mark) Standing {
	w.known.Lock()
	defer w.known.Unlock()
	return Standing(cmp.Compare(mark.Position, w.marks[mark.Account]) + int(Equal))
}

// Behind are the accounts on which the database stands behind, in order, each with the position that the witness has.
// The marks are all that the database holds: an account that they leave out is behind as well.
func (w *Witness) Behind(database []Mark) []Mark {
	held := map[facts.AccountID]uint64{}
	for _, m := range database {
		held[m.Account] = m.Position
	}
	w.known.Lock()
	defer w.known.Unlock()
	var behind []Mark
	for _, m := range w.sorted() {
		if held[m.Account] < m.Position {
			behind = append(behind, m)
		}
	}
	return behind
}

// Close gives the file free.
func (w *Witness) Close() error {
	w.writing.Lock()
	defer w.writing.Unlock()
	if w.lock == nil {
		return nil
	}
	err := w.lock.Close()
	w.lock = nil
	return errors.Wrapf(err, "witness: %s", w.path)
}

func (w *Witness) release() { _ = w.Close() }

// sorted are all marks. The caller holds known.
func (w *Witness) sorted() []Mark {
	marks := make([]Mark, 0, len(w.marks))
	for account, position := range w.marks {
		marks = append(marks, Mark{account, position})
	}
	slices.SortFunc(marks, func(a, b Mark) int { return a.Account.Compare(b.Account) })
	return marks
}

// The steps of a write, for tests.
const (
	stepStage  = "stage"  // nothing was done
	stepHalf   = "half"   // half of the staged file was written
	stepSync   = "sync"   // the staged file was written, and is not on the disk
	stepRename = "rename" // it is on the disk, under another name
	stepFolder = "folder" // it has its name, and the folder is not on the disk
)

// write replaces the file whole: the new bytes are on the disk before they have the name, and the name is on the disk
// before anybody is told. The caller holds writing, or is alone.
func (w *Witness) write() (err error) {
	defer func() {
		err = errors.Wrapf(err, "witness: %s cannot be written, and nothing may be sent before it is", w.path)
	}()
	text, change := w.snapshot()
	w.at(stepStage)
	// The lock is ours, so what stands under this name is the rest of a write that a death cut off.
	staged, err := os.OpenFile(w.path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	half := len(text) / 2
	_, err = staged.Write(text[:half])
	w.at(stepHalf)
	if err == nil {
		_, err = staged.Write(text[half:])
	}
	w.at(stepSync)
	if err == nil {
		err = staged.Sync()
	}
	if err = errors.CombineErrors(err, staged.Close()); err != nil {
		return err
	}
	w.at(stepRename)
	if err := os.Rename(staged.Name(), w.path); err != nil {
		return err
	}
	w.at(stepFolder)
	folder, err := os.Open(filepath.Dir(w.path))
	if err != nil {
		return err
	}
	if err := errors.CombineErrors(folder.Sync(), folder.Close()); err != nil {
		return err
	}
	w.written = change
	return nil
}

// snapshot is what the file shall hold now, and the change that it is whole up to.
func (w *Witness) snapshot() ([]byte, uint64) {
	w.known.Lock()
	defer w.known.Unlock()
	return w.encode(), w.changes
}
