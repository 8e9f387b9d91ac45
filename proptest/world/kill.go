package world

import (
	"syscall"
	"testing"
	"time"

	"connectorcore/engine/embedded"
)

// Kill kills the present life of a server and returns when its supervisor has seen it.
func Kill(t testing.TB, server *embedded.Server) {
	t.Helper()
	state, changed := server.State()
	for deadline := time.After(30 * time.Second); state.Phase != embedded.Serving; state, changed = server.State() {
		select { // the pool may reach a server that its supervisor has not called ready yet
		case <-changed:
		case <-deadline:
			t.Error("the server did not come back")
			return
		}
	}
	if err := syscall.Kill(state.PID, syscall.SIGKILL); err != nil {
		t.Error(err)
		return
	}
	select {
	case <-changed:
	case <-time.After(30 * time.Second):
		t.Error("the supervisor did not see the kill")
	}
}
