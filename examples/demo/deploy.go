package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"connectorcore/engine/pack"
	"connectorcore/facts"

	"filippo.io/age"
	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// account is one account at one provider, and the secret that signs its deliveries.
type account struct {
	id     facts.AccountID
	folder string
	pack   *pack.Pack
	secret []byte
}

// deployment is a conformance deployment that an operator made with the commands of this release.
type deployment struct {
	dir, bin, config string
	migration        string // the file with the DSN of the store's administrator
	accounts         []*account
	epoch            facts.EpochID // that serves
	store            *process
}

// environ is that of the demo, without settings of another deployment.
func environ() []string {
	return slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "CONNECTOR") && !strings.HasPrefix(e, "CONNECTOR_TEST_")
	})
}

// run runs a program of this release, and gives what it prints. What it says to a person is in the error.
func (d *deployment) run(ctx context.Context, program string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, filepath.Join(d.bin, program), append(args, "--config", d.config)...)
	var out, said bytes.Buffer
	command.Env, command.Stdout, command.Stderr, command.SysProcAttr = environ(), &out, &said, attributes()
	if err := command.Run(); err != nil {
		return nil, errors.Newf("%s %s: %v: %s", program, strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return out.Bytes(), nil
}

// asked runs `connector` and decodes its JSON.
func asked[T any](ctx context.Context, d *deployment, args ...string) (answer T, err error) {
	out, err := d.run(ctx, "connector", append(args, "--output", "json")...)
	if err != nil {
		return answer, err
	}
	return answer, errors.Wrapf(json.Unmarshal(out, &answer), "what `connector %s` prints", args[0])
}

// serveStore starts the embedded store with its schema, and writes the configuration that everything else uses.
func (d *deployment) serveStore(ctx context.Context) (err error) {
	d.store, err = launch(d.dir, "store", filepath.Join(d.bin, "connector"), environ(), "store", "serve", "--apply", "--store-dir", filepath.Join(d.dir, "store"), "--output", "jsonl")
	if err != nil {
		return err
	}
	line, err := d.store.says(ctx)
	if err != nil {
		return err
	}
	var served struct {
		DSN       string `json:"dsn_file"`
		Migration string `json:"migration_dsn_file"`
	}
	if err := json.Unmarshal([]byte(line), &served); err != nil {
		return errors.Wrap(err, "what the store prints")
	}
	d.migration = served.Migration
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return errors.Wrap(err, "an age identity")
	}
	text := fmt.Sprintf("store:\n  dsn_file: %q\n  migration_dsn_file: %q\nsecrets:\n  dir: %q\n  identity_file: %q\nserve:\n  listen: 127.0.0.1:0\n  operations: 127.0.0.1:0\nlog:\n  level: warn\n",
		served.DSN, served.Migration, d.file("secrets"), d.file("identity"))
	return errors.CombineErrors(os.Mkdir(d.file("secrets"), 0o700),
		errors.CombineErrors(d.keep("identity", []byte(identity.String()+"\n")), d.keep("connector.yaml", []byte(text))))
}

func (d *deployment) file(name string) string { return filepath.Join(d.dir, name) }

func (d *deployment) keep(name string, content []byte) error {
	return errors.Wrap(os.WriteFile(d.file(name), content, 0o600), "the demo's directory")
}

// install founds the deployment, and installs and authorises the packs in these folders.
func (d *deployment) install(ctx context.Context, folders []string) error {
	if _, err := d.run(ctx, "connector", "deployment", "found", "--class", "conformance", "--organization", "acme", "--installation", "crm", "--workload", "sync"); err != nil {
		return err
	}
	var names []string
	for _, folder := range folders {
		compiled, err := pack.Compile(os.DirFS(folder))
		if err != nil {
			return err
		}
		if _, err := d.run(ctx, "connector", "pack", "install", folder); err != nil {
			return err
		}
		names = append(names, compiled.Head().Name.String())
		d.accounts = append(d.accounts, &account{folder: folder, pack: compiled, secret: []byte(rand.Text())})
	}
	_, err := d.run(ctx, "connector", append([]string{"catalog", "authorise"}, names...)...)
	return err
}

