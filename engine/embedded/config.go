package embedded

import (
	"fmt"
	"os"
	"strings"

	"github.com/cockroachdb/errors"
)

// Release is the TiDB that this program is built with and tested on; VERSION() of the embedded server ends in it.
const Release = "v8.5.6"

// writeConfig writes the server's configuration for one port, and for a first start the statements that run before
// the server listens.
func (d *dataDir) writeConfig(port int) error {
	for _, name := range []string{"tmp", "log"} {
		if err := os.MkdirAll(d.at(name), 0o700); err != nil {
			return errors.Wrap(err, "embedded: cannot make the server's directories")
		}
	}
	if !d.stamp.Ready {
		password, err := d.password()
		if err != nil {
			return err
		}
		if err := writeFile(d.at(initName), []byte(firstStatements(password))); err != nil {
			return errors.Wrap(err, "embedded: cannot write the statements of the first start")
		}
	}
	if err := writeFile(d.at(configName), []byte(d.config(port))); err != nil {
		return errors.Wrap(err, "embedded: cannot write the server's configuration")
	}
	return nil
}

// config is the text of tidb.toml. Every key of the top level stands above the first section: below one, TOML would
// read it as that section's key and the server would keep its own default.
func (d *dataDir) config(port int) string {
	var text strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	put("# Written at every start; changes are lost.")
	put("split-table = %t", d.stamp.SplitTable)
	put("host = %s", quote("127.0.0.1"))
	put("port = %d", port)
	put("store = %s", quote("unistore"))
	put("path = %s", quote(d.storePath()))
	// Relative to the working directory, which is the data directory: the kernel cuts socket names at 107 bytes.
	put("socket = %s", quote("tidb.sock"))
	put("temp-dir = %s", quote(d.at("tmp")))
	put("tmp-storage-path = %s", quote(d.at("tmp")))
	if !d.stamp.Ready {
		put("initialize-sql-file = %s", quote(d.at(initName)))
	}
	put("\n[log]\nlevel = %s", quote("warn"))
	put("slow-query-file = %s", quote(d.at("log/slow.log")))
	put("\n[log.file]\nfilename = %s", quote(d.at("log/"+logName)))
	put("max-size = 64\nmax-backups = 3")
	// The status port would serve configuration and profiles to anyone on the host, without a login.
	put("\n[status]\nreport-status = false")
	return text.String()
}

// quote writes a TOML basic string.
//
// REQUIRES: valid UTF-8 without control characters; claim refuses other paths.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// firstStatements are run by the server inside its bootstrap, before it opens its port: there is no moment at which
// root can be reached without the password. The server only warns if one fails; the read-back finds it.
func firstStatements(password Password) string {
	var text strings.Builder
	for _, s := range settings {
		fmt.Fprintf(&text, "SET GLOBAL %s = %s;\n", s.name, s.want)
	}
	fmt.Fprintf(&text, "ALTER USER 'root'@'%%' IDENTIFIED WITH 'mysql_native_password' AS '%s';\n", nativeHash(password))
	return text.String()
}
