package embedded

import (
	"crypto/rand"
	"crypto/sha1"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// Password is a secret that no format verb, logger or encoder prints.
type Password struct{ text string }

// NewPassword takes the text of a secret.
func NewPassword(text string) Password { return Password{text} }

const hidden = "(secret)"

// Reveal is the text, for the one call that logs in with it.
func (p Password) Reveal() string { return p.text }

// Format hides the text from every verb of fmt.
func (p Password) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, hidden) }

// LogValue hides the text from slog.
func (p Password) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the text from encoders.
func (p Password) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Login is what a client needs to reach the server: host:port, account, secret. It may be printed: the secret hides.
type Login struct {
	Address  string
	User     string
	Password Password
}

// Config is the login as a driver configuration with no database chosen, for callers that add their session settings.
func (l Login) Config() *mysql.Config {
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", l.Address
	config.User, config.Passwd = l.User, l.Password.Reveal()
	config.Timeout = 5 * time.Second
	// The driver reports each broken connection to stderr by itself; a broken connection comes back as an error too.
	config.Logger = &mysql.NopLogger{}
	return config
}

// Open makes a pool of this login. Nothing is connected before its first use.
func (l Login) Open() (*sql.DB, error) {
	connector, err := mysql.NewConnector(l.Config())
	if err != nil {
		return nil, errors.Wrap(err, "embedded: login")
	}
	return sql.OpenDB(connector), nil
}

// drawPassword makes 192 bits of secret, in letters that need no quoting anywhere.
func drawPassword() Password {
	raw := make([]byte, 24)
	_, _ = rand.Read(raw) // documented never to fail
	return Password{base64.RawURLEncoding.EncodeToString(raw)}
}

// nativeHash is the form in which mysql_native_password keeps a password. The first start is given this form only, so
// that the secret itself stands in no statement that a server could log.
func nativeHash(p Password) string {
	once := sha1.Sum([]byte(p.text))
	twice := sha1.Sum(once[:])
	return "*" + strings.ToUpper(hex.EncodeToString(twice[:]))
}
