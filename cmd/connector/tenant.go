package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"connectorcore/engine/pack/form"
	"connectorcore/engine/platform"
	"connectorcore/engine/tenant"
	"connectorcore/facts"
	"connectorcore/readers/owners"

	"github.com/cockroachdb/errors"
	"github.com/spf13/cobra"
)

func (p *program) tenant() *cobra.Command {
	return group("tenant", "Say what the tenant decides: accounts, what is enabled in them, their credentials",
		p.tenantTemplate(), p.tenantValidate(), p.tenantPublish(), p.tenantShow())
}

// tenantRow is a configuration as it is printed. What a template leaves open is absent.
type tenantRow struct {
	Generation string       `json:"generation,omitempty"`
	Accounts   []accountRow `json:"accounts"`
	Policies   []settingRow `json:"policies,omitempty"`
	Limits     limitsRow    `json:"limits"`
}

type limitsRow = owners.Limits

type accountRow struct {
	ID           string          `json:"id"`
	Provider     string          `json:"provider"`
	Organization string          `json:"organization,omitempty"`
	Routes       []routeRow      `json:"routes,omitempty"`
	Mappings     []mappingRow    `json:"mappings,omitempty"`
	Policies     []settingRow    `json:"policies,omitempty"`
	Credentials  []credentialRef `json:"credentials,omitempty"`
}

type routeRow struct {
	Pack    string `json:"pack"`
	Route   string `json:"route"`
	Version string `json:"version"`
}

type mappingRow struct {
	Pack     string `json:"pack"`
	Mapping  string `json:"mapping"`
	Version  string `json:"version"`
	Override string `json:"override,omitempty"`
}

type settingRow struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type credentialRef struct {
	Name       string `json:"name"`
	Provider   string `json:"provider"`
	Generation string `json:"generation"` // "current" in a template
}

func tenantRowOf(generation string, c owners.Configuration) tenantRow {
	row := tenantRow{Generation: generation, Accounts: []accountRow{}, Policies: settingRows(c.Policies), Limits: c.Limits}
	for _, a := range c.Accounts {
		one := accountRow{ID: a.Account.String(), Provider: a.Provider.String(), Organization: a.Organization.String(), Policies: settingRows(a.Policies)}
		for _, r := range a.Routes {
			one.Routes = append(one.Routes, routeRow{r.Pack.String(), r.Route.String(), r.Version.String()})
		}
		for _, m := range a.Mappings {
			one.Mappings = append(one.Mappings, mappingRow{m.Pack.String(), m.Mapping.String(), m.Version.String(), string(m.Override)})
		}
		for _, m := range a.Credentials {
			ref := credentialRef{m.Ref.Name.String(), m.Ref.Provider.String(), "current"}
			if !m.Generation.IsZero() {
				ref.Generation = m.Generation.String()
			}
			one.Credentials = append(one.Credentials, ref)
		}
		row.Accounts = append(row.Accounts, one)
	}
	return row
}

func settingRows(settings []owners.Setting) (rows []settingRow) {
	for _, s := range settings {
		rows = append(rows, settingRow{s.Name.String(), s.Value})
	}
	return rows
}

// emitTenant prints a configuration as a file that can be published.
func (p *program) emitTenant(generation string, c owners.Configuration) error {
	text, err := tenant.Text(c)
	if err != nil {
		return err
	}
	if p.output != "text" {
		return emitOne(p, tenantRowOf(generation, c), func(tenantRow) string { return "" })
	}
	if generation != "" {
		text = "# " + generation + "\n" + text
	}
	_, err = io.WriteString(p.out, text) // not aligned: it is a file
	return errors.Wrap(err, "standard output")
}

func (p *program) tenantTemplate() *cobra.Command {
	return leaf("template", "Print a file to begin with: an account with a fresh id for each authorised pack", "connector tenant template",
		func(cmd *cobra.Command) error {
			return p.withOwners(cmd, func(_ *platform.Config, at *platform.Owners) error {
				v, err := at.View(cmd.Context())
				if err != nil {
					return err
				}
				if len(v.Bindings) == 0 {
					return facts.Refuse(facts.SubjectMissing, facts.OfInput("catalog view"), "it authorises nothing: run 'connector catalog authorise' first")
				}
				c, err := tenant.Template(v)
				if err != nil {
					return err
				}
				return p.emitTenant("", c)
			})
		})
}

