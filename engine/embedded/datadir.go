package embedded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cockroachdb/errors"
)

const (
	lockName     = "embedded.lock"
	stampName    = "embedded.json"
	passwordName = "root.password"
	configName   = "tidb.toml"
	initName     = "init.sql"
	outputName   = "tidb-server.out"
	logName      = "tidb.log"
)

// stamp is what the first start fixes for the life of a directory.
type stamp struct {
	Release    string `json:"release"`
	SplitTable bool   `json:"split_table"`
	// Ready says that the first start was carried through. Before that nobody was given the login, so nothing can have
	// been acknowledged, and the next start begins anew.
	Ready bool `json:"ready"`
}

// dataDir is a directory that this process owns until release.
type dataDir struct {
	path  string // absolute
	lock  *os.File
	stamp stamp
}

func (d *dataDir) at(name string) string { return filepath.Join(d.path, name) }
func (d *dataDir) storePath() string     { return d.at("store") }

// claim takes the directory, makes it if need be, and refuses one that is not ours, is in use, or was made with other
// settings. Nothing is written into a directory that is refused.
func claim(path string, want stamp) (*dataDir, error) {
	if path == "" {
		return nil, errors.New("embedded: no data directory is named; the store must be permanent, name one")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, errors.Wrapf(err, "embedded: data directory %q", path)
	}
	if !utf8.ValidString(absolute) || strings.ContainsFunc(absolute, unicode.IsControl) {
		return nil, errors.Newf("embedded: data directory %q: the server's configuration cannot name it; use a name in UTF-8 without control characters", absolute)
	}
	if err := os.MkdirAll(absolute, 0o700); err != nil {
		return nil, errors.Wrap(err, "embedded: cannot make the data directory")
	}
	d := &dataDir{path: absolute}
	if err := d.refuseForeign(); err != nil {
		return nil, err
	}
	if err := os.Chmod(absolute, 0o700); err != nil {
		return nil, errors.Wrap(err, "embedded: cannot close the data directory to others")
	}
	if d.lock, err = lockFile(d.at(lockName)); err != nil {
		return nil, d.inUse(err)
	}
	if err := d.adopt(want); err != nil {
		d.release()
		return nil, err
	}
	return d, nil
}

// What a data directory is refused for; callers tell them apart by errors.Is.
var (
	ErrInUse   = errors.New("the data directory is in use")
	ErrForeign = errors.New("the data directory was made by another program, release or setting")
)

func foreign(format string, args ...any) error {
	return errors.Mark(errors.Newf(format, args...), ErrForeign)
}

// refuseForeign refuses a directory that holds something and was not made here.
func (d *dataDir) refuseForeign() error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return errors.Wrap(err, "embedded: cannot read the data directory")
	}
	named := func(name string) bool {
		return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == name })
	}
	if len(entries) == 0 || named(lockName) || named(stampName) {
		return nil
	}
	return foreign("embedded: %s is not empty and was not made by this program (it holds %s and no %s); name an empty or a new directory",
		d.path, entries[0].Name(), stampName)
}

// adopt compares the stamp of an older start, or stamps a new directory.
func (d *dataDir) adopt(want stamp) error {
	text, err := os.ReadFile(d.at(stampName))
	if os.IsNotExist(err) {
		return d.begin(want)
	}
	if err != nil {
		return errors.Wrap(err, "embedded: cannot read what the data directory was made with")
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&d.stamp); err != nil {
		return foreign("embedded: %s is not a stamp of this program (%v); restore it from a backup, or name another data directory", d.at(stampName), err)
	}
	if d.stamp.SplitTable != want.SplitTable {
		return foreign("embedded: %s was made with split-table=%t and must have split-table=%t from its first start: with a region for each table a killed server tears transactions, and the setting cannot be changed later; export the data and load them into a new directory",
			d.path, d.stamp.SplitTable, want.SplitTable)
	}
	if d.stamp.Release != want.Release {
		return foreign("embedded: %s was made by TiDB %s and this program runs %s; use the program that made it, or export the data and load them into a new directory",
			d.path, d.stamp.Release, want.Release)
	}
	if !d.stamp.Ready {
		return d.begin(want)
	}
	return nil
}

// begin makes the directory empty and stamps it, before any of the server's files can appear in it.
func (d *dataDir) begin(want stamp) error {
	for _, name := range []string{"store", "tmp", "log", passwordName, initName} {
		if err := os.RemoveAll(d.at(name)); err != nil {
			return errors.Wrap(err, "embedded: cannot clear what an unfinished first start left")
		}
	}
	want.Ready = false
	if err := d.writeStamp(want); err != nil {
		return err
	}
	password := drawPassword()
	if err := writeFile(d.at(passwordName), []byte(password.text+"\n")); err != nil {
		return errors.Wrap(err, "embedded: cannot keep the password of root")
	}
	return nil
}

// finish records that the first start was carried through.
func (d *dataDir) finish() error {
	if d.stamp.Ready {
		return nil
	}
	if err := os.Remove(d.at(initName)); err != nil && !os.IsNotExist(err) {
		return errors.Wrap(err, "embedded: cannot remove the statements of the first start")
	}
	done := d.stamp
	done.Ready = true
	return d.writeStamp(done)
}

func (d *dataDir) writeStamp(s stamp) error {
	text, err := json.Marshal(s)
	if err != nil {
		return errors.NewAssertionErrorWithWrappedErrf(err, "embedded: stamp")
	}
	if err := writeFile(d.at(stampName), append(text, '\n')); err != nil {
		return errors.Wrap(err, "embedded: cannot record what the data directory is made with")
	}
	d.stamp = s
	return nil
}

// password reads the secret of root.
func (d *dataDir) password() (Password, error) {
	text, err := os.ReadFile(d.at(passwordName))
	if err != nil {
		return Password{}, errors.Wrapf(err, "embedded: the password of root is not readable; restore %s from a backup of the whole directory", d.at(passwordName))
	}
	return Password{strings.TrimSpace(string(text))}, nil
}

// say leaves a note for a second supervisor that finds the directory in use.
func (d *dataDir) say(address string) error {
	note := fmt.Sprintf("process %d, tidb-server at %s\n", os.Getpid(), address)
	if err := d.lock.Truncate(0); err != nil {
		return errors.Wrap(err, "embedded: cannot write the lock of the data directory")
	}
	if _, err := d.lock.WriteAt([]byte(note), 0); err != nil {
		return errors.Wrap(err, "embedded: cannot write the lock of the data directory")
	}
	return nil
}

func (d *dataDir) inUse(cause error) error {
	if !errors.Is(cause, errLocked) {
		return errors.Wrap(cause, "embedded: cannot lock the data directory")
	}
	by, _ := os.ReadFile(d.at(lockName)) // a note for the reader; without it the sentence still holds
	who := strings.TrimSpace(string(by))
	if who == "" {
		who = "another process that is just starting"
	}
	return errors.Mark(errors.Newf("embedded: %s is in use by %s; stop that one first, or connect to it by DSN", d.path, who), ErrInUse)
}

func (d *dataDir) release() { _ = d.lock.Close() }

// writeFile replaces a file whole, readable by its owner only, and has it on the disk before its name.
func writeFile(path string, text []byte) error {
	staged, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = staged.Write(text)
	if err == nil {
		err = staged.Sync()
	}
	if closed := staged.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(staged.Name(), path)
}
