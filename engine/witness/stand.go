package witness

import (
	"io"

	"connectorcore/facts"
	"connectorcore/readers/owners"

	"github.com/cockroachdb/errors"
)

// ErrDatabaseBehind is what a witness is refused for that has seen more than a database which never served can hold: the
// database is an older copy.
var ErrDatabaseBehind = errors.New("the database is behind its witness")

// lifeProtocol is inside the id of a deployment's first life.
const lifeProtocol = "connectorcore.first-life.v1"

// FirstLife is the incarnation in which a deployment's database is founded. It is derived from the deployment's id, so
// that whoever opens the witness knows it without being told. Bringing a copy back begins another life.
func FirstLife(of facts.DeploymentID) (Incarnation, error) {
	protocol, err := facts.ParseKey[facts.Protocol](lifeProtocol)
	if err != nil || of.IsZero() {
		return Incarnation{}, errors.CombineErrors(errors.AssertionFailedf("no deployment has no first life"), err)
	}
	return facts.DeriveID[Incarnation](owners.Sum(protocol, []byte(of.String()))).ID, nil
}

// File is where a deployment's witness is. The zero File is nowhere.
type File struct{ Path string }

// Stand begins the witness of a deployment that never served, or opens the one that was begun. It is this process's until
// it is closed.
//
// It refuses a path that is empty (ConfigurationInvalid), what Open refuses, and a witness that has seen any
// account come further than the beginning (ErrDatabaseBehind).
//
// REQUIRES: no epoch of this database was ever activated. Then only a database that is an older copy has a witness with
// marks, and a witness that is missing was never begun.
func (f File) Stand(of facts.DeploymentID) (io.Closer, error) {
	if f.Path == "" {
		return nil, facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("store.witness"), "beside a DSN it has no default: name a file outside the database that is kept as long as the deployment")
	}
	life, err := FirstLife(of)
	if err != nil {
		return nil, err
	}
	w, err := Open(f.Path, of, life)
	if errors.Is(err, ErrMissing) {
		w, err = Begin(f.Path, of, life)
	}
	if err != nil {
		return nil, err
	}
	if ahead := w.Behind(nil); len(ahead) > 0 {
		w.release()
		return nil, errors.Mark(errors.Newf("witness: %s has seen account %s at %d, and this database has never served: it is an older copy, which must not be activated; bring the present one back", f.Path, ahead[0].Account, ahead[0].Position), ErrDatabaseBehind)
	}
	return w, nil
}
