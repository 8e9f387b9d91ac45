package tenant

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/readers/owners"

	"github.com/cockroachdb/errors"
)

// Template is a configuration to begin with: for each pack of the view one account with a fresh id, which enables every
// route and selects every mapping, and refers to the current generation of every credential that is needed. What only
// the tenant knows, the account's own name, is not in it.
func Template(view owners.View) (owners.Configuration, error) {
	c := owners.Configuration{Limits: owners.DefaultLimits()}
	places := map[facts.PackName]int{}
	for _, b := range view.Bindings {
		place, known := places[b.OwnerPack]
		if !known {
			place = len(c.Accounts)
			places[b.OwnerPack] = place
			provider, err := facts.ParseKey[facts.ProviderScope](b.OwnerPack.String())
			if err != nil {
				return c, err
			}
			c.Accounts = append(c.Accounts, owners.AccountConfiguration{Account: facts.Mint[facts.AccountID](), Provider: provider})
		}
		a := &c.Accounts[place]
		switch b.Kind {
		case serving.InboundRoute:
			a.Routes = append(a.Routes, owners.RouteRef{Pack: b.OwnerPack, Route: b.BusinessKey, Version: b.Version})
		case serving.FieldMapping:
			a.Mappings = append(a.Mappings, owners.MappingSelection{Pack: b.OwnerPack, Mapping: b.BusinessKey, Version: b.Version})
		}
		refs, err := owners.DecodeRefs(b.CredentialRefs)
		if err != nil {
			return c, err
		}
		for _, ref := range refs {
			if !slices.ContainsFunc(a.Credentials, func(m owners.CredentialMapping) bool { return m.Ref == ref }) {
				a.Credentials = append(a.Credentials, owners.CredentialMapping{Ref: ref})
			}
		}
	}
	return inOrder(c), nil
}

const head = `# Everything that the tenant decides. Fill in what has no value, seal and publish the credentials
# ('connector credential seal', 'connector credential publish'), then
#   connector tenant validate FILE
#   connector tenant publish FILE
`

// Text writes a configuration as a file that Read takes: an absent organization has no value, and an absent generation
// is the current one. An override that is no text cannot be written.
func Text(c owners.Configuration) (string, error) {
	var w strings.Builder
	w.WriteString(head + "accounts:\n")
	for _, a := range c.Accounts {
		fmt.Fprintf(&w, "  - id: %s\n    provider: %s\n    organization:", a.Account, scalar(a.Provider.String()))
		if a.Organization.IsZero() {
			w.WriteString(" # the account's own name at its provider\n")
		} else {
			w.WriteString(" " + scalar(a.Organization.String()) + "\n")
		}
		if err := writeParts(&w, a); err != nil {
			return "", err
		}
	}
	writeSettings(&w, "", "policies", c.Policies)
	l := c.Limits
	fmt.Fprintf(&w, "limits:\n  body_max_bytes: %d\n  depth_max: %d\n  components_max: %d\n  effects_per_batch_max: %d\n  records_per_window_max: %d\n",
		l.BodyMaxBytes, l.DepthMax, l.ComponentsMax, l.EffectsPerBatchMax, l.RecordsPerWindowMax)
	return w.String(), nil
}

func writeParts(w *strings.Builder, a owners.AccountConfiguration) error {
	for i, r := range a.Routes {
		heading(w, i, "routes")
		fmt.Fprintf(w, "      - {pack: %s, route: %s, version: %s}\n", scalar(r.Pack.String()), scalar(r.Route.String()), scalar(r.Version.String()))
	}
	for i, m := range a.Mappings {
		heading(w, i, "mappings")
		override := ""
		if len(m.Override) > 0 {
			if !utf8.Valid(m.Override) {
				return errors.Newf("tenant: account %s, mapping %s of pack %s: its override is no text, and no file can say it: publish the configuration where it came from", a.Account, m.Mapping, m.Pack)
			}
			override = ", override: " + scalar(string(m.Override))
		}
		fmt.Fprintf(w, "      - {pack: %s, mapping: %s, version: %s%s}\n", scalar(m.Pack.String()), scalar(m.Mapping.String()), scalar(m.Version.String()), override)
	}
	writeSettings(w, "    ", "policies", a.Policies)
	for i, m := range a.Credentials {
		heading(w, i, "credentials")
		generation := currentWord
		if !m.Generation.IsZero() {
			generation = m.Generation.String()
		}
		fmt.Fprintf(w, "      - {name: %s, provider: %s, generation: %s}\n", scalar(m.Ref.Name.String()), scalar(m.Ref.Provider.String()), generation)
	}
	return nil
}

func heading(w *strings.Builder, i int, name string) {
	if i == 0 {
		w.WriteString("    " + name + ":\n")
	}
}

func writeSettings(w *strings.Builder, indent, name string, settings []owners.Setting) {
	for i, s := range settings {
		if i == 0 {
			w.WriteString(indent + name + ":\n")
		}
		fmt.Fprintf(w, "%s  - {name: %s, value: %s}\n", indent, scalar(s.Name.String()), scalar(s.Value))
	}
}

// plain needs no quotes in YAML, also between braces.
var plain = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_./@+-]*$`)

// scalar writes a text as a YAML value: a JSON string is one, once what YAML does not take raw is escaped as well.
func scalar(text string) string {
	if plain.MatchString(text) && !strings.EqualFold(text, "null") {
		return text
	}
	var quoted strings.Builder
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string always encodes, and a builder takes all
	var w strings.Builder
	for _, r := range strings.TrimSuffix(quoted.String(), "\n") {
		if r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			fmt.Fprintf(&w, "\\u%04x", r)
		} else {
			w.WriteRune(r)
		}
	}
	return w.String()
}
