package witness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// The file of a witness is lines of text, so that an operator can read it: the form, the deployment, the incarnation, one
// line an account in ascending order, and the SHA-256 of all lines before it. There is one spelling, so that whatever
// encodes otherwise than it was read is damaged.
//
//	connectorcore witness 1
//	deployment 0b9ad3a2-6f3c-4b7e-8c51-6d1f5c8a90e2
//	incarnation 6a3d1f52-0d5b-4a64-9a3e-0c8a3a3b7f10
//	account 3f6f2a9e-35a0-4c55-a9b3-31bd0a8a2b0c 42
//	sha256 ...
const witnessHead = "connectorcore witness 1"

// maxWitness bounds what is read: half a million accounts.
const maxWitness = 64 << 20

func (w *Witness) encode() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s\ndeployment %s\nincarnation %s\n", witnessHead, w.of, w.life)
	for _, m := range w.sorted() {
		fmt.Fprintf(&text, "account %s %d\n", m.Account, m.Position)
	}
	sum := sha256.Sum256(text.Bytes())
	fmt.Fprintf(&text, "sha256 %s\n", hex.EncodeToString(sum[:]))
	return text.Bytes()
}

func (w *Witness) refuse(format string, args ...any) error {
	return errors.Mark(errors.Newf("witness: %s %s", w.path, fmt.Sprintf(format, args...)), ErrForeign)
}

// read takes the marks of the file, or refuses it.
func (w *Witness) read() error {
	if about, err := os.Lstat(w.path); err != nil || !about.Mode().IsRegular() {
		return w.refuse("is no plain file: name the witness itself by store.witness")
	}
	file, err := os.Open(w.path)
	if err != nil {
		return errors.Wrap(err, "witness")
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxWitness+1))
	if err != nil {
		return errors.Wrapf(err, "witness: %s", w.path)
	}
	const mend = "; bring the last whole one back, and do not begin another"
	lines := strings.Split(string(text), "\n")
	if lines[0] != witnessHead || len(text) > maxWitness {
		return w.refuse("was not written by this program: name another path by store.witness")
	}
	if len(lines) < 5 {
		return w.refuse("is cut off after line %d%s", len(lines), mend)
	}
	of, foreign := facts.ParseID[facts.DeploymentID](strings.TrimPrefix(lines[1], "deployment "))
	life, dead := facts.ParseID[Incarnation](strings.TrimPrefix(lines[2], "incarnation "))
	if foreign != nil || dead != nil {
		return w.refuse("is damaged in line 2 or 3%s", mend)
	}
	was := &Witness{of: of, life: life, marks: map[facts.AccountID]uint64{}}
	for i, line := range lines[3 : len(lines)-2] {
		account, position, _ := strings.Cut(strings.TrimPrefix(line, "account "), " ")
		id, err := facts.ParseID[facts.AccountID](account)
		at, fault := strconv.ParseUint(position, 10, 64)
		if err != nil || fault != nil || at == 0 {
			return w.refuse("is damaged in line %d%s", i+4, mend)
		}
		was.marks[id] = at
	}
	if !bytes.Equal(was.encode(), text) {
		return w.refuse("is damaged: its bytes are not those of its digest%s", mend)
	}
	switch {
	case of != w.of:
		return w.refuse("is of deployment %s, and this is %s: name the witness of this deployment by store.witness", of, w.of)
	case life != w.life:
		return w.refuse("is of incarnation %s of the database, and this is %s: the database is another copy", life, w.life)
	}
	w.marks = was.marks
	return nil
}
