package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"connectorcore/engine/embedded"
	"connectorcore/engine/platform"
	"connectorcore/facts"
	"connectorcore/schema"

	"github.com/spf13/cobra"
)

// build is what this binary is.
type build struct {
	Version    string `json:"version"`
	Go         string `json:"go"`
	TiDB       string `json:"tidb"`        // the release of the embedded store, and the oldest of a cluster
	SchemaStep uint64 `json:"schema_step"` // the step that a database must be at
}

func thisBuild() (build, error) {
	steps, err := schema.Steps()
	if err != nil {
		return build{}, err
	}
	this := build{Version: "unknown", Go: runtime.Version(), TiDB: embedded.Release, SchemaStep: uint64(len(steps))}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		this.Version = info.Main.Version
	}
	return this, nil
}

func buildText(b build) string {
	return fmt.Sprintf("connector %s (%s), TiDB %s, schema step %d", b.Version, b.Go, b.TiDB, b.SchemaStep)
}

func (p *program) version() *cobra.Command {
	return leaf("version", "Print what this binary is; --version is short for it", "connector version --output json", func(*cobra.Command) error {
		this, err := thisBuild()
		if err != nil {
			return err
		}
		return emitOne(p, this, buildText)
	})
}

// refusal is a row of the closed table as it is printed.
type refusal struct {
	Code     string   `json:"code"`
	Class    string   `json:"class"`
	Owner    string   `json:"owner"`
	Alert    string   `json:"alert"` // "none", "at once", or a duration
	Meaning  string   `json:"meaning"`
	Remedies []string `json:"remedies"`
}

func (p *program) refusals() *cobra.Command {
	return leaf("refusals", "Print every code with which something is refused, halted or set aside", "connector refusals --output jsonl",
		func(*cobra.Command) error {
			var rows []refusal
			for _, r := range facts.Reasons() {
				row := refusal{Code: r.Text, Class: r.Class.String(), Owner: r.Owner.String(), Alert: alert(r), Meaning: r.Meaning}
				for _, remedy := range r.Remedies {
					row.Remedies = append(row.Remedies, remedy.String())
				}
				rows = append(rows, row)
			}
			return emitAll(p, rows, func(r refusal) string {
				return strings.Join([]string{r.Code, r.Class, r.Owner, r.Alert, r.Meaning + " (" + strings.Join(r.Remedies, ", ") + ")"}, "\t")
			})
		})
}

func alert(r facts.Reason) string {
	switch r.Alert {
	case facts.NoAlert:
		return "none"
	case 0:
		return "at once"
	}
	return r.Alert.String()
}

func (p *program) configView() *cobra.Command {
	return leaf("view", "Print every setting with where it came from; secrets are masked", "connector config view --config connector.yaml",
		func(cmd *cobra.Command) error {
			config, _, err := p.load(cmd)
			if err != nil {
				return err
			}
			return emitAll(p, config.Values, func(v platform.Value) string {
				return strings.Join([]string{v.Key, orDash(v.Text), v.Origin}, "\t")
			})
		})
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func (p *program) configValidate() *cobra.Command {
	return leaf("validate", "Say whether the configuration is valid, without connecting to anything", "connector config validate --config connector.yaml",
		func(cmd *cobra.Command) error {
			if _, _, err := p.load(cmd); err != nil {
				return err
			}
			p.say("the configuration is valid")
			return nil
		})
}
