package main

import (
	"fmt"

	"connectorcore/engine/serve"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/spf13/cobra"
)

// step is a schema step as it is printed.
type step struct {
	Number    uint64 `json:"number"`
	Name      string `json:"name"`
	Statement string `json:"statement"`
}

func stepsOf(steps []schema.Step) []step {
	var rows []step
	for _, s := range steps {
		rows = append(rows, step(s))
	}
	return rows
}

func stepLine(s step) string { return fmt.Sprintf("step %d\t%s", s.Number, s.Name) }

func (p *program) schemaShow() *cobra.Command {
	return leaf("show-sql", "Print the statements that make the schema, in order", "connector schema show-sql",
		func(*cobra.Command) error {
			steps, err := schema.Steps()
			if err != nil {
				return err
			}
			if p.output != "text" {
				return emitAll(p, stepsOf(steps), stepLine)
			}
			for _, s := range steps {
				// Not aligned: a statement is printed as it is run.
				if _, err := fmt.Fprintf(p.out, "-- step %d: %s\n%s;\n\n", s.Number, s.Name, s.Statement); err != nil {
					return errors.Wrap(err, "standard output")
				}
			}
			return nil
		})
}

func (p *program) schemaPlan() *cobra.Command {
	return leaf("plan", "Print the steps that apply would take, changing nothing", "connector schema plan --dsn 'root:...@tcp(db:4000)/connector'",
		func(cmd *cobra.Command) error {
			config, log, err := p.load(cmd)
			if err != nil {
				return err
			}
			pending, err := serve.PendingOf(cmd.Context(), config.Store, log)
			if err != nil {
				return err
			}
			p.say("%d steps to apply", len(pending))
			return emitAll(p, stepsOf(pending), stepLine)
		})
}

func (p *program) schemaApply() *cobra.Command {
	var login string
	cmd := leaf("apply", "Bring the database to the declared schema", "connector schema apply --login connector_daemon",
		func(cmd *cobra.Command) (err error) {
			if cmd.Flags().Changed("login") && login == "" {
				return usage(cmd, "--login is empty: name an existing login or leave it out")
			}
			config, log, err := p.load(cmd)
			if err != nil {
				return err
			}
			m, err := serve.OpenMigration(cmd.Context(), config.Store, log, true)
			if err != nil {
				return err
			}
			defer func() { err = errors.CombineErrors(err, m.Close()) }()
			applied, err := m.Apply(cmd.Context(), login)
			if told := emitAll(p, stepsOf(applied), stepLine); err == nil {
				err = told
			}
			if err == nil {
				p.say("database %s is as declared; %d steps were applied", m.Database, len(applied))
			}
			return err
		})
	cmd.Flags().StringVar(&login, "login", "", "an existing login of the cluster that shall run the daemon: it is given the runtime roles")
	return cmd
}

// difference is one way in which a database is not as declared.
type difference struct {
	Difference string `json:"difference"`
}

func (p *program) schemaVerify() *cobra.Command {
	return leaf("verify", "Print each difference between the database and the declared schema", "connector schema verify",
		func(cmd *cobra.Command) (err error) {
			config, log, err := p.load(cmd)
			if err != nil {
				return err
			}
			m, err := serve.OpenMigration(cmd.Context(), config.Store, log, false)
			if err != nil {
				return err
			}
			defer func() { err = errors.CombineErrors(err, m.Close()) }()
			differences, err := m.Verify(cmd.Context())
			var rows []difference
			for _, d := range differences {
				rows = append(rows, difference{d})
			}
			if told := emitAll(p, rows, func(d difference) string { return d.Difference }); err == nil {
				err = told
			}
			if err == nil {
				p.say("database %s is as declared", m.Database)
			}
			return err
		})
}
