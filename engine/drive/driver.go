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

// receiptsMax bounds the Receipts that a sweep has in hand: each holds what is derived of a whole body, up
// to what the queue of an account takes in.
const receiptsMax = 256

// Options are what a process decides about its driving. A field that is zero has its default.
type Options struct {
	Lease time.Duration // of a claim: how long another process leaves it alone; default 1 minute
	Sweep time.Duration // between two looks for what is due; default 1 second

	Concurrent int // accounts that have a turn at once, and again that many whose application runs; default 4
	Hand       int // executions that are claimed and not ended, above which this process claims no more; default 2,000; none below 0

	// Completed is told each execution whose completion is durable, at once: it must return, and soon. Default: nobody.
	Completed func(facts.ExecutionKey)

	Clock   facts.Clock           // default: the machine's
	Log     *slog.Logger          // default: none
	Metrics prometheus.Registerer // default: none
}

// Parts are what a Driver works with.
type Parts struct {
	Ledger    *ledger.Ledger
	Reader    *readers.Reader
	Directory *frozen.Directory
	// Runtime makes the Runtime of the application, which takes each account's gate by this queue (R13).
	Runtime func(queue ledger.Queue) (execute.Runtime, error)
}

// Driver drives the accounts of a deployment from one process. Any number of processes may drive one deployment.
type Driver struct {
	options   Options
	log       *slog.Logger
	reader    *readers.Reader
	directory *frozen.Directory
	runtime   execute.Runtime
	holder    facts.HolderID // this process's start, which its claims name

	turns   *turns.Turns[item, turn.Verdict]
	applies *turns.Turns[work, execute.Verdict]
	root    context.Context // ends when the driver begins nothing any more
	cancel  context.CancelFunc
	woken   chan struct{}
	running sync.WaitGroup // of the sweep

	receipts   *hand[facts.ReceiptID]   // that this process materializes
	executions *hand[facts.ExecutionID] // that it has claimed, or asks for
	lanes      *hand[facts.LaneID]      // that it asks to be moved on
	windows    *hand[facts.WindowID]    // that it closes
	dependents *hand[facts.ExecutionID] // whose dependencies it asks to be looked at
	pauses     *patience
}

// Open makes a Driver. It takes deliveries at once, and looks for what other processes left when it is started.
func Open(p Parts, o Options) (*Driver, error) {
	o.complete()
	d := &Driver{options: o, log: o.Log, reader: p.Reader, directory: p.Directory, holder: facts.Mint[facts.HolderID](), woken: make(chan struct{}, 1),
		pauses: newPatience(o.Clock)}
	d.lanes, d.windows = newHand[facts.LaneID](lanesMax, d.wake), newHand[facts.WindowID](windowsMax, d.wake)
	d.dependents = newHand[facts.ExecutionID](dependentsMax, d.wake)
	d.receipts, d.executions = newHand[facts.ReceiptID](receiptsMax, d.wake), newHand[facts.ExecutionID](o.Hand, d.wake)
	d.root, d.cancel = context.WithCancel(context.Background())
	var err error
	d.turns, err = turns.New(turns.Options{Kinds: kinds, ExclusiveWeight: 8, Concurrent: o.Concurrent, Clock: o.Clock, Log: o.Log, Metrics: labelled(o.Metrics, "turn")},
		func(ctx context.Context, account facts.AccountID, items []item) ([]turn.Verdict, error) {
			plain := make([]turn.Item, len(items))
			for i, one := range items {
				plain[i] = one.Item
			}
			return p.Ledger.TakeTurn(ctx, account, plain)
		})
	if err != nil {
		return nil, err
	}
	d.applies, err = turns.New(turns.Options{Kinds: []turns.KindRule{{Name: "apply", Weight: 1}}, Concurrent: o.Concurrent, Turn: turns.Size{Items: execute.MaxShared, Rows: turn.MaxRows, Bytes: turn.MaxBytes},
		Account: turns.Size{Items: 100000, Rows: 1000000, Bytes: 256 << 20}, Process: turns.Size{Items: 100000, Rows: 1000000, Bytes: 256 << 20},
		Clock: o.Clock, Log: o.Log, Metrics: labelled(o.Metrics, "application")}, d.apply)
	if err != nil {
		return nil, err
	}
	d.runtime, err = p.Runtime(d.exclusive)
	return d, err
}

// Start begins to look for what is due.
func (d *Driver) Start() { d.running.Go(d.sweeping) }

// Close claims nothing more, lets what runs come to its end and be recorded, and returns when it has, or when the context
// ends. What was not ended is found by the process that follows. Deliveries are to stop before.
func (d *Driver) Close(ctx context.Context) error {
	d.cancel()
	d.running.Wait() // what a sweep reads ends with the root
	err := d.applies.Close(ctx)
	// What the application has answered is on its way into a turn: the turns stay open for it.
	if d.executions.wait(ctx) != nil {
		err = errors.CombineErrors(err, errors.New("drive: executions were left under way; they are found when their leases are over"))
	}
	return errors.CombineErrors(err, d.turns.Close(ctx))
}

// claims is the claim of what is born: none, if this process has enough in hand or is ending.
func (d *Driver) claims() *turn.Holding {
	if d.root.Err() != nil || d.executions.full() {
		return nil
	}
	return d.holding()
}

func (d *Driver) holding() *turn.Holding {
	return &turn.Holding{Holder: d.holder, Lease: d.options.Lease}
}

// warn tells of what went wrong and is made good by itself. The words of a store or of a handler may hold a payload, so
// only what is safe of them is written.
func (d *Driver) warn(what string, err error, about ...slog.Attr) {
	level := slog.LevelWarn
	if errors.HasAssertionFailure(err) {
		level = slog.LevelError
	}
	d.log.LogAttrs(context.Background(), level, what, append(about, slog.String("failure", safeOf(err)))...)
}

func (o *Options) complete() {
	if o.Lease == 0 {
		o.Lease = time.Minute
	}
	if o.Sweep == 0 {
		o.Sweep = time.Second
	}
	if o.Concurrent == 0 {
		o.Concurrent = 4
	}
	if o.Completed == nil {
		o.Completed = func(facts.ExecutionKey) {}
	}
	if o.Hand == 0 {
		o.Hand = 2000
	}
	if o.Clock == nil {
		o.Clock = facts.SystemClock{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// labelled tells the metrics of the two queues apart.
func labelled(registerer prometheus.Registerer, queue string) prometheus.Registerer {
	if registerer == nil {
		return nil
	}
	return prometheus.WrapRegistererWith(prometheus.Labels{"queue": queue}, registerer)
}

// exclusive gives the application's transaction its account's place.
func (d *Driver) exclusive(ctx context.Context, account facts.AccountID, take func(context.Context) error) error {
	return d.turns.Exclusive(ctx, account, take)
}
