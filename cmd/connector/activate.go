package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"connectorcore/engine/activate"
	"connectorcore/engine/platform"
	"connectorcore/engine/serve"
	"connectorcore/engine/witness"
	"connectorcore/facts"

	"github.com/cockroachdb/errors"
	"github.com/spf13/cobra"
)

// epochs is where a deployment stands on its way to serving.
type epochs struct {
	Stands  string   `json:"stands"`
	Next    string   `json:"next"`
	Epochs  []epoch  `json:"epochs"` // those that may serve, or do
	Gates   []gates  `json:"gates"`
	Attempt *attempt `json:"attempt"` // the one that holds the owners' barriers
}

type epoch struct {
	Epoch         string `json:"epoch"`
	Digest        string `json:"digest"`
	State         string `json:"state"`
	Configuration string `json:"configuration"`
	View          uint64 `json:"view"` // the Catalog's revision
	Accounts      uint64 `json:"accounts"`
}

type gates struct {
	State    string `json:"state"`
	Accounts uint64 `json:"accounts"`
}

type attempt struct {
	Attempt    string `json:"attempt"`
	BarrierSet string `json:"barrier_set"`
	State      string `json:"state"`
	Holder     uint64 `json:"holder_fence"`
}

func epochsOf(ctx context.Context, c *activate.Coordinator) (epochs, error) {
	stands, err := c.Stands(ctx)
	if err != nil {
		return epochs{}, err
	}
	row := epochs{Epochs: []epoch{}, Gates: []gates{}}
	row.Stands, row.Next = stands.Says()
	for _, e := range stands.Epochs {
		row.Epochs = append(row.Epochs, epoch{e.Epoch.ID.String(), e.Epoch.Digest.String(), e.State.String(), e.Frozen.Configuration.Generation.String(), e.Frozen.Catalog.Revision.Number, e.Fact.ShareCount})
	}
	for _, state := range slices.Sorted(maps.Keys(stands.Gates)) {
		row.Gates = append(row.Gates, gates{state.String(), stands.Gates[state]})
	}
	if open := stands.Open; open != nil {
		row.Attempt = &attempt{open.Attempt.String(), open.ID.String(), open.State.String(), uint64(open.Holder)}
	}
	return row, nil
}

func epochsText(e epochs) string {
	lines := []string{"stands\t" + e.Stands, "next\t" + e.Next}
	for _, one := range e.Epochs {
		lines = append(lines, fmt.Sprintf("epoch %s\t%s, %d accounts, view %d, %s", one.Epoch, one.State, one.Accounts, one.View, one.Configuration))
	}
	for _, one := range e.Gates {
		lines = append(lines, fmt.Sprintf("gates %s\t%d", one.State, one.Accounts))
	}
	if e.Attempt != nil {
		lines = append(lines, fmt.Sprintf("attempt %s\tbarrier set %s, %s, holder fence %d", e.Attempt.Attempt, e.Attempt.BarrierSet, e.Attempt.State, e.Attempt.Holder))
	}
	return strings.Join(lines, "\n")
}

// coordinated opens the store and gives its coordinator to a command.
func (p *program) coordinated(cmd *cobra.Command, by platform.Authority, do func(*activate.Coordinator, *platform.Owners) error) (err error) {
	config, log, err := p.load(cmd)
	if err != nil {
		return err
	}
	store, err := serve.OpenStore(cmd.Context(), config.Store, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, store.Close()) }()
	c, at, err := store.Coordinator(cmd.Context(), witness.File{Path: config.Store.Witness}, by, func(sentence string) { p.say("%s", sentence) })
	if err != nil {
		return err
	}
	return do(c, at)
}

func (p *program) epochShow() *cobra.Command {
	return leaf("show", "Show the epochs, where the accounts' gates stand, and an attempt that is open", "connector epoch show --output json",
		func(cmd *cobra.Command) error {
			return p.coordinated(cmd, platform.Authority{}, func(c *activate.Coordinator, _ *platform.Owners) error {
				row, err := epochsOf(cmd.Context(), c)
				if err != nil {
					return err
				}
				return emitOne(p, row, epochsText)
			})
		})
}

func (p *program) activate() *cobra.Command {
	var principal, reason string
	var abort bool
	cmd := leaf("activate", "Prepare, verify and activate the first epoch of a conformance deployment, or go on with it",
		"connector activate --principal maria --reason 'a new installation'",
		func(cmd *cobra.Command) error {
			by, err := authority(cmd, principal, reason, abort)
			if err != nil {
				return err
			}
			return p.coordinated(cmd, by, func(c *activate.Coordinator, at *platform.Owners) error {
				act := p.advance
				if abort {
					act = p.abort
				}
				if err := act(cmd.Context(), c, at); err != nil {
					return err
				}
				row, err := epochsOf(cmd.Context(), c)
				if err != nil {
					return err
				}
				return emitOne(p, row, epochsText)
			})
		})
	flags := cmd.Flags()
	flags.StringVar(&principal, "principal", "", "who attests that this deployment has no predecessor; it is kept for ever")
	flags.StringVar(&reason, "reason", "a first activation", "why, as one line; it is kept for ever")
	flags.BoolVar(&abort, "abort", false, "give up the attempt that is open, and let the owners publish again")
	return cmd
}

func authority(cmd *cobra.Command, principal, reason string, abort bool) (by platform.Authority, err error) {
	if abort && principal == "" {
		return by, nil // it attests nothing
	}
	if by.Principal, err = facts.ParseKey[facts.OwnerName](principal); err != nil {
		return by, usage(cmd, "--principal must name who attests that there is no predecessor, in 1 to %d bytes of plain text", facts.KeyMaxBytes)
	}
	if by.Reason, err = facts.ParseKey[facts.OwnerName](reason); err != nil {
		return by, usage(cmd, "--reason must be one line of 1 to %d bytes of plain text", facts.KeyMaxBytes)
	}
	return by, nil
}

func (p *program) advance(ctx context.Context, c *activate.Coordinator, at *platform.Owners) error {
	revision, configuration, err := at.Current(ctx)
	if err != nil {
		return err
	}
	judged, err := c.Advance(ctx, activate.Wanted{Configuration: configuration, Least: revision})
	if err == nil && judged.Cause != nil {
		return judged.Cause
	}
	return err
}

func (p *program) abort(ctx context.Context, c *activate.Coordinator, _ *platform.Owners) error {
	ending, err := c.Abort(ctx)
	if err != nil {
		return err
	}
	switch ending {
	case activate.Finished:
		p.say("the activation was committed already, which nothing takes back: it was read back instead, and the deployment serves")
	case activate.GivenUp:
		p.say("the attempt is given up; the owners may publish again")
	default:
		p.say("no attempt is open")
	}
	return nil
}
