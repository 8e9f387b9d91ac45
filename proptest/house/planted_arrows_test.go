package house

var plantedArrows = []plant{
	{rule: "top-level folders", files: map[string]string{
		"helpers/x.txt":    "a folder that nobody declared",
		"helpers/y.txt":    "told once",
		"main.go":          "package main\n",
		"README.md":        "fine",
		".ci/run":          "fine",
		"docs/adr/0001.md": "fine",
		"facts/id.go":      "package facts\n",
	}, want: []string{"helpers/x.txt:1", "main.go:1"}},
	{rule: "packages", files: map[string]string{
		"engine/extras/a.go":              "package extras\n",
		"engine/extras/b.go":              "package extras\n",
		"facts/internal/odd/a.go":         "package odd\n",
		"facts/internal/refusals/main.go": "package main\n",
		"tools/internal/any/a.go":         "package any\n",
		"ledger/internal/txn/a.go":        "package txn\n",
		"schema/testdata/broken.go":       "this is not even Go",
	}, want: []string{"engine/extras/a.go:1", "facts/internal/odd/a.go:1"}},
	{rule: "import arrows", files: map[string]string{
		"machines/a.go":        "package machines\n\nimport _ \"connectorcore/facts\"\n",
		"facts/a.go":           "package facts\n\nimport (\n\t_ \"connectorcore/facts/digest\"\n\t_ \"connectorcore/machines\"\n\t_ \"connectorcore/schema\"\n)\n",
		"facts/a_test.go":      "package facts_test\n\nimport _ \"connectorcore/ledger\"\n",
		"schema/a_test.go":     "package schema_test\n\nimport _ \"connectorcore/proptest/world\"\n",
		"tools/proof/a.go":     "package main\n\nimport _ \"connectorcore/tools/internal/repo\"\n",
		"tools/record/a.go":    "package main\n\nimport _ \"connectorcore/facts\"\n",
		"engine/serve/a.go":    "package serve\n\nimport _ \"connectorcore/engine/ingress\"\n",
		"engine/ingress/a.go":  "package ingress\n\nimport _ \"connectorcore/cmd/connector\"\n",
		"readers/owners/a.go":  "package owners\n\nimport _ \"connectorcore/ledger/epoch\"\n",
		"proptest/model/a.go":  "package model\n\nimport _ \"connectorcore/engine/embedded\"\n",
		"cmd/connector/a.go":   "package main\n\nimport _ \"connectorcore/engine/serve\"\n",
		"ledger/epoch/a.go":    "package epoch\n\nimport _ \"connectorcore/ledger/internal/txn\"\n",
		"examples/two/main.go": "package main\n\nimport _ \"connectorcore/cmd/connector\"\n",
	}, want: []string{
		"engine/ingress/a.go:3", "examples/two/main.go:3", "facts/a.go:6", "facts/a_test.go:3", "machines/a.go:3",
		"readers/owners/a.go:3", "tools/record/a.go:3",
	}},
	{rule: "proptest is for tests", files: map[string]string{
		"engine/a.go":         "package engine\n\nimport _ \"connectorcore/proptest/audit\"\n",
		"engine/a_test.go":    "package engine\n\nimport _ \"connectorcore/proptest/world\"\n",
		"cmd/connector/a.go":  "package main\n\nimport _ \"connectorcore/proptest/audit\"\n",
		"cmd/connector/b.go":  "package main\n\nimport _ \"connectorcore/proptest/world\"\n",
		"proptest/crash/a.go": "package crash\n\nimport _ \"connectorcore/proptest/world\"\n",
	}, want: []string{"cmd/connector/b.go:3", "engine/a.go:3"}},
	{rule: "average arrows", files: map[string]string{
		"engine/serve/a.go": "package serve\n\nimport (\n\t_ \"connectorcore/facts\"\n\t_ \"connectorcore/ledger\"\n\t_ \"connectorcore/machines\"\n\t_ \"connectorcore/schema\"\n)\n",
		"engine/pack/a.go":  "package pack\n\nimport (\n\t_ \"connectorcore/facts\"\n\t_ \"connectorcore/facts/digest\"\n\t_ \"connectorcore/ledger\"\n\t_ \"connectorcore/schema\"\n)\n",
		"proptest/a.go":     "package proptest\n",
	}, want: []string{"engine/serve/doc.go:1"}},
}
