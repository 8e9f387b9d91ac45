package house

import "strings"

func plantedWords() []plant {
	name := strings.Fields(providerLines)[1]
	capital := strings.ToUpper(name[:1]) + name[1:]
	host := strings.Fields(providerLines)[0]
	return []plant{
		{rule: "no provider's name", files: map[string]string{
			"facts/a.go": "package facts\n\nimport _ \"" + host + ".com/cockroachdb/errors\"\n\n// see " + host + ".com/x/y\n" +
				"type " + capital + "Client struct{}\n\nvar s = \"" + host + ".com/a/b/c@v1\"\n\n//go:generate go run " + host + ".com/a/b\n" +
				"var t = \"" + host + ".com\"\n",
			"facts/a_gen.go":          "package facts\n\nvar x = \"" + name + "\"\n",
			"facts/a_test.go":         "package facts\n\nvar y = \"" + capital + "\"\n",
			"schema/steps.sql":        "-- step 1: " + name + "\n",
			"packs/one/routes_gen.go": "package one\n\nvar x = \"" + name + "\"\n",
			"examples/crm/main.go":    "package main\n\nvar x = \"" + name + "\"\n",
			"docs/packs.md":           capital,
			"docs/machines.md":        "# Machines\n\nGenerated from a table by make generate.\n\n" + capital + "\n",
			"schema/checks_gen.txt":   name,
			"go.mod":                  "require " + host + ".com/google/uuid v1.6.0\n",
		}, want: []string{
			"docs/machines.md:5", "facts/a.go:11", "facts/a.go:5", "facts/a.go:6", "facts/a_gen.go:3", "facts/a_test.go:3",
			"schema/checks_gen.txt:1", "schema/steps.sql:1",
		}},
		{rule: "no trace of a machine or a session", files: map[string]string{
			"docs/a.md": "fine: $HOME/work/x, ./root/x, http://localhost/home/page, ~/.cache\n" +
				"see /" + "home/ann/x\nput it in \"/" + "root/.cache\"\nwritten by ChatG" + "PT\nrun iss" + "ues show 2\nan issue shows\n",
			"facts/a.go": "package facts\n\n// from /" + "tmp/w" + "t/x\n",
		}, want: []string{"docs/a.md:2", "docs/a.md:3", "docs/a.md:4", "docs/a.md:5", "facts/a.go:3"}},
		{rule: "an excuse has an issue", files: map[string]string{
			"facts/a.go": "package facts\n\n// TODO later\n\n// TODO: issue 4 brings the reader.\n\nfunc f() { lexer.Skip() }\n",
			"facts/a_test.go": "package facts\n\nfunc f(t *testing.T) {\n\tt.Skip()\n\tt.Skipf(\"slow on %s\", x)\n\tt.Skip(\"issue 7 brings it\")\n" +
				"\tt.SkipNow()\n}\n",
		}, want: []string{"facts/a.go:3", "facts/a_test.go:4", "facts/a_test.go:5", "facts/a_test.go:7"}},
		{rule: "a rewriting step has an issue", files: map[string]string{
			"schema/steps.sql": "-- step 1: create table lane\nCREATE TABLE lane;\n-- step 2: widen lane\nALTER TABLE lane;\n-- step 3: narrow lane (issue 4)\nALTER TABLE lane;\n",
		}, want: []string{"schema/steps.sql:3"}},
	}
}
