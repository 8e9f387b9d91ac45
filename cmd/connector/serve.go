package main

import (
	"fmt"

	"connectorcore/engine/drive"
	"connectorcore/engine/serve"

	"github.com/cockroachdb/errors"
	"github.com/spf13/cobra"
)

// listening says where a daemon listens.
type listening struct {
	Door       string `json:"door"`
	Operations string `json:"operations"`
}

func listeningText(l listening) string {
	return fmt.Sprintf("door\thttp://%s/in/ACCOUNT/CHANNEL\noperations\thttp://%s/readyz", l.Door, l.Operations)
}

func (p *program) serve() *cobra.Command {
	return leaf("serve", "Run the daemon: take deliveries in and bring them to the application, until it is told to end",
		"connector serve --serve-application http://127.0.0.1:9000",
		func(cmd *cobra.Command) error {
			config, log, err := p.load(cmd)
			if err != nil {
				return err
			}
			return serve.Run(cmd.Context(), config, serve.Application{URL: config.Serve.Application}, log, drive.Options{}, func(d *serve.Daemon) error {
				return emitOne(p, listening{d.Door, d.Operations}, listeningText)
			})
		})
}

// hosted is an application's database.
type hosted struct {
	Database string `json:"database"`
}

func (p *program) schemaApplication() *cobra.Command {
	return taking(leaf("application DATABASE", "Make an application's own database, and let the daemon's application role write in it", "connector schema application crm", nil),
		func(cmd *cobra.Command, args []string) (err error) {
			config, log, err := p.load(cmd)
			if err != nil {
				return err
			}
			m, err := serve.OpenMigration(cmd.Context(), config.Store, log, false)
			if err != nil {
				return err
			}
			defer func() { err = errors.CombineErrors(err, m.Close()) }()
			if err := m.Application(cmd.Context(), args[0]); err != nil {
				return err
			}
			p.say("database %s is the application's own: make its tables there", args[0])
			return emitOne(p, hosted{args[0]}, func(h hosted) string { return h.Database })
		})
}