// tenantFile is the template of a tenant's file, as far as something in it is the demo's to fill in. JSON is YAML.
type tenantFile struct {
	Accounts []tenantAccount `json:"accounts"`
	Limits   jsontext.Value  `json:"limits"`
}

type tenantAccount struct {
	ID           facts.AccountID `json:"id"`
	Provider     string          `json:"provider"`
	Organization string          `json:"organization"`
	Routes       jsontext.Value  `json:"routes,omitempty"`
	Mappings     jsontext.Value  `json:"mappings,omitempty"`
	Credentials  []struct {
		Name       string `json:"name"`
		Provider   string `json:"provider"`
		Generation string `json:"generation"`
	} `json:"credentials,omitempty"`
}

// configure publishes an account for each pack, with its credentials sealed, and activates all of it.
func (d *deployment) configure(ctx context.Context) error {
	file, err := asked[tenantFile](ctx, d, "tenant", "template")
	if err != nil {
		return err
	}
	for i := range file.Accounts {
		a := &file.Accounts[i]
		at := slices.IndexFunc(d.accounts, func(of *account) bool { return of.pack.Head().Name.String() == a.Provider })
		if at < 0 {
			return errors.Newf("the template has an account at %s, whose pack was not installed", a.Provider)
		}
		a.Organization, d.accounts[at].id = "acme-at-"+a.Provider, a.ID
		if err := d.credentials(ctx, d.accounts[at], a); err != nil {
			return err
		}
	}
	text, err := json.Marshal(file)
	if err == nil {
		err = d.keep("tenant.yaml", text)
	}
	if err != nil {
		return errors.Wrap(err, "the tenant's file")
	}
	_, err = d.run(ctx, "connector", "tenant", "publish", d.file("tenant.yaml"))
	return err
}

// credentials seals the secret of an account once, and publishes it under each of its references.
func (d *deployment) credentials(ctx context.Context, of *account, as *tenantAccount) error {
	plain := as.Provider + ".secret"
	if err := d.keep(plain, of.secret); err != nil {
		return err
	}
	sealed, err := asked[struct {
		Version string `json:"version"`
	}](ctx, d, "credential", "seal", "--name", as.Provider, "--member", "demo="+d.file(plain), "--outbound", "demo")
	if err = errors.CombineErrors(err, os.Remove(d.file(plain))); err != nil {
		return err
	}
	for _, ref := range as.Credentials {
		if _, err := d.run(ctx, "connector", "credential", "publish", "--account", as.ID.String(), "--provider", ref.Provider, "--identity", ref.Name,
			"--backend", "file", "--version", sealed.Version); err != nil {
			return err
		}
	}
	return nil
}

// activate makes the tables of the application and brings the deployment to serve.
func (d *deployment) activate(ctx context.Context) error {
	if _, err := d.run(ctx, "crm", "init"); err != nil {
		return err
	}
	stands, err := asked[struct {
		Epochs []struct {
			Epoch facts.EpochID `json:"epoch"`
		} `json:"epochs"`
	}](ctx, d, "activate", "--principal", "demo", "--reason", "a trial")
	switch {
	case err != nil:
		return err
	case len(stands.Epochs) != 1:
		return errors.Newf("%d epochs may serve after the activation of the first one", len(stands.Epochs))
	}
	d.epoch = stands.Epochs[0].Epoch
	return nil
}

// defects are the records with which the application is to go wrong; none by default.
type defects struct {
	twice string // it logs the record's application twice
	late  string // it applies the record's first input behind the second
}

// daemon starts the application with the daemon in it. It listens at another port each time.
func (d *deployment) daemon(ctx context.Context, planted defects) (*process, addresses, error) {
	args := []string{"serve", "--config", d.config, "--lease", "3s", "--log-twice", planted.twice, "--apply-late", planted.late}
	var at addresses
	p, err := launch(d.dir, "crm", filepath.Join(d.bin, "crm"), environ(), args...)
	if err != nil {
		return nil, at, err
	}
	line, err := p.says(ctx)
	if err == nil {
		err = errors.Wrap(json.Unmarshal([]byte(line), &at), "what the daemon prints")
	}
	if err != nil {
		p.end()
		return nil, at, err
	}
	return p, at, nil
}

// addresses are where a daemon listens.
type addresses struct {
	Door       string `json:"door"`
	Operations string `json:"operations"`
}
