package platform

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"connectorcore/facts"

	"filippo.io/age"
	"github.com/cockroachdb/errors"
)

// FileSecrets keeps secret sets as age-encrypted files in one folder. A version is NAME@DIGEST: the file is NAME.age and
// the digest is the SHA-256 of the encrypted file, so that a file which was replaced is another version, and finding
// that out takes no secret.
type FileSecrets struct {
	folder     string
	identities []age.Identity
}

const fileSecrets = "file"

var (
	fileVersion = regexp.MustCompile(`^([a-z0-9][a-z0-9._-]{0,99})@([0-9a-f]{64})$`)
	identityMax = int64(64 << 10)
)

// OpenFileSecrets opens a folder with the identity file that can decrypt it. Both paths are the operator's.
//
// Refuses: ConfigurationInvalid (the identity file is missing, readable by others, or holds no age identity).
func OpenFileSecrets(folder, identityFile string) (*FileSecrets, error) {
	refuse := func(fault string) error {
		return facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("age identity file "+identityFile), "%s", fault)
	}
	info, err := os.Stat(identityFile)
	switch {
	case err != nil:
		return nil, refuse("it cannot be read: " + reason(err))
	case !info.Mode().IsRegular() || info.Size() > identityMax:
		return nil, refuse("it is no file of at most 64 KiB")
	case info.Mode().Perm()&0o077 != 0:
		return nil, refuse("others than its owner may read it: set its mode to 0600")
	}
	raw, err := os.ReadFile(identityFile)
	if err != nil {
		return nil, refuse("it cannot be read: " + reason(err))
	}
	defer clear(raw)
	identities, err := age.ParseIdentities(bytes.NewReader(raw))
	if err != nil {
		return nil, refuse("it holds no age identity") // the cause may quote the line
	}
	return &FileSecrets{folder, identities}, nil
}

// reason is what the system says of a path, without the path.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// Fetch implements SecretBackend.
func (f *FileSecrets) Fetch(_ context.Context, version facts.SecretVersion) ([]byte, error) {
	refuse := func(fault string) error {
		return facts.Refuse(facts.SecretUnusable, facts.OfInput("secret version "+version.String()+" at "+fileSecrets), "%s", fault)
	}
	parts := fileVersion.FindStringSubmatch(version.String())
	if parts == nil {
		return nil, refuse("want NAME@DIGEST, with the SHA-256 of the encrypted file in 64 hexadecimal digits")
	}
	sealed, err := f.read(parts[1] + ".age")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, refuse("the folder has no file " + parts[1] + ".age")
	case err != nil:
		return nil, unavailable(fileSecrets, version, "the file cannot be read: "+reason(err))
	case len(sealed) > 2*secretSetMax:
		return nil, refuse("the file is longer than 2 MiB")
	}
	if sum := sha256.Sum256(sealed); hex.EncodeToString(sum[:]) != parts[2] {
		return nil, refuse("the file is another version now: its SHA-256 is " + hex.EncodeToString(sum[:]))
	}
	plain, err := age.Decrypt(bytes.NewReader(sealed), f.identities...)
	if err != nil {
		return nil, refuse("it cannot be decrypted with the configured identity")
	}
	encoded := bytes.NewBuffer(make([]byte, 0, len(sealed))) // never grows, so that no copy stays behind
	if _, err := io.Copy(encoded, io.LimitReader(plain, secretSetMax+1)); err != nil || encoded.Len() > secretSetMax {
		clear(encoded.Bytes())
		return nil, refuse("it cannot be decrypted whole, or is longer than 1 MiB")
	}
	return encoded.Bytes(), nil
}

// read opens inside the folder only, whatever a link says.
func (f *FileSecrets) read(name string) ([]byte, error) {
	root, err := os.OpenRoot(f.folder)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errors.New("the folder is not there") // which says nothing about the version
		}
		return nil, err
	}
	defer root.Close()
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, 2*secretSetMax+1))
}

// SealSecrets encrypts a set for an age recipient ("age1...") into NAME.age in the folder and gives its version. A file
// that is there is never overwritten, because a version is immutable.
//
// Refuses: ConfigurationInvalid (the recipient or the name), SecretUnusable, ContentDiffers (the name is taken).
func SealSecrets(folder string, name SecretKey, recipient string, set SecretSet) (facts.SecretVersion, error) {
	none := facts.SecretVersion{}
	to, err := age.ParseX25519Recipient(recipient)
	if err != nil {
		return none, facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("age recipient"), "want the public key of an identity, age1...")
	}
	encoded, err := EncodeSecrets(set)
	if err != nil {
		return none, err
	}
	defer clear(encoded)
	var sealed bytes.Buffer
	writer, err := age.Encrypt(&sealed, to)
	if err == nil {
		if _, err = writer.Write(encoded); err == nil {
			err = writer.Close()
		}
	}
	if err != nil {
		return none, errors.Wrap(err, "platform: age")
	}
	sum := sha256.Sum256(sealed.Bytes())
	text := name.String() + "@" + hex.EncodeToString(sum[:])
	if !fileVersion.MatchString(text) {
		return none, facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("secret name"), "want lower-case letters, digits, dots, hyphens and underscores, at most 100")
	}
	path := filepath.Join(folder, name.String()+".age")
	if err := writeOnce(path, sealed.Bytes()); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return none, facts.Refuse(facts.ContentDiffers, facts.OfInput("secret file "+strings.TrimSuffix(filepath.Base(path), ".age")), "the name is taken; a version is never overwritten")
		}
		return none, errors.Wrapf(err, "platform: secret file %s", name)
	}
	return facts.ParseKey[facts.SecretVersion](text)
}

// writeOnce writes a new file whole and lets it reach the disk, or leaves none.
func writeOnce(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.CombineErrors(err, file.Close()); err != nil {
		return errors.CombineErrors(err, os.Remove(path))
	}
	return nil
}
