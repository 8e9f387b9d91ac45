// Command demo shows the main job on real input: it builds the binaries, starts an embedded store, makes a conformance
// deployment with every pack of this tree, runs the sample application as a daemon, and plays a provider that sends real
// payloads in any order, twice, forged and damaged, while the daemon is killed. In the end it counts.
//
// Everything that it starts ends with it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
	"github.com/spf13/cobra"
)

var clock = facts.SystemClock{}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal does not wait
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err != nil && ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "demo: told to end before it was done; everything that it started has ended")
	case err != nil:
		fmt.Fprintln(os.Stderr, "demo:", err)
	}
	if err != nil {
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	json, keep       bool
	double, disorder bool // defects that are planted
	payloads         int
	seed             uint64
	dir              string
}

func run(ctx context.Context, args []string, out, say io.Writer) error {
	var o options
	cmd := &cobra.Command{Use: "demo", Short: "Show the main job on real input", Args: cobra.NoArgs, SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &demo{options: o, out: out, err: say, began: clock.Now()}
			return errors.CombineErrors(d.play(cmd.Context()), d.end())
		}}
	flags := cmd.Flags()
	flags.BoolVar(&o.json, "json", false, "print the counts as one JSON object on one line, and nothing else")
	flags.BoolVar(&o.keep, "keep", false, "leave everything running after the counts, until ^C")
	flags.BoolVar(&o.double, "plant-double", false, "let the application log one command twice, so that applied twice says 1")
	flags.BoolVar(&o.disorder, "plant-disorder", false, "let the application apply a record's first input behind its second, so that out of order and stale say 1")
	flags.IntVar(&o.payloads, "payloads", 0, "how many distinct deliveries to send (default: all that there are)")
	flags.Uint64Var(&o.seed, "seed", 1, "of the order in which they are sent")
	flags.StringVar(&o.dir, "dir", "", "an empty or new directory for everything that is written; it is kept (default: a temporary one)")
	cmd.SetArgs(args)
	cmd.SetOut(say)
	cmd.SetErr(say)
	return cmd.ExecuteContext(ctx)
}

// demo is one run.
type demo struct {
	options
	out, err io.Writer
	began    time.Time

	root    string // of this tree
	deploy  *deployment
	keeper  *keeper
	plan    *plan
	outcome result
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.err, format+"\n", args...) }

// step tells what begins, and how long it took.
func (d *demo) step(what string, do func() error) error {
	d.say("%s ...", what)
	from := clock.Now()
	if err := do(); err != nil {
		return errors.Wrap(err, what)
	}
	d.say("    %.1f s", clock.Now().Sub(from).Seconds())
	return nil
}

// play is the whole run.
func (d *demo) play(ctx context.Context) error {
	if err := d.place(); err != nil {
		return err
	}
	folders, err := filepath.Glob(filepath.Join(d.root, "packs", "*", "pack.yaml"))
	if err != nil {
		return errors.Wrap(err, "the packs of this tree")
	}
	for i := range folders {
		folders[i] = filepath.Dir(folders[i])
	}
	for _, one := range []struct {
		what string
		do   func() error
	}{
		{"building connector and crm", func() error { return d.build(ctx) }},
		{"starting an embedded TiDB with the schema", func() error { return d.deploy.serveStore(ctx) }},
		{fmt.Sprintf("founding a conformance deployment, installing and authorising %d packs", len(folders)), func() error { return d.deploy.install(ctx, folders) }},
		{"publishing sealed credentials and the tenant's configuration", func() error { return d.deploy.configure(ctx) }},
		{"making the application's tables and activating", func() error { return d.deploy.activate(ctx) }},
		{"collecting published payloads", func() (err error) {
			d.plan, err = planned(ctx, d.deploy.accounts, d.payloads, d.seed, d.say)
			return err
		}},
	} {
		if err := d.step(one.what, one.do); err != nil {
			return err
		}
	}
	books, err := openBooks(d.deploy.migration)
	if err != nil {
		return err
	}
	defer books.db.Close()
	if err := d.perform(ctx, books); err != nil {
		return err
	}
	return d.tell(ctx)
}

// place finds this tree and makes the run's directory.
func (d *demo) place() error {
	found, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return errors.Wrap(err, "`go env GOMOD`")
	}
	d.root = filepath.Dir(strings.TrimSpace(string(found)))
	if _, err := os.Stat(filepath.Join(d.root, "packs")); err != nil {
		return errors.New("run the demo inside a checkout of connectorcore: it builds from the source and reads packs/")
	}
	dir := d.dir
	if dir == "" {
		dir, err = os.MkdirTemp("", "connectorcore-demo-")
	} else if dir, err = filepath.Abs(dir); err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return errors.Wrap(err, "the directory of the demo")
	}
	if there, err := os.ReadDir(dir); err != nil || len(there) > 0 {
		return errors.Newf("--dir %s is not empty: name a new one, since every run begins with nothing", dir)
	}
	d.deploy = &deployment{dir: dir, bin: filepath.Join(dir, "bin"), config: filepath.Join(dir, "connector.yaml")}
	return nil
}

