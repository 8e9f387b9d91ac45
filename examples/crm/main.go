// Command crm is an application that runs inside the daemon: it links a handler, and the daemon asks it for each command
// once. Its tables stand in a database of its own in the cluster of the daemon's store.
//
// Read handle.go for what it does with a command, tables.go for where it keeps it; defects.go is the demo's. `crm init`
// makes the tables once, with the migration login; `crm serve` is the daemon. Both take the settings of connectorcore.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"connectorcore/engine/drive"
	"connectorcore/engine/platform"
	"connectorcore/engine/serve"

	"github.com/spf13/cobra"
)

// database is where the application keeps its tables.
const database = "crm"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{Use: "crm", Short: "A sample application", SilenceErrors: true, SilenceUsage: true}
	platform.AddFlags(root.PersistentFlags())
	root.AddCommand(initCommand(), serveCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "crm:", err)
		os.Exit(1)
	}
}

func load(cmd *cobra.Command) (*platform.Config, *slog.Logger, error) {
	config, err := platform.Load(os.Environ(), cmd.Flags())
	if err != nil {
		return nil, nil, err
	}
	return config, config.Log.Logger(os.Stderr), nil
}

func initCommand() *cobra.Command {
	return &cobra.Command{Use: "init", Short: "Make the application's database and tables", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		config, log, err := load(cmd)
		if err != nil {
			return err
		}
		return makeTables(cmd.Context(), config.Store, log)
	}}
}

func serveCommand() *cobra.Command {
	app, lease := application{}, time.Duration(0)
	cmd := &cobra.Command{Use: "serve", Short: "Run the daemon with this application in it", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		config, log, err := load(cmd)
		if err != nil {
			return err
		}
		linked := serve.Application{Handler: app.handle, Database: database}
		return serve.Run(cmd.Context(), config, linked, log, drive.Options{Lease: lease}, func(d *serve.Daemon) error {
			return json.NewEncoder(os.Stdout).Encode(map[string]string{"door": d.Door, "operations": d.Operations})
		})
	}}
	cmd.Flags().DurationVar(&lease, "lease", 0, "how long another process leaves alone what this one has claimed (default 1m)")
	cmd.Flags().StringVar(&app.defects.twice, "log-twice", "", "a record whose application is written into the log twice: a defect, planted for the demo to find")
	cmd.Flags().StringVar(&app.defects.late, "apply-late", "", "a record whose first input is applied behind its second: a defect, planted for the demo to find")
	return cmd
}
