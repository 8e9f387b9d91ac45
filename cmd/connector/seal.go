package main

import (
	"bytes"
	"io"
	"os"
	"strings"

	"connectorcore/engine/platform"
	"connectorcore/engine/serve"
	"connectorcore/facts"

	"github.com/spf13/cobra"
)

// sealFlags say what is sealed. The secrets themselves are in files or in standard input: arguments are seen by every
// process of a host.
type sealFlags struct {
	name, recipient, outbound string
	members                   []string
}

// sealed is a secret set at rest.
type sealed struct {
	Backend string `json:"backend"`
	Version string `json:"version"`
	Members int    `json:"members"`
}

func (p *program) credentialSeal() *cobra.Command {
	var f sealFlags
	cmd := leaf("seal", "Encrypt a set of secrets into a new file of the backend file, and print its version",
		"connector credential seal --name shop-outbound-1 --member 2026=/run/secrets/shop --outbound 2026", func(cmd *cobra.Command) error {
			if err := required(cmd, "name", "member"); err != nil {
				return err
			}
			config, _, err := p.load(cmd)
			if err != nil {
				return err
			}
			var name platform.SecretKey
			if err := keyFlag(cmd, "name", f.name, &name); err != nil {
				return err
			}
			members, err := f.read(cmd)
			defer func() { wipe(members) }()
			if err != nil {
				return err
			}
			set, err := platform.NewSecretSet(members)
			if err != nil {
				return err
			}
			version, err := serve.SealSecrets(config.Secrets, name, f.recipient, set)
			if err != nil {
				return err
			}
			p.say("the set is sealed, and nothing refers to it yet. Next: 'connector credential publish --backend file --version ...'")
			return emitOne(p, sealed{"file", version.String(), len(members)}, func(s sealed) string { return s.Version })
		})
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "the name of the new file, without .age: lower-case letters, digits, dots, hyphens and underscores")
	flags.StringArrayVar(&f.members, "member", nil, "NAME=FILE, a secret of the set; the file - is standard input; may be given again")
	flags.StringVar(&f.outbound, "outbound", "", "the member that outbound calls use; a set that only verifies has none")
	flags.StringVar(&f.recipient, "recipient", "", "the age public key to encrypt for (default: that of secrets.identity_file)")
	return cmd
}

func wipe(members []platform.SecretMember) {
	for _, m := range members {
		m.Secret.Wipe()
	}
}

// read takes the members from their files. What was read is returned with an error too, so that it is wiped.
func (f *sealFlags) read(cmd *cobra.Command) (members []platform.SecretMember, err error) {
	found, stdin := f.outbound == "", false
	for _, text := range f.members {
		name, path, cut := strings.Cut(text, "=")
		key, err := facts.ParseKey[platform.SecretKey](name)
		if err != nil || !cut || path == "" {
			return members, usage(cmd, "--member must be NAME=FILE, where FILE holds the secret, or is - for standard input")
		}
		if path == "-" && stdin {
			return members, usage(cmd, "--member reads standard input twice: give one of them a file")
		}
		stdin = stdin || path == "-"
		secret, err := readMember(cmd, name, path)
		if err != nil {
			return members, err
		}
		members = append(members, platform.SecretMember{Name: key, Secret: platform.NewSecret(secret), Outbound: name == f.outbound})
		found = found || name == f.outbound
	}
	if !found {
		return members, usage(cmd, "--outbound names no member of the set")
	}
	return members, nil
}

// memberMax is more than a secret may have: what is longer is another file, and the set says so.
const memberMax = 65 << 10

// readMember reads a secret, less one line end. The path may be the secret itself, by a slip, and is not repeated.
func readMember(cmd *cobra.Command, name, path string) ([]byte, error) {
	from := io.Reader(os.Stdin)
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, usage(cmd, "the file of member %s cannot be read: --member takes NAME=FILE, never a secret", name)
		}
		defer file.Close()
		from = file
	}
	raw := bytes.NewBuffer(make([]byte, 0, memberMax+bytes.MinRead)) // never grows, so that no copy stays behind
	if _, err := raw.ReadFrom(io.LimitReader(from, memberMax)); err != nil {
		clear(raw.Bytes())
		return nil, usage(cmd, "the file of member %s cannot be read: --member takes NAME=FILE, never a secret", name)
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(raw.Bytes(), []byte("\n")), []byte("\r")), nil
}
