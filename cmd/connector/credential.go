package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"connectorcore/engine/platform"
	"connectorcore/engine/serve"
	"connectorcore/engine/tenant"
	"connectorcore/engine/witness"
	"connectorcore/facts"
	"connectorcore/ledger"
	"connectorcore/readers/owners"

	"github.com/spf13/cobra"
)

func (p *program) credential() *cobra.Command {
	return group("credential", "Seal secrets; publish, rotate and revoke the generations that refer to them",
		p.credentialSeal(), p.credentialPublish(), p.credentialRotate(), p.credentialList(), p.credentialRevoke(), p.credentialReenable())
}

// credentialFlags are what a generation is made of.
type credentialFlags struct {
	account, provider, identity, backend, version string
	transport                                     []string
}

func (f *credentialFlags) add(cmd *cobra.Command) *cobra.Command {
	flags := cmd.Flags()
	flags.StringVar(&f.account, "account", "", "the id of the account, as in the tenant's file")
	flags.StringVar(&f.provider, "provider", "", "the provider of the reference, as 'catalog show' prints it")
	flags.StringVar(&f.identity, "identity", "", "the name of the reference, as 'catalog show' prints it")
	flags.StringVar(&f.backend, "backend", "", "where the secrets are: file, env or vault")
	flags.StringVar(&f.version, "version", "", "the immutable version of the secrets at the backend")
	flags.StringArrayVar(&f.transport, "transport", nil, "NAME=VALUE that a call needs and that is no secret; may be given again")
	return cmd
}

// generation reads the flags. It has no id yet.
func (f *credentialFlags) generation(cmd *cobra.Command) (c owners.CredentialGeneration, err error) {
	if err := required(cmd, "account", "provider", "identity", "backend", "version"); err != nil {
		return c, err
	}
	for _, one := range []struct {
		name, text string
		into       interface{ UnmarshalText([]byte) error }
	}{
		{"account", f.account, &c.Account}, {"provider", f.provider, &c.Provider}, {"identity", f.identity, &c.Identity},
		{"backend", f.backend, &c.Backend}, {"version", f.version, &c.Version},
	} {
		if err := keyFlag(cmd, one.name, one.text, one.into); err != nil {
			return c, err
		}
	}
	for _, text := range f.transport {
		name, value, cut := strings.Cut(text, "=")
		key, err := facts.ParseKey[facts.DefinitionID](name)
		if err != nil || !cut {
			return c, usage(cmd, "--transport must be NAME=VALUE")
		}
		if slices.ContainsFunc(c.Transport, func(s owners.Setting) bool { return s.Name == key }) {
			return c, usage(cmd, "--transport gives one name twice")
		}
		c.Transport = append(c.Transport, owners.Setting{Name: key, Value: value})
	}
	return c, nil
}

func (p *program) credentialPublish() *cobra.Command {
	return p.credentialBrought("publish", "Publish the first generation of a credential of an account", false)
}

func (p *program) credentialRotate() *cobra.Command {
	return p.credentialBrought("rotate", "Publish the generation that follows the current one of a credential", true)
}

// brought is a credential generation that was published.
type brought struct {
	Generation string `json:"generation"`
	Identity   string `json:"identity"`
	Provider   string `json:"provider"`
	Account    string `json:"account"`
}

func (p *program) credentialBrought(name, short string, rotate bool) *cobra.Command {
	var f credentialFlags
	example := "connector credential " + name + " --account 0b9ad3a2-6f3c-4b7e-8c51-6d1f5c8a90e2 --provider shop --identity inbound/orders --backend env --version SHOP_1"
	return f.add(leaf(name, short, example, func(cmd *cobra.Command) error {
		c, err := f.generation(cmd)
		if err != nil {
			return err
		}
		return p.withOwners(cmd, func(config *platform.Config, at *platform.Owners) error {
			secrets, err := serve.OpenSecrets(config.Secrets)
			if err != nil {
				return err
			}
			id, err := tenant.PublishCredential(cmd.Context(), at, secrets, c, rotate)
			if err != nil {
				return err
			}
			p.published(cmd.Context(), at, fmt.Sprintf("generation %s of credential %s at %s is current", id, c.Identity, c.Provider),
				"map it in the tenant's file, and 'connector tenant publish FILE'")
			return emitOne(p, brought{id.String(), c.Identity.String(), c.Provider.String(), c.Account.String()}, func(b brought) string { return b.Generation })
		})
	}))
}

// listed is a credential generation as it stands.
type listed struct {
	Generation string `json:"generation"`
	Account    string `json:"account"` // this and what identifies it is empty once its reading was ended
	Provider   string `json:"provider"`
	Identity   string `json:"identity"`
	Backend    string `json:"backend"`
	Version    string `json:"version"`
	State      string `json:"state"`
	Fence      uint64 `json:"fence"`
	Current    bool   `json:"current"`
}

func (p *program) credentialList() *cobra.Command {
	return leaf("list", "Print every credential generation with its gate, and whether it is current", "connector credential list --output jsonl",
		func(cmd *cobra.Command) error {
			return p.withOwners(cmd, func(_ *platform.Config, at *platform.Owners) error {
				all, err := at.ListCredentials(cmd.Context())
				if err != nil {
					return err
				}
				var rows []listed
				for _, l := range all {
					c := l.Generation
					row := listed{Generation: l.ID.String(), Provider: c.Provider.String(), Identity: c.Identity.String(), Backend: c.Backend.String(),
						Version: c.Version.String(), State: l.State.String(), Fence: uint64(l.Fence), Current: l.Current}
					if !c.Account.IsZero() {
						row.Account = c.Account.String()
					}
					rows = append(rows, row)
				}
				slices.SortStableFunc(rows, func(a, b listed) int {
					return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Identity, b.Identity), currentFirst(a, b))
				})
				return emitAll(p, rows, listedText)
			})
		})
}

