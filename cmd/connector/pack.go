package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"connectorcore/engine/pack"
	"connectorcore/engine/pack/form"
	"connectorcore/engine/serve"

	"github.com/cockroachdb/errors"
	"github.com/spf13/cobra"
)

func (p *program) packs() *cobra.Command {
	return group("pack", "Check, compare and install packs", p.packValidate(), p.packTest(), p.packDiff(), p.packDigest(), p.packInstall())
}

// complaints are several things that are wrong. Each is a line of its own that begins with its place, so that an editor
// finds it.
type complaints []string

func (c complaints) Error() string { return strings.Join(c, "\n") }

// onFolders is a command whose arguments are the folders of packs.
func onFolders(use, short, example string, do func(cmd *cobra.Command, folders []string) error) *cobra.Command {
	want := strings.Fields(use)[1:]
	cmd := leaf(use, short, example, nil)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) != len(want) {
			return usage(cmd, "%s takes %d arguments, %s, and was given %d", cmd.CommandPath(), len(want), strings.Join(want, " and "), len(args))
		}
		for i, arg := range args {
			if about, err := os.Stat(arg); err != nil || !about.IsDir() {
				return usage(cmd, "%s is no folder that can be read%s", want[i], named(arg))
			}
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return do(cmd, args) }
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return cmd
}

// named repeats a path, unless it may be a DSN that lost its flag.
func named(folder string) string {
	if folder == "" || strings.Contains(folder, "@") {
		return ""
	}
	return ": " + folder
}

// compiled is the pack of a folder, or a line for each of its faults.
func compiled(folder string) (*pack.Pack, error) {
	made, err := pack.Compile(os.DirFS(folder))
	return made, placed(folder, err)
}

// placed names the faults of a pack by paths that lead to them from here.
func placed(folder string, err error) error {
	var faults form.Faults
	if !errors.As(err, &faults) {
		return err
	}
	var lines complaints
	for _, f := range faults {
		f.At.File = path.Join(filepath.ToSlash(folder), f.At.File)
		lines = append(lines, f.String())
	}
	return lines
}

// validated says what a pack without a fault is.
type validated struct {
	Pack        string `json:"pack"`
	Title       string `json:"title"`
	Definitions int    `json:"definitions"`
}

func (p *program) packValidate() *cobra.Command {
	return onFolders("validate DIR", "Find every fault of a pack", "connector pack validate packs/shop",
		func(_ *cobra.Command, folders []string) error {
			made, err := compiled(folders[0])
			if err != nil {
				return err
			}
			row := validated{made.Head().Name.String(), made.Head().Title, len(made.Definitions())}
			return emitOne(p, row, func(v validated) string {
				return fmt.Sprintf("pack %s has no fault; it has %d definitions", v.Pack, v.Definitions)
			})
		})
}

// tested is what became of a pack's samples.
type tested struct {
	Samples     int      `json:"samples"`
	Components  int      `json:"components"`
	Inputs      int      `json:"inputs"`
	Differences []string `json:"differences"`
	Refutations []string `json:"refutations"`
	Untried     []string `json:"untried"` // routes whose proof of order no two samples try
	Rewritten   []string `json:"rewritten"`
}

func (p *program) packTest() *cobra.Command {
	var rewrite bool
	cmd := onFolders("test DIR", "Compare what a pack makes of its samples with its golden files, and try its proofs of order", "connector pack test packs/shop --rewrite",
		func(_ *cobra.Command, folders []string) error {
			report, err := pack.Test(os.DirFS(folders[0]))
			if err != nil {
				return placed(folders[0], err)
			}
			row := tested{report.Samples, report.Components, report.Inputs, some(report.Differences), some(report.Refutations), some(report.WithoutProof), []string{}}
			if rewrite {
				row.Differences = []string{}
				if row.Rewritten, err = rewriteGoldens(folders[0], report.Goldens); err != nil {
					return err
				}
			}
			wrong := failings(folders[0], row.Differences, row.Refutations)
			if p.output != "text" || wrong == nil {
				if err := emitOne(p, row, testedText); err != nil {
					return err
				}
			}
			for _, route := range row.Untried {
				p.say("no two samples try the proof of order of the route %s", route)
			}
			if wrong != nil {
				return wrong
			}
			return nil
		})
	cmd.Flags().BoolVar(&rewrite, "rewrite", false, "write the golden files that differ again; read them before they are kept")
	return cmd
}

// failings names what is wrong with a pack's samples, each golden file by a path that leads to it from here.
func failings(folder string, differences, refutations []string) (wrong complaints) {
	for _, difference := range differences {
		wrong = append(wrong, path.Join(filepath.ToSlash(folder), difference))
	}
	return append(wrong, refutations...)
}

func testedText(t tested) string {
	text := fmt.Sprintf("%d samples gave %d components and %d inputs, as their golden files say", t.Samples, t.Components, t.Inputs)
	for _, file := range t.Rewritten {
		text += "\nwritten again: " + file
	}
	return text
}

// some is a list that is printed as [] and not as null.
func some(list []string) []string { return append([]string{}, list...) }

