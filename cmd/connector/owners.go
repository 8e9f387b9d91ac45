package main

import (
	"context"
	"fmt"
	"strings"

	"connectorcore/engine/platform"
	"connectorcore/engine/serve"
	"connectorcore/facts"

	"github.com/cockroachdb/errors"
	"github.com/spf13/cobra"
)

// withOwners runs what a command does at the owners of the deployment.
func (p *program) withOwners(cmd *cobra.Command, do func(config *platform.Config, at *platform.Owners) error) error {
	return p.withStore(cmd, func(config *platform.Config, _ *serve.Store, at *platform.Owners) error { return do(config, at) })
}

// withStore is withOwners for a command that also needs the store that they stand in.
func (p *program) withStore(cmd *cobra.Command, do func(config *platform.Config, store *serve.Store, at *platform.Owners) error) (err error) {
	config, log, err := p.load(cmd)
	if err != nil {
		return err
	}
	store, err := serve.OpenStore(cmd.Context(), config.Store, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, store.Close()) }()
	at, err := store.Owners(cmd.Context())
	if err != nil {
		return err
	}
	return do(config, store, at)
}

// published says that something was, and what that means: it changes nothing that serves now (R44). Without an epoch it
// says what comes next.
func (p *program) published(ctx context.Context, at *platform.Owners, what, next string) {
	epoch, active, err := at.Active(ctx)
	switch {
	case err != nil: // what was published stands all the same
		p.say("%s; it takes effect with a successor epoch, and whether one is active could not be read: %v", what, err)
	case active:
		p.say("%s; it takes effect with a successor epoch: epoch %s is active and serves on as it was frozen", what, epoch)
	default:
		p.say("%s; no epoch is active. Next: %s", what, next)
	}
}

// taking is a command with exactly these arguments.
func taking(cmd *cobra.Command, do func(cmd *cobra.Command, args []string) error) *cobra.Command {
	want := strings.Fields(cmd.Use)[1:]
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) != len(want) {
			return usage(cmd, "%s takes %d arguments, %s, and was given %d", cmd.CommandPath(), len(want), strings.Join(want, " and "), len(args))
		}
		return nil
	}
	cmd.RunE = do
	return cmd
}

// required refuses a command line that lacks a flag.
func required(cmd *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if flag := cmd.Flags().Lookup(name); flag == nil || !flag.Changed || flag.Value.String() == "" {
			return usage(cmd, "--%s is required", name)
		}
	}
	return nil
}

// keyFlag reads a flag into a typed key or id, without repeating what was typed.
func keyFlag(cmd *cobra.Command, name, text string, into interface{ UnmarshalText([]byte) error }) error {
	if err := into.UnmarshalText([]byte(text)); err != nil {
		return usage(cmd, "--%s is not %s", name, flagForm(into))
	}
	return nil
}

func flagForm(into any) string {
	if _, id := into.(*facts.AccountID); id {
		return "an id: want 36 characters in lower case"
	}
	return fmt.Sprintf("1 to %d bytes of plain text without a blank at an edge", facts.KeyMaxBytes)
}
