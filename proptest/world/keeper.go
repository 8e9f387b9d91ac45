package world

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"connectorcore/engine/embedded"

	"github.com/cockroachdb/errors"
)

// The files of a run directory. Users lock usersName shared; a keeper locks keeperName alone for its life. The kernel
// frees both when a process dies, however it dies, so nothing here can go stale but stateName, and a state is believed
// only if its server answers.
const (
	usersName  = "users.lock"
	keeperName = "keeper.lock"
	stateName  = "state.json"
	logName    = "keeper.log"
	dataPrefix = "data-"
)

// logMax is the size from which a new keeper empties the log of the older ones.
const logMax = 1 << 20

// keeperEnv makes a test binary the keeper of a run directory. Its value is the JSON of a task.
const keeperEnv = "CONNECTOR_TEST_KEEPER"

// task is what a keeper is started with.
type task struct {
	Dir   string        `json:"dir"`
	Grace time.Duration `json:"grace"` // how long the server stays when nobody uses it
}

// published is what a keeper writes for users, in a file that only its owner can read.
type published struct {
	Address  string `json:"address"`
	User     string `json:"user"`
	Password string `json:"password"`
	Keeper   int    `json:"keeper"` // the keeper's process, for whoever looks what is running
}

// An init, so that every test binary that imports world can become the keeper before any of its tests run, and no
// package has to remember a TestMain.
func init() {
	text := os.Getenv(keeperEnv)
	if text == "" {
		return
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	var t task
	err := json.Unmarshal([]byte(text), &t)
	if err == nil {
		err = keep(t, log)
	}
	if err != nil {
		log.Error("the keeper ends", "cause", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// spawn starts this binary as a keeper, in a session of its own and with its output in a file: neither `go test` nor
// the terminal waits for it.
func spawn(t task) error {
	text, err := json.Marshal(t)
	if err != nil {
		return errors.Wrap(err, "world: keeper")
	}
	self, err := os.Executable()
	if err != nil {
		return errors.Wrap(err, "world: keeper")
	}
	log, err := os.OpenFile(filepath.Join(t.Dir, logName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return errors.Wrap(err, "world: keeper")
	}
	defer log.Close()
	cmd := exec.Command(self)
	cmd.Dir = t.Dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Env = []string{keeperEnv + "=" + string(text)}
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "TMPDIR", "PATH"} {
		if value, set := os.LookupEnv(name); set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	if err := cmd.Start(); err != nil {
		return errors.Wrap(err, "world: keeper")
	}
	go func() { _ = cmd.Wait() }() // reaps it if it ends before us
	return nil
}

// keep serves a run directory until nobody uses it.
func keep(t task, log *slog.Logger) error {
	mine, err := openLock(filepath.Join(t.Dir, keeperName))
	if err != nil {
		return err
	}
	defer mine.Close()
	// Another keeper may be there: one that serves, or one that is just ending. Either way this one waits; when it has
	// the lock it looks whether it is still needed.
	if err := flock(mine, syscall.LOCK_EX); err != nil {
		return errors.Wrap(err, "world: keeper lock")
	}
	users, err := openLock(filepath.Join(t.Dir, usersName))
	if err != nil {
		return err
	}
	defer users.Close()
	if unused(users) {
		return nil
	}
	if err := clearOld(t.Dir); err != nil {
		return err
	}
	data, err := os.MkdirTemp(t.Dir, dataPrefix)
	if err != nil {
		return errors.Wrap(err, "world: data directory")
	}
	defer os.RemoveAll(data)
	server, err := embedded.Start(context.Background(), embedded.Options{Dir: data, Log: log})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Stop(ctx) // the data are thrown away, so it matters only that it is gone
	}()
	if err := publish(t.Dir, server.Root()); err != nil {
		return err
	}
	log.Info("serving", "address", server.Root().Address, "keeper", os.Getpid())
	return watch(t, users, server)
}

// watch returns when the lock of the users was free for the whole grace, with the state withdrawn: who comes now finds
// no state, and no keeper as soon as this one has ended.
func watch(t task, users *os.File, server *embedded.Server) error {
	tick := time.NewTicker(min(250*time.Millisecond, t.Grace/4+time.Millisecond))
	defer tick.Stop()
	free := time.Now()
	for {
		select {
		case <-server.Done():
			state, _ := server.State()
			_ = os.Remove(filepath.Join(t.Dir, stateName))
			return errors.Wrap(state.Err, "world: the shared server is gone")
		case <-tick.C:
		}
		if flock(users, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			free = time.Now()
			continue
		}
		leave := time.Since(free) >= t.Grace
		if leave {
			// Withdrawn while nobody can hold the users' lock: a user reads the state after it has the lock.
			_ = os.Remove(filepath.Join(t.Dir, stateName))
		}
		if err := flock(users, syscall.LOCK_UN); err != nil {
			return errors.Wrap(err, "world: users lock")
		}
		if leave {
			return nil
		}
	}
}

// unused tells whether no process holds the users' lock.
func unused(users *os.File) bool {
	if flock(users, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false
	}
	_ = flock(users, syscall.LOCK_UN)
	return true
}

// clearOld removes what a killed keeper left. Its tidb-server has died with it.
func clearOld(dir string) error {
	if log := filepath.Join(dir, logName); sizeOf(log) > logMax {
		_ = os.Truncate(log, 0)
	}
	_ = os.Remove(filepath.Join(dir, stateName))
	old, err := filepath.Glob(filepath.Join(dir, dataPrefix+"*"))
	if err != nil {
		return errors.Wrap(err, "world: run directory")
	}
	for _, path := range old {
		if err := os.RemoveAll(path); err != nil {
			return errors.Wrap(err, "world: run directory")
		}
	}
	return nil
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func publish(dir string, login embedded.Login) error {
	text, err := json.Marshal(published{login.Address, login.User, login.Password.Reveal(), os.Getpid()})
	if err != nil {
		return errors.Wrap(err, "world: state")
	}
	staged := filepath.Join(dir, fmt.Sprintf(".%s.%d", stateName, os.Getpid()))
	if err := os.WriteFile(staged, text, 0o600); err != nil {
		return errors.Wrap(err, "world: state")
	}
	return errors.Wrap(os.Rename(staged, filepath.Join(dir, stateName)), "world: state")
}