func (p *program) tenantShow() *cobra.Command {
	return leaf("show", "Print the tenant's current configuration as a file that can be published again", "connector tenant show",
		func(cmd *cobra.Command) error {
			return p.withOwners(cmd, func(_ *platform.Config, at *platform.Owners) error {
				generation, c, err := at.Configuration(cmd.Context())
				if err != nil {
					return err
				}
				if generation.IsZero() {
					return facts.Refuse(facts.SubjectMissing, facts.OfInput("tenant's configuration"), "none was published yet: 'connector tenant template' prints one to begin with")
				}
				return p.emitTenant(generation.String(), c)
			})
		})
}

// tenantMax is what is read of a tenant's file, a little more than it may have.
const tenantMax = 17 << 20

// readTenant reads the file, or standard input for "-".
func readTenant(cmd *cobra.Command, path string) (*tenant.File, error) {
	name, from := path, io.Reader(os.Stdin)
	if path == "-" {
		name = "standard input"
	} else {
		file, err := os.Open(path)
		if err != nil {
			return nil, usage(cmd, "FILE is no file that can be read%s", named(path))
		}
		defer file.Close()
		from = file
	}
	raw, err := io.ReadAll(io.LimitReader(from, tenantMax))
	if err != nil {
		return nil, usage(cmd, "FILE is no file that can be read%s", named(path))
	}
	file, err := tenant.Read(filepath.ToSlash(name), raw)
	return file, lined(err)
}

// lined gives each fault a line of its own.
func lined(err error) error {
	var faults form.Faults
	if !errors.As(err, &faults) {
		return err
	}
	var lines complaints
	for _, f := range faults {
		lines = append(lines, f.String())
	}
	return lines
}

// onTenant is a command on a tenant's file that was read, and held against the owners.
func (p *program) onTenant(cmd *cobra.Command, do func(cmd *cobra.Command, at *platform.Owners, c owners.Configuration) error) *cobra.Command {
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return taking(cmd, func(cmd *cobra.Command, args []string) error {
		file, err := readTenant(cmd, args[0])
		if err != nil {
			return err
		}
		return p.withOwners(cmd, func(_ *platform.Config, at *platform.Owners) error {
			c, err := file.Resolve(cmd.Context(), at)
			if err != nil {
				return lined(err)
			}
			return do(cmd, at, c)
		})
	})
}

func (p *program) tenantValidate() *cobra.Command {
	return p.onTenant(leaf("validate FILE", "Find every fault of a tenant's file, and write nothing", "connector tenant validate tenant.yaml", nil),
		func(_ *cobra.Command, _ *platform.Owners, c owners.Configuration) error {
			p.say("the file has no fault; it has %d accounts, and every reference leads somewhere", len(c.Accounts))
			return nil
		})
}

// tenantPublished says what was published.
type tenantPublished struct {
	Generation string `json:"generation"`
	Accounts   int    `json:"accounts"`
	Written    bool   `json:"written"` // false: it was current before
}

func (p *program) tenantPublish() *cobra.Command {
	return p.onTenant(leaf("publish FILE", "Make a tenant's file the current configuration", "connector tenant publish tenant.yaml", nil),
		func(cmd *cobra.Command, at *platform.Owners, c owners.Configuration) error {
			before, _, err := at.Configuration(cmd.Context())
			if err != nil {
				return err
			}
			generation, err := at.PublishConfiguration(cmd.Context(), c)
			if err != nil {
				return err
			}
			row := tenantPublished{generation.String(), len(c.Accounts), generation != before}
			if row.Written {
				p.published(cmd.Context(), at, fmt.Sprintf("the configuration of %d accounts is published", row.Accounts), "'connector activate --principal NAME'")
			} else {
				p.say("this configuration is the current one already; nothing has changed")
			}
			return emitOne(p, row, func(t tenantPublished) string { return t.Generation })
		})
}
