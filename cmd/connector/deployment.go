package main

import (
	"fmt"
	"slices"
	"strings"

	"connectorcore/engine/serve"
	"connectorcore/facts"
	servingfacts "connectorcore/facts/serving"

	"github.com/cockroachdb/errors"
	"github.com/spf13/cobra"
)

// deployment is the one row that says what an installation is.
type deployment struct {
	Deployment   string   `json:"deployment"`
	Class        string   `json:"class"`
	Organization string   `json:"organization"`
	Installation string   `json:"installation"`
	Workload     string   `json:"workload"`
	Destinations []string `json:"destinations"`
}

func deploymentText(d deployment) string {
	return fmt.Sprintf("deployment\t%s\nclass\t%s\norganization\t%s\ninstallation\t%s\nworkload\t%s\ndestinations\t%s",
		d.Deployment, d.Class, d.Organization, d.Installation, d.Workload, orDash(strings.Join(d.Destinations, ", ")))
}

// founding is the flags of deployment found.
type founding struct {
	class, organization, installation, workload string
	destinations                                []string
}

func (p *program) deploymentFound() *cobra.Command {
	var f founding
	cmd := leaf("found", "Write the one row that says what this installation is; nothing changes it later",
		"connector deployment found --class conformance --organization acme --installation crm --workload sync",
		func(cmd *cobra.Command) (err error) {
			wanted, err := f.deployment(cmd)
			if err != nil {
				return err
			}
			config, log, err := p.load(cmd)
			if err != nil {
				return err
			}
			store, err := serve.OpenStore(cmd.Context(), config.Store, log)
			if err != nil {
				return err
			}
			defer func() { err = errors.CombineErrors(err, store.Close()) }()
			stands, err := store.Found(cmd.Context(), wanted)
			if err != nil {
				return err
			}
			row := deployment{stands.ID.String(), stands.Class.String(), stands.Organization.String(), stands.Installation.String(), stands.Workload.String(), []string{}}
			for _, d := range stands.Destinations {
				row.Destinations = append(row.Destinations, d.String())
			}
			return emitOne(p, row, deploymentText)
		})
	flags := cmd.Flags()
	flags.StringVar(&f.class, "class", "", "conformance (isolated, for trials) or production")
	flags.StringVar(&f.organization, "organization", "", "who owns the installation")
	flags.StringVar(&f.installation, "installation", "", "the installed application that is connected")
	flags.StringVar(&f.workload, "workload", "", "what may use the bindings")
	flags.StringArrayVar(&f.destinations, "destination", nil, "what a conformance deployment may call: loopback, or host:port; may be given again (default loopback)")
	return cmd
}

// deployment reads the flags. It has no id yet.
func (f founding) deployment(cmd *cobra.Command) (d servingfacts.Deployment, err error) {
	if d.Class, err = servingfacts.ParseClass(f.class); err != nil {
		return d, usage(cmd, "--class must be conformance or production")
	}
	var faults [3]error
	d.Organization, faults[0] = facts.ParseKey[facts.Organization](f.organization)
	d.Installation, faults[1] = facts.ParseKey[facts.ApplicationInstallation](f.installation)
	d.Workload, faults[2] = facts.ParseKey[facts.Workload](f.workload)
	for i, name := range []string{"organization", "installation", "workload"} {
		if faults[i] != nil {
			return d, usage(cmd, "--%s must be 1 to %d bytes of plain text without a blank at an edge", name, facts.KeyMaxBytes)
		}
	}
	texts := slices.Clone(f.destinations)
	if texts == nil && d.Class == servingfacts.Conformance {
		texts = []string{servingfacts.Loopback.String()}
	}
	slices.Sort(texts)
	for _, text := range slices.Compact(texts) {
		destination, err := servingfacts.ParseDestination(text)
		if err != nil {
			return d, usage(cmd, "--destination must be loopback, host:port or address:port, in lower case")
		}
		d.Destinations = append(d.Destinations, destination)
	}
	if d.Class == servingfacts.Production && d.Destinations != nil {
		return d, usage(cmd, "--destination is for a conformance deployment: the calls of a production deployment are not limited here")
	}
	return d, nil
}
