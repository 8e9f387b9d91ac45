package main

import (
	"fmt"
	"strings"

	"connectorcore/engine/serve"

	"github.com/cockroachdb/errors"
	"github.com/spf13/cobra"
)

// served says where the embedded store is while it is served.
type served struct {
	Address          string `json:"address"`
	Database         string `json:"database"`
	Login            string `json:"login"`
	DSNFile          string `json:"dsn_file,omitempty"`
	MigrationDSNFile string `json:"migration_dsn_file"`
}

func (p *program) storeServe() *cobra.Command {
	var apply bool
	cmd := leaf("serve", "Run the embedded store until it is told to end", "connector store serve --apply --store-dir ./data",
		func(cmd *cobra.Command) (err error) {
			config, log, err := p.load(cmd)
			if err != nil {
				return err
			}
			if config.Store.DSN != "" {
				return usage(cmd, "store.dsn names a cluster, and the embedded store is not used with one: remove it, or do not serve")
			}
			if err := serve.RefuseHalfCluster(config.Store); err != nil {
				return err
			}
			store, err := serve.StartEmbedded(cmd.Context(), config.Store.Dir, log, apply)
			if err != nil {
				return err
			}
			defer func() { err = errors.CombineErrors(err, store.Close()) }()
			row := served{store.Address, store.Database, store.Login, store.DSNFile, store.MigrationDSNFile}
			if err := emitOne(p, row, servedText); err != nil {
				return err
			}
			return store.Wait(cmd.Context())
		})
	cmd.Flags().BoolVar(&apply, "apply", false, "bring the store to the declared schema first, and make the daemon's login")
	return cmd
}

func servedText(s served) string {
	daemon := s.DSNFile
	if daemon == "" {
		daemon = "none, its login is not made yet: end this and run 'connector store serve --apply'"
	}
	return fmt.Sprintf("%s@tcp(%s)/%s\ndaemon DSN in\t%s\nmigration DSN in\t%s", s.Login, s.Address, s.Database, daemon, s.MigrationDSNFile)
}

// checked says what a check of the store has found.
type checked struct {
	Address  string   `json:"address"`
	Database string   `json:"database"`
	Login    string   `json:"login"`
	Kind     string   `json:"kind"` // "embedded" or "cluster"
	Version  string   `json:"version"`
	Roles    []string `json:"roles"` // whose catalogue and privileges are as declared
}

func (p *program) storeCheck() *cobra.Command {
	return leaf("check", "Check all that a daemon demands of its store before it starts", "connector store check --output json",
		func(cmd *cobra.Command) (err error) {
			config, log, err := p.load(cmd)
			if err != nil {
				return err
			}
			store, err := serve.OpenStore(cmd.Context(), config.Store, log)
			if err != nil {
				return err
			}
			defer func() { err = errors.CombineErrors(err, store.Close()) }()
			row := checked{Address: store.Address, Database: store.Database, Login: store.Login, Kind: "cluster", Version: store.Version}
			if store.Embedded {
				row.Kind = "embedded"
			}
			for _, role := range store.Roles() {
				row.Roles = append(row.Roles, string(role))
			}
			return emitOne(p, row, func(c checked) string {
				return fmt.Sprintf("store\t%s@tcp(%s)/%s\nkind\t%s\nversion\t%s\nsessions\tsafe\nas declared for\t%s",
					c.Login, c.Address, c.Database, c.Kind, c.Version, strings.Join(c.Roles, ", "))
			})
		})
}
