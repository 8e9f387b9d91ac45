package bench

import (
	"context"
	"database/sql"
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"connectorcore/engine/activate"
	"connectorcore/engine/pack"
	"connectorcore/engine/platform"
	"connectorcore/engine/serve"
	"connectorcore/engine/witness"
	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

//go:embed w1
var packFiles embed.FS

// secretVersion is the version of the one secret, which the daemon finds in its environment.
const secretVersion = "W1"

// deployment is a conformance deployment that serves the workload.
type deployment struct {
	accounts []facts.AccountID
	store    *serve.Embedded
	admin    *sql.DB // of the login that owns everything; it looks, and measures
}

func key[T facts.AnyKey](text string, failed *error) T {
	k, err := facts.ParseKey[T](text)
	*failed = errors.CombineErrors(*failed, err)
	return k
}

// deploy begins a store in a folder, and brings it to serve the workload through the ways of the product.
func deploy(ctx context.Context, dir string, w Workload) (d *deployment, err error) {
	d = &deployment{}
	if d.store, err = serve.StartEmbedded(ctx, filepath.Join(dir, "store"), nil, true); err != nil {
		return nil, err
	}
	for range w.Accounts {
		d.accounts = append(d.accounts, facts.Mint[facts.AccountID]())
	}
	slices.SortFunc(d.accounts, facts.AccountID.Compare)
	if err = d.found(ctx, dir); err == nil {
		err = prepare(ctx, d.admin, w, d.accounts)
	}
	if err != nil {
		return nil, errors.CombineErrors(err, d.close())
	}
	return d, nil
}

func (d *deployment) close() error {
	var err error
	if d.admin != nil {
		err = d.admin.Close()
	}
	return errors.CombineErrors(err, d.store.Close())
}

// found makes the application's database, founds the deployment, and activates it.
func (d *deployment) found(ctx context.Context, dir string) (err error) {
	places := platform.Store{}
	for path, dsn := range map[string]*schema.DSN{d.store.DSNFile: &places.DSN, d.store.MigrationDSNFile: &places.MigrationDSN} {
		text, err := os.ReadFile(path)
		if err != nil {
			return errors.Wrap(err, "bench: a DSN of the store")
		}
		*dsn = schema.DSN(strings.TrimSpace(string(text)))
	}
	if d.admin, err = schema.Connect(ctx, places.MigrationDSN, schema.RoleMigration); err != nil {
		return err
	}
	migration, err := serve.OpenMigration(ctx, places, nil, false)
	if err != nil {
		return err
	}
	if err := errors.CombineErrors(migration.Application(ctx, database), migration.Close()); err != nil {
		return err
	}
	store, err := serve.OpenStore(ctx, places, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.CombineErrors(err, store.Close()) }()
	return d.activate(ctx, store, filepath.Join(dir, "witness"))
}

func (d *deployment) activate(ctx context.Context, store *serve.Store, path string) error {
	var bad error
	wanted := serving.Deployment{Class: serving.Conformance, Organization: key[facts.Organization]("bench", &bad), Installation: key[facts.ApplicationInstallation]("w1", &bad),
		Workload: key[facts.Workload]("w1", &bad), Destinations: serving.Destinations{serving.Loopback}}
	by := platform.Authority{Principal: key[facts.OwnerName]("bench", &bad), Reason: key[facts.OwnerName]("a measurement", &bad)}
	files, err := fs.Sub(packFiles, "w1")
	if err != nil {
		return errors.Wrap(err, "bench: its pack")
	}
	compiled, err := pack.Compile(files)
	if err != nil {
		return err
	}
	configuration, credentials, err := d.configuration(compiled.Routes()[0].Version)
	if err = errors.CombineErrors(bad, err); err != nil {
		return err
	}
	if _, err := store.Found(ctx, wanted); err != nil {
		return err
	}
	if _, err := store.InstallPack(ctx, compiled); err != nil {
		return err
	}
	c, at, err := store.Coordinator(ctx, witness.File{Path: path}, by, func(string) {})
	if err != nil {
		return err
	}
	if _, err = at.Authorise(ctx, []facts.PackGenerationID{compiled.Generation()}); err == nil {
		err = at.PublishCredentials(ctx, credentials)
	}
	if err == nil {
		_, err = at.PublishConfiguration(ctx, configuration)
	}
	if err != nil {
		return err
	}
	revision, generation, err := at.Current(ctx)
	if err != nil {
		return err
	}
	judged, err := c.Advance(ctx, activate.Wanted{Configuration: generation, Least: revision})
	if err == nil && judged.Cause != nil {
		err = judged.Cause
	}
	return err
}

// configuration enables the route on every account, with one credential each.
func (d *deployment) configuration(version facts.DefinitionVersion) (owners.Configuration, []owners.CredentialGeneration, error) {
	var bad error
	all := owners.Configuration{Limits: owners.DefaultLimits()}
	route := owners.RouteRef{Pack: key[facts.PackName]("w1", &bad), Route: key[facts.DefinitionID]("changes", &bad), Version: version}
	provider := key[facts.ProviderScope]("w1", &bad)
	var credentials []owners.CredentialGeneration
	for _, account := range d.accounts {
		g := owners.CredentialGeneration{ID: facts.Mint[facts.CredentialGenerationID](), Identity: key[facts.CredentialIdentity]("inbound/deliveries", &bad), Account: account,
			Provider: provider, Backend: key[facts.OwnerName]("env", &bad), Version: key[facts.SecretVersion](secretVersion, &bad)}
		credentials = append(credentials, g)
		all.Accounts = append(all.Accounts, owners.AccountConfiguration{Account: account, Provider: provider, Organization: key[facts.RemoteIdentity](account.String(), &bad),
			Routes:      []owners.RouteRef{route},
			Credentials: []owners.CredentialMapping{{Ref: owners.CredentialRef{Name: g.Identity, Provider: provider}, Generation: g.ID}}})
	}
	return all, credentials, bad
}

// secretVariable is a secret as the daemon's environment holds it.
func secretVariable(secret []byte) (string, error) {
	var bad error
	set, err := platform.NewSecretSet([]platform.SecretMember{{Name: key[platform.SecretKey]("primary", &bad), Secret: platform.NewSecret(slices.Clone(secret))}})
	if err = errors.CombineErrors(bad, err); err != nil {
		return "", err
	}
	text, err := platform.EncodeSecrets(set)
	return platform.EnvSecretPrefix + secretVersion + "=" + string(text), err
}