// rewriteGoldens writes the golden files whose text is another, and names them.
func rewriteGoldens(folder string, texts map[string]string) ([]string, error) {
	written := []string{}
	for _, file := range slices.Sorted(maps.Keys(texts)) {
		place := filepath.Join(folder, filepath.FromSlash(file))
		if before, err := os.ReadFile(place); err == nil && string(before) == texts[file] {
			continue
		}
		if err := os.WriteFile(place, []byte(texts[file]), 0o644); err != nil {
			return nil, errors.Wrap(err, "a golden file cannot be written")
		}
		written = append(written, path.Join(filepath.ToSlash(folder), file))
	}
	return written, nil
}

// change is one difference between two packs.
type change struct {
	Kind       string `json:"kind"` // of the definition; "pack" for what the pack says of itself
	Definition string `json:"definition"`
	What       string `json:"what"`
	From       string `json:"from"`
	To         string `json:"to"`
	text       string
}

func (p *program) packDiff() *cobra.Command {
	return onFolders("diff OLD NEW", "Print which frozen bytes differ between two packs", "connector pack diff packs/shop ../next/packs/shop",
		func(_ *cobra.Command, folders []string) error {
			from, err := compiled(folders[0])
			if err != nil {
				return err
			}
			to, err := compiled(folders[1])
			if err != nil {
				return err
			}
			changes, err := pack.Diff(from, to)
			if err != nil {
				return err
			}
			var rows []change
			for _, c := range changes {
				row := change{"pack", "", c.What, c.From, c.To, c.String()}
				if c.Definition.Kind != 0 {
					row.Kind, row.Definition = c.Definition.Kind.String(), c.Definition.ID.String()
				}
				rows = append(rows, row)
			}
			if len(rows) > 0 {
				p.say("%d differences; they take effect with a successor epoch", len(rows))
			}
			return emitAll(p, rows, func(c change) string { return oneLine(c.text) })
		})
}

// digested is the identity of a pack's bytes.
type digested struct {
	Pack        string       `json:"pack"`
	Generation  string       `json:"generation"`
	Digest      string       `json:"digest"`
	Definitions []definition `json:"definitions"`
}

type definition struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

func digestsOf(made *pack.Pack) digested {
	row := digested{made.Head().Name.String(), made.Generation().String(), made.Digest().String(), nil}
	for _, d := range made.Definitions() {
		row.Definitions = append(row.Definitions, definition{d.Kind.String(), d.ID.String(), d.Version.String(), d.Digest.String()})
	}
	return row
}

func digestText(d digested) string {
	text := fmt.Sprintf("pack %s\t%s\ngeneration\t%s", d.Pack, d.Digest, d.Generation)
	for _, one := range d.Definitions {
		text += fmt.Sprintf("\n%s %s %s\t%s", one.Kind, one.Name, one.Version, one.Digest)
	}
	return text
}

func (p *program) packDigest() *cobra.Command {
	return onFolders("digest DIR", "Print the digests of a pack and its generation: the same for the same folder on every machine", "connector pack digest packs/shop --output json",
		func(_ *cobra.Command, folders []string) error {
			made, err := compiled(folders[0])
			if err != nil {
				return err
			}
			return emitOne(p, digestsOf(made), digestText)
		})
}

// proved refuses a pack whose samples do not give what their golden files say, or refute a proof of order. A pack
// without samples proves nothing, and is not asked to.
func proved(folder string) error {
	if entries, err := os.ReadDir(filepath.Join(folder, "samples")); err != nil || len(entries) == 0 {
		return nil
	}
	report, err := pack.Test(os.DirFS(folder))
	if err != nil {
		return placed(folder, err)
	}
	if !report.Failed() {
		return nil
	}
	return append(failings(folder, report.Differences, report.Refutations), "nothing is installed: a pack is installed when its samples give what their golden files say; see 'connector pack test'")
}

// installed says what an installation has done.
type installed struct {
	digested
	Deployment string `json:"deployment"`
	Written    bool   `json:"written"` // false: this generation was installed before, and nothing has changed
}

func (p *program) packInstall() *cobra.Command {
	return onFolders("install DIR", "Publish a pack to the owners of this deployment, as one immutable generation", "connector pack install packs/shop --store-dsn-file daemon.dsn",
		func(cmd *cobra.Command, folders []string) (err error) {
			config, log, err := p.load(cmd)
			if err != nil {
				return err
			}
			made, err := compiled(folders[0])
			if err != nil {
				return err
			}
			if err := proved(folders[0]); err != nil {
				return err
			}
			store, err := serve.OpenStore(cmd.Context(), config.Store, log)
			if err != nil {
				return err
			}
			defer func() { err = errors.CombineErrors(err, store.Close()) }()
			done, err := store.InstallPack(cmd.Context(), made)
			if err != nil {
				return err
			}
			if done.Written {
				at, err := store.Owners(cmd.Context())
				if err != nil {
					return err
				}
				p.published(cmd.Context(), at, fmt.Sprintf("pack %s is installed", made.Head().Name), fmt.Sprintf("'connector catalog authorise %s'", made.Head().Name))
			} else {
				p.say("pack %s was installed before as this generation; nothing has changed", made.Head().Name)
			}
			row := installed{digestsOf(made), done.Deployment.String(), done.Written}
			return emitOne(p, row, func(i installed) string { return digestText(i.digested) })
		})
}
