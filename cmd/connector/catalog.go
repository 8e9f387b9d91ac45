package main

import (
	"fmt"
	"slices"
	"strings"

	"connectorcore/engine/platform"
	"connectorcore/facts"
	"connectorcore/readers/owners"

	"github.com/spf13/cobra"
)

func (p *program) catalog() *cobra.Command {
	return group("catalog", "Authorise the bindings of installed packs", p.catalogAuthorise(), p.catalogShow())
}

// view is the Catalog's current view.
type view struct {
	Lineage  string    `json:"lineage"`
	Revision uint64    `json:"revision"`
	Source   string    `json:"source_snapshot"` // of the pack generations that it was made of
	Bindings []binding `json:"bindings"`
}

type binding struct {
	Kind        string      `json:"kind"`
	Pack        string      `json:"pack"`
	Name        string      `json:"name"`
	Version     string      `json:"version"`
	Credentials []reference `json:"credentials"`
}

// reference is a credential that a binding needs.
type reference struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
}

func viewOf(v owners.View) (view, error) {
	row := view{v.Revision.Lineage.String(), v.Revision.Number, v.SourceSnapshot.String(), []binding{}}
	for _, b := range v.Bindings {
		refs, err := owners.DecodeRefs(b.CredentialRefs)
		if err != nil {
			return row, err
		}
		one := binding{b.Kind.String(), b.OwnerPack.String(), b.BusinessKey.String(), b.Version.String(), []reference{}}
		for _, ref := range refs {
			one.Credentials = append(one.Credentials, reference{ref.Name.String(), ref.Provider.String()})
		}
		row.Bindings = append(row.Bindings, one)
	}
	return row, nil
}

func viewText(v view) string {
	text := fmt.Sprintf("revision\t%d", v.Revision)
	for _, b := range v.Bindings {
		var needs []string
		for _, ref := range b.Credentials {
			needs = append(needs, ref.Name+" at "+ref.Provider)
		}
		text += strings.Join([]string{"\n" + b.Kind, b.Pack, b.Name, b.Version, orDash(strings.Join(needs, ", "))}, "\t")
	}
	return text
}

func (p *program) catalogShow() *cobra.Command {
	return leaf("show", "Print the current view: every authorised binding with the credentials that it needs", "connector catalog show --output json",
		func(cmd *cobra.Command) error {
			return p.withOwners(cmd, func(_ *platform.Config, at *platform.Owners) error { return p.showView(cmd, at) })
		})
}

func (p *program) showView(cmd *cobra.Command, at *platform.Owners) error {
	v, err := at.View(cmd.Context())
	switch {
	case err != nil:
		return err
	case v.Revision.Number == 0:
		return facts.Refuse(facts.SubjectMissing, facts.OfInput("catalog view"), "nothing was authorised yet: run 'connector catalog authorise'")
	}
	row, err := viewOf(v)
	if err != nil {
		return err
	}
	return emitOne(p, row, viewText)
}

func (p *program) catalogAuthorise() *cobra.Command {
	cmd := leaf("authorise PACK...", "Make exactly the bindings of these installed packs the current view", "connector catalog authorise shop", nil)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage(cmd, "%s takes the packs that shall be authorised, all of them, each by its name or its generation", cmd.CommandPath())
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.withOwners(cmd, func(_ *platform.Config, at *platform.Owners) error {
			installed, err := at.Packs(cmd.Context())
			if err != nil {
				return err
			}
			var wanted []facts.PackGenerationID
			for _, arg := range args {
				generation, err := generationOf(cmd, installed, arg)
				if err != nil {
					return err
				}
				if slices.Contains(wanted, generation) {
					return usage(cmd, "a pack generation is named twice: %s", generation)
				}
				wanted = append(wanted, generation)
			}
			before, err := at.View(cmd.Context())
			if err != nil {
				return err
			}
			revision, err := at.Authorise(cmd.Context(), wanted)
			if err != nil {
				return err
			}
			if revision == before.Revision {
				p.say("the view authorises exactly that already, as revision %d; nothing has changed", revision.Number)
			} else {
				p.published(cmd.Context(), at, fmt.Sprintf("revision %d of the view authorises %d packs, and no others", revision.Number, len(wanted)),
					"'connector tenant template' prints what the tenant has to decide")
			}
			return p.showView(cmd, at)
		})
	}
	return cmd
}

// generationOf finds what an argument names among the installed packs.
func generationOf(cmd *cobra.Command, installed []owners.Manifest, arg string) (facts.PackGenerationID, error) {
	var matches []facts.PackGenerationID
	var names, generations []string
	for _, m := range installed {
		if m.Generation.String() == arg {
			return m.Generation, nil
		}
		if m.Pack.String() == arg {
			matches = append(matches, m.Generation)
			generations = append(generations, m.Generation.String())
		}
		names = append(names, m.Pack.String())
	}
	switch len(matches) {
	case 1:
		return matches[0], nil
	case 0:
		known := "none is installed yet: run 'connector pack install DIR'"
		if len(names) > 0 {
			known = "no installed pack has this name or generation; installed are: " + strings.Join(slices.Compact(names), ", ")
		}
		return facts.PackGenerationID{}, facts.Refuse(facts.SubjectMissing, facts.OfInput("pack"+named(arg)), "%s", known)
	}
	return facts.PackGenerationID{}, usage(cmd, "pack %s is installed in %d generations: name one of %s", arg, len(matches), strings.Join(generations, ", "))
}