func (d *demo) build(ctx context.Context) error {
	command := exec.CommandContext(ctx, "go", "build", "-o", d.deploy.bin+string(filepath.Separator), "./cmd/connector", "./examples/crm")
	command.Dir, command.Stderr = d.root, d.err
	return errors.Wrap(command.Run(), "go build")
}

// perform sends everything, kills the daemon meanwhile, and counts.
func (d *demo) perform(ctx context.Context, books *books) error {
	sender := newSender()
	defer sender.client.CloseIdleConnections()
	d.keeper = &keeper{deployment: d.deploy, books: books, sender: sender, say: d.say, dead: map[facts.HolderID]bool{}}
	if err := d.spoil(); err != nil {
		return err
	}
	if err := d.step("starting the daemon, with the application in it", func() error { return d.keeper.start(ctx) }); err != nil {
		return err
	}
	what := fmt.Sprintf("sending %d distinct deliveries, %d of them published by others: shuffled, some twice, forged or damaged", d.plan.honest, d.plan.real)
	if err := d.step(what, func() error { return d.send(ctx, sender) }); err != nil {
		return err
	}
	parcels := d.plan.all()
	owed, err := owedFor(parcels, d.deploy.epoch)
	if err != nil {
		return err
	}
	return d.step("waiting until nothing is open that can be applied now", func() error {
		log, err := books.settled(ctx, owed)
		if err != nil {
			return err
		}
		d.outcome = counted(parcels, owed, log)
		d.outcome.Kills, d.outcome.again, d.outcome.real = d.keeper.kills, sender.again.Load(), d.plan.real
		if d.outcome.aside, err = books.aside(ctx); err != nil {
			return err
		}
		for _, n := range d.outcome.aside {
			d.outcome.SetAside += n
		}
		if d.outcome.ended, err = books.superseded(ctx); err != nil {
			return err
		}
		d.outcome.Waiting, err = books.waiting(ctx)
		d.outcome.Seconds = float64(clock.Now().Sub(d.began).Milliseconds()/100) / 10
		return err
	})
}

// spoil plants the defects that were asked for.
func (d *demo) spoil() (err error) {
	if d.double {
		if d.keeper.defects.twice, err = d.plan.twice(); err != nil {
			return err
		}
	}
	if d.disorder {
		d.keeper.defects.late, err = d.plan.disorder(d.deploy.epoch)
	}
	return err
}

// send sends the plan while the daemon is killed twice. If the keeper fails, the sending is given up.
func (d *demo) send(ctx context.Context, sender *sender) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sent, kept := make(chan struct{}), make(chan error, 1)
	go func() {
		err := d.keeper.killing(ctx, len(d.plan.parcels))
		if err == nil {
			err = d.keeper.watch(sent)
		}
		if err != nil {
			cancel(err)
		}
		kept <- err
	}()
	err := sender.sendAll(ctx, d.plan.parcels)
	if err == nil && d.disorder {
		err = d.keeper.putBy(ctx)
	}
	for _, parcels := range [][]*parcel{d.plan.newest, d.plan.rest, d.plan.late} {
		if err == nil {
			err = sender.sendAll(ctx, parcels)
		}
	}
	if err != nil {
		cancel(err)
	}
	close(sent)
	return errors.CombineErrors(<-kept, err)
}

// tell prints the counts, and leaves everything running if it was asked to.
func (d *demo) tell(ctx context.Context) error {
	show := d.outcome.table
	if d.json {
		show = d.outcome.json
	}
	if err := show(d.out); err != nil {
		return err
	}
	var p planted
	if d.double {
		p.double = 1
	}
	if d.disorder {
		p.disorder = 1
	}
	if err := d.outcome.verdict(p); err != nil {
		return err
	}
	if d.keep {
		connector := filepath.Join(d.deploy.bin, "connector") + " --config " + d.deploy.config
		d.say("\nThe daemon listens at http://%s and answers operators at http://%s/readyz. Try, in another shell:", d.keeper.at.Door, d.keeper.at.Operations)
		d.say("    %s epoch show\n    %s credential list\n    curl -s http://%s/metrics\n^C ends everything.", connector, connector, d.keeper.at.Operations)
		<-ctx.Done()
	}
	return nil
}

// end ends what runs, in the reverse order of its start, and removes a temporary directory.
func (d *demo) end() error {
	if d.keeper != nil {
		d.keeper.end()
	}
	if d.deploy == nil {
		return nil
	}
	if d.deploy.store != nil {
		d.deploy.store.end()
	}
	if d.dir != "" {
		return nil
	}
	return errors.Wrap(os.RemoveAll(d.deploy.dir), "the directory of the demo")
}
