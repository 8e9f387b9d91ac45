package drive

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"connectorcore/engine/execute"
	"connectorcore/engine/frozen"
	"connectorcore/engine/turns"
	"connectorcore/facts"
	"connectorcore/ledger"
	"connectorcore/ledger/turn"
	"connectorcore/readers"

	"github.com/cockroachdb/errors"
	"github.com/prometheus/client_golang/prometheus"
)

// Runtime is where the application behaves: execute.Runtime.
type Runtime interface {
	// Submit lets the application behave on commands of one account, each once for ever, and answers each.
	Submit(ctx context.Context, commands []execute.Command) ([]execute.Answer, error)
	// Close ends a command for good: its result that is there, or that it failed.
	Close(ctx context.Context, command execute.Command) (execute.Receipt, error)
}

// Options are what a process decides about its driving. A field that is zero has its default.
type Options struct {
	Lease time.Duration // of a claim: how long another process leaves it alone; default 1 minute
	Sweep time.Duration // between two looks for what is due; default 1 second

	Clock   facts.Clock           // default: the machine's
	Log     *slog.Logger          // default: none
	Metrics prometheus.Registerer // default: none
}

// Driver drives the accounts of a deployment from one process. Any number of processes may drive one deployment.
type Driver struct {
	options   Options
	log       *slog.Logger
	ledger    *ledger.Ledger
	reader    *readers.Reader
	directory *frozen.Directory
	runtime   Runtime
	holder    facts.HolderID // this process's start, which its claims name

	turns   *turns.Turns[item, turn.Verdict]
	applies *turns.Turns[work, execute.Answer]
	root    context.Context // ends when the driver stops to begin anything
	cancel  context.CancelFunc
	woken   chan struct{}
	running sync.WaitGroup
}