func currentFirst(a, b listed) int {
	switch {
	case a.Current == b.Current:
		return 0
	case a.Current:
		return -1
	}
	return 1
}

func listedText(l listed) string {
	current := "-"
	if l.Current {
		current = "current"
	}
	return strings.Join([]string{l.Generation, orDash(l.Account), orDash(l.Provider), orDash(l.Identity), l.State, fmt.Sprintf("fence %d", l.Fence), current}, "\t")
}

// moved is the gate of a credential generation after it was moved.
type moved struct {
	Generation string `json:"generation"`
	State      string `json:"state"`
	Fence      uint64 `json:"fence"`
}

// moveFlags say who moves a gate and why.
type moveFlags struct {
	reason, principal string
	fence             uint64
}

// authority reads the flags.
func (f *moveFlags) authority(cmd *cobra.Command) (by platform.Authority, err error) {
	if err := required(cmd, "reason", "principal"); err != nil {
		return by, err
	}
	if err := keyFlag(cmd, "reason", f.reason, &by.Reason); err != nil {
		return by, err
	}
	return by, keyFlag(cmd, "principal", f.principal, &by.Principal)
}

func (p *program) credentialRevoke() *cobra.Command {
	var urgent bool
	cmd := p.credentialMoved("revoke", "Keep a credential generation from being used, from now on", "revoked",
		"no delivery is accepted and no call begins with it from now on; calls that were begun end as they end", func(cmd *cobra.Command, store *serve.Store, at *platform.Owners, id facts.CredentialGenerationID, fence facts.Fence, by platform.Authority) (facts.Fence, error) {
			if urgent {
				return p.revokeUrgently(cmd, store, ledger.CredentialMove{Scope: at.Scope(), Generation: id, Fence: fence, Principal: by.Principal, Reason: by.Reason})
			}
			return at.RevokeCredential(cmd.Context(), id, fence, by)
		})
	cmd.Flags().BoolVar(&urgent, "urgent", false, "end an activation attempt that holds the owners' barriers first: it is given up, or read back if it was committed")
	return cmd
}

// revokeUrgently ends an attempt that stands in the way. It makes the attempt's own coordinator stale.
func (p *program) revokeUrgently(cmd *cobra.Command, store *serve.Store, move ledger.CredentialMove) (facts.Fence, error) {
	by := platform.Authority{Principal: move.Principal, Reason: move.Reason}
	c, _, err := store.Coordinator(cmd.Context(), witness.File{}, by, func(sentence string) { p.say("%s", sentence) })
	if err != nil {
		return 0, err
	}
	verdicts, err := c.RevokeUrgently(cmd.Context(), []ledger.CredentialMove{move})
	switch {
	case len(verdicts) == 0:
		return 0, err
	case verdicts[0].Refusal != nil:
		return 0, verdicts[0].Refusal
	}
	return verdicts[0].Fence, err
}

func (p *program) credentialReenable() *cobra.Command {
	return p.credentialMoved("reenable", "Let a revoked credential generation be used again", "enabled",
		"what was abandoned while it was revoked stays abandoned", func(ctx *cobra.Command, _ *serve.Store, at *platform.Owners, id facts.CredentialGenerationID, fence facts.Fence, by platform.Authority) (facts.Fence, error) {
			return at.ReenableCredential(ctx.Context(), id, fence, by)
		})
}

func (p *program) credentialMoved(name, short, state, means string,
	move func(*cobra.Command, *serve.Store, *platform.Owners, facts.CredentialGenerationID, facts.Fence, platform.Authority) (facts.Fence, error)) *cobra.Command {
	var f moveFlags
	cmd := leaf(name+" GENERATION", short, "connector credential "+name+" 0b9ad3a2-6f3c-4b7e-8c51-6d1f5c8a90e2 --principal alice --reason 'ticket 1234'", nil)
	cmd.Flags().StringVar(&f.reason, "reason", "", "why, in one line; it is kept")
	cmd.Flags().StringVar(&f.principal, "principal", "", "who authorised it; it is kept")
	cmd.Flags().Uint64Var(&f.fence, "fence", 0, "the fence at which its gate must stand, from 'credential list' (default: where it stands)")
	return taking(cmd, func(cmd *cobra.Command, args []string) error {
		id, err := facts.ParseID[facts.CredentialGenerationID](args[0])
		if err != nil {
			return usage(cmd, "GENERATION is not the id of a credential generation: want 36 characters in lower case")
		}
		by, err := f.authority(cmd)
		if err != nil {
			return err
		}
		return p.withStore(cmd, func(_ *platform.Config, store *serve.Store, at *platform.Owners) error {
			fence := facts.Fence(f.fence)
			if !cmd.Flags().Changed("fence") {
				if fence, err = at.CredentialFence(cmd.Context(), id); err != nil {
					return err
				}
			}
			after, err := move(cmd, store, at, id, fence, by)
			if err != nil {
				return err
			}
			p.say("generation %s is %s: %s", id, state, means)
			return emitOne(p, moved{id.String(), state, uint64(after)}, func(m moved) string { return fmt.Sprintf("%s\t%s\tfence %d", m.Generation, m.State, m.Fence) })
		})
	})
}
