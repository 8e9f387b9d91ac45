package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// errRefused marks what another start of the same server cannot cure.
var errRefused = errors.New("refused")

func refuse(err error) error { return errors.Mark(err, errRefused) }

// awaitReady polls until root can log in, and then reads everything back.
func (s *Server) awaitReady(ctx context.Context, c *child) error {
	db, err := s.login.Open()
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	bounded, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	poll := time.NewTicker(25 * time.Millisecond)
	defer poll.Stop()
	for {
		if err := db.PingContext(bounded); err == nil {
			return s.readBack(bounded, db)
		} else if denied(err) {
			return refuse(errors.Newf("embedded: the store in %s does not take the password in %s; restore both from one backup, or name another data directory",
				s.dir.storePath(), s.dir.at(passwordName)))
		}
		select {
		case <-poll.C:
		case <-c.exited:
			return errors.Newf("embedded: tidb-server ended before it was ready (%s); its last words: %s; its log is %s",
				c.status, lastWords(s.dir), s.dir.at("log/"+logName))
		case <-bounded.Done():
			if ctx.Err() != nil {
				return errors.Wrap(ctx.Err(), "embedded: the start of tidb-server was given up")
			}
			return errors.Newf("embedded: tidb-server was not ready within %s; its log is %s", readyWait, s.dir.at("log/"+logName))
		}
	}
}

func denied(err error) bool {
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && answer.Number == 1045
}

// readBack makes sure that the server at our port is the one that we started, of the release that we were tested
// with, and that it has every setting. A server that differs is not used, not even once.
func (s *Server) readBack(ctx context.Context, db *sql.DB) error {
	config, err := readConfig(ctx, db)
	if err != nil {
		return err
	}
	if config.Path != s.dir.storePath() {
		return errors.Newf("embedded: the server at %s keeps its data in %s and not in %s: another program has taken the port",
			s.login.Address, config.Path, s.dir.storePath())
	}
	if config.Status.Report == nil || *config.Status.Report {
		return refuse(errors.New("embedded: report-status of tidb-server is not false: its status port shows the configuration to everyone on this host"))
	}
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return errors.Wrap(err, "embedded: cannot read the server's version")
	}
	if !strings.HasSuffix(version, "TiDB-"+Release) {
		return refuse(errors.Newf("embedded: %s says that it is %s, want TiDB-%s; run `make tidb` to build that one", s.options.Binary, version, Release))
	}
	wrong, err := compare(ctx, db, config, s.dir.stamp.SplitTable)
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return refuse(errors.Newf("embedded: somebody has changed the store in %s, and it must not be used like this: %s (to change it back, run %s -config %s by hand, log in as root with the password in %s, and stop it again)",
			s.dir.path, strings.Join(wrong, "; "), s.options.Binary, s.dir.at(configName), s.dir.at(passwordName)))
	}
	return nil
}

// freePort looks for a port that nobody uses, below those that the kernel gives to outgoing connections: one of these
// could otherwise take the server's port in the half second in which it is being started again.
func freePort() (int, error) {
	for range 100 {
		if port := 20000 + rand.IntN(12000); portFree(port) {
			return port, nil
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// portFree tells whether a port is free at this moment.
func portFree(port int) bool {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	_ = listener.Close()
	return true
}
