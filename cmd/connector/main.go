package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"connectorcore/engine/platform"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	// A second signal does not wait for an orderly end.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// endSignals ask for an orderly end. A terminal that closes is one of them, or the DSN files of a served store would stay
// behind; under nohup that signal is ignored already, and stays so.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// program is one run of the command: where it writes, and what it was given.
type program struct {
	out, err io.Writer
	environ  []string
	output   string
}

// run executes one command line and returns the exit code. Nothing that fails inside reaches the user as a trace.
func run(ctx context.Context, args, environ []string, out, err io.Writer) (code int) {
	p := &program{out: out, err: err, environ: environ}
	defer func() {
		if defect := recover(); defect != nil {
			p.say("a defect of this program (%v): report it with the command that you ran", defect)
			code = exitFailed
		}
	}()
	root := p.root()
	root.InitDefaultCompletionCmd(args...)
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.HasSubCommands() {
			cmd.Args, cmd.RunE = cobra.ArbitraryArgs, helpOrRefuse // the library's own would answer an unknown name with 0
		}
		if cmd.Name() == "help" {
			cmd.Run, cmd.RunE = nil, helpAbout // and so would this one
		}
	}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(err)
	return p.end(root.ExecuteContext(ctx))
}

const longHelp = `connector connects an application to outside providers without losing or repeating an operation.

Settings come from flags, then the environment, then the file of --config, then defaults.
'connector config view' shows each with where it came from.

Exit codes:`

func (p *program) root() *cobra.Command {
	root := group("connector", "Connect an application to outside providers",
		p.version(), p.refusals(),
		group("config", "Look at the configuration", p.configView(), p.configValidate()),
		group("schema", "Look at the database schema and bring it forward", p.schemaShow(), p.schemaPlan(), p.schemaApply(), p.schemaVerify(), p.schemaApplication()),
		p.serve(), p.bench(),
		group("store", "Run the embedded store, or check a store", p.storeServe(), p.storeCheck()),
		p.packs(),
		p.activate(), group("epoch", "Look at what serves, and what may", p.epochShow()),
		p.catalog(), p.tenant(), p.credential(),
		group("deployment", "Say once what this installation is", p.deploymentFound()),
	)
	root.Long = longHelp
	if this, err := thisBuild(); err == nil {
		root.Version = buildText(this)
	}
	root.SetVersionTemplate("{{.Version}}\n")
	for code, says := range exitSays {
		root.Long += fmt.Sprintf("\n  %d  %s", code, says)
	}
	root.SilenceErrors, root.SilenceUsage = true, true
	flags := root.PersistentFlags()
	flags.StringVar(&p.output, "output", outputs[0], "how data are printed: "+strings.Join(outputs, ", "))
	platform.AddFlags(flags)
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return checkOutput(p.output) }
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(cmd, "%s", withoutValue(err.Error()))
	})
	return root
}

// withoutValue cuts a flag's value from the parser's complaint: it may be a DSN.
func withoutValue(complaint string) string {
	before, _, cut := strings.Cut(complaint, "=")
	if !cut {
		return before
	}
	return before + "=..."
}

// group is a command that only holds others. Called by itself it prints its help.
func group(name, short string, commands ...*cobra.Command) *cobra.Command {
	parent := &cobra.Command{Use: name, Short: short, Args: cobra.ArbitraryArgs, RunE: helpOrRefuse}
	parent.AddCommand(commands...)
	return parent
}

// helpOrRefuse runs a command that only holds others: what is left of the line names none of them.
func helpOrRefuse(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return usage(cmd, "%s has no command %s: it has %s", cmd.CommandPath(), showable(args[0]), strings.Join(names, ", "))
}

// helpAbout prints the help of the command that the arguments name.
func helpAbout(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil {
		return err
	}
	if about.HasSubCommands() {
		return helpOrRefuse(about, rest)
	}
	about.InitDefaultHelpFlag() // only a command that runs has it already
	return about.Help()
}

var plainWord = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)

// showable repeats an argument only if it is a plain word: anything else may be a DSN that lost its flag.
func showable(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "of that name"
}

// leaf is a command without arguments.
func leaf(name, short, example string, do func(*cobra.Command) error) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Example: "  " + example,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(cmd, "%s takes no arguments and was given %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE:              func(cmd *cobra.Command, _ []string) error { return do(cmd) },
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

// load reads the configuration and makes the log.
func (p *program) load(cmd *cobra.Command) (*platform.Config, *slog.Logger, error) {
	config, err := platform.Load(p.environ, cmd.Flags())
	if err != nil {
		return nil, nil, err
	}
	return config, config.Log.Logger(p.err), nil
}
