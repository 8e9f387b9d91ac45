package house

var plantedCalls = []plant{
	{rule: "one clock", files: map[string]string{
		"facts/clock.go":            "package facts\n\nimport \"time\"\n\nvar now = time.Now\n",
		"facts/other.go":            "package facts\n\nimport \"time\"\n\nvar now = time.Now\n\nvar day = 24 * time.Hour\n",
		"engine/serve/a.go":         "package serve\n\nimport clock \"time\"\n\nfunc f() {\n\t<-clock.After(1)\n}\n",
		"engine/serve/b.go":         "package serve\n\ntype t struct{ Now int }\n\nfunc f(time t) int { return time.Now }\n",
		"engine/embedded/a.go":      "package embedded\n\nimport \"time\"\n\nvar now = time.Now\n",
		"engine/embeddedthing/a.go": "package embeddedthing\n\nimport \"time\"\n\nvar since = time.Since\n",
		"ledger/a_test.go":          "package ledger\n\nimport \"time\"\n\nvar now = time.Now\n",
	}, want: []string{"engine/embeddedthing/a.go:5", "engine/serve/a.go:6", "facts/other.go:5"}},
	{rule: "no sleep but in a poll", files: map[string]string{
		"ledger/a_test.go":  "package ledger\n\nimport \"time\"\n\nfunc f() {\n\ttime.Sleep(1)\n\tfor !done() {\n\t\ttime.Sleep(1)\n\t}\n}\n",
		"engine/serve/a.go": "package serve\n\nimport \"time\"\n\nfunc f() {\n\tfor {\n\t\ttime.Sleep(1)\n\t}\n}\n",
	}, want: []string{"engine/serve/a.go:7", "ledger/a_test.go:6"}},
	{rule: "no untyped decoding", files: map[string]string{
		"engine/pack/a.go": `package pack

func f(raw []byte) {
	var v any
	json.Unmarshal(raw, &v)
	m := map[string]interface{}{}
	json.Unmarshal(raw, &m)
	decoder.Decode(new(any))
	var list []map[string]any
	msgpack.Unmarshal(raw, &list)
	var typed struct{ Name string }
	json.Unmarshal(raw, &typed)
	v, w := 1, typed
	json.Unmarshal(raw, &w)
	Decode(&v)
	x := x
	json.Unmarshal(raw, &x)
}
`,
	}, want: []string{"engine/pack/a.go:10", "engine/pack/a.go:5", "engine/pack/a.go:7", "engine/pack/a.go:8"}},
	{rule: "one error library", files: map[string]string{
		"facts/a.go":                 "package facts\n\nimport (\n\t\"errors\"\n\t\"fmt\"\n)\n\nvar e = fmt.Errorf(\"x\")\n",
		"facts/b.go":                 "package facts\n\nimport (\n\t\"fmt\"\n\n\t\"github.com/cockroachdb/errors\"\n)\n\nvar e = errors.Newf(fmt.Sprintf(\"x\"))\n",
		"facts/c_test.go":            "package facts\n\nimport \"fmt\"\n\nvar e = fmt.Errorf(\"x\")\n",
		"tools/proof/a.go":           "package main\n\nimport \"errors\"\n",
		"cmd/tidb/main.go":           "package main\n\nimport \"errors\"\n",
		"facts/internal/doc/main.go": "package main\n\nimport \"errors\"\n",
	}, want: []string{"facts/a.go:4", "facts/a.go:8", "facts/c_test.go:5"}},
	{rule: "no panic", files: map[string]string{
		"facts/a.go":            "package facts\n\nfunc f() {\n\tpanic(1)\n}\n\nfunc g() { recover() }\n",
		"facts/b_gen.go":        "package facts\n\nfunc h() { panic(1) }\n",
		"facts/c.go":            "package facts\n\nfunc panic(int) {}\n\nfunc i() { panic(1) }\n",
		"facts/a_test.go":       "package facts\n\nfunc k() { panic(1) }\n",
		"proptest/world/w.go":   "package world\n\nfunc k() { panic(1) }\n",
		"cmd/connector/main.go": "package main\n\nfunc main() { panic(1) }\n",
	}, want: []string{"cmd/connector/main.go:3", "facts/a.go:4", "facts/b_gen.go:3"}},
	{rule: "only engine and cmd log", files: map[string]string{
		"ledger/a.go":                 "package ledger\n\nimport (\n\t\"fmt\"\n\t\"log\"\n)\n\nfunc f() { fmt.Println(1) }\n",
		"schema/a.go":                 "package schema\n\nimport \"log/slog\"\n",
		"schema/b.go":                 "package schema\n\nimport \"fmt\"\n\nvar s = fmt.Sprint(1)\n",
		"schema/internal/gen/main.go": "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1) }\n",
		"engine/serve/a.go":           "package serve\n\nimport \"log/slog\"\n",
		"ledger/a_test.go":            "package ledger\n\nimport \"log\"\n",
	}, want: []string{"ledger/a.go:5", "ledger/a.go:8", "schema/a.go:3"}},
	{rule: "only cmd exits", files: map[string]string{
		"engine/serve/a.go":     "package serve\n\nimport \"os\"\n\nfunc f() { os.Exit(1) }\n",
		"cmd/connector/main.go": "package main\n\nimport \"os\"\n\nfunc f() { os.Exit(1) }\n",
		"engine/serve/b.go":     "package serve\n\nimport \"os\"\n\nvar dir = os.TempDir\n",
		"engine/serve/c.go":     "package serve\n\nimport \"log\"\n\nfunc f() { log.Fatal(1) }\n",
	}, want: []string{"engine/serve/a.go:5", "engine/serve/c.go:5"}},
	{rule: "only txn holds a transaction", files: map[string]string{
		"ledger/a.go":              "package ledger\n\nimport \"database/sql\"\n\nfunc f(db *sql.DB, tx *sql.Tx) {}\n",
		"engine/platform/a.go":     "package platform\n\nfunc f() {\n\ttx, err := db.BeginTx(ctx, nil)\n\ttx, err = db.Begin()\n\tledger.Begin(sends)\n}\n",
		"ledger/internal/txn/a.go": "package txn\n\nimport \"database/sql\"\n\nfunc f(tx *sql.Tx) { db.BeginTx(ctx, nil) }\n",
		"ledger/a_test.go":         "package ledger\n\nimport \"database/sql\"\n\nfunc f(tx *sql.Tx) {}\n",
	}, want: []string{"engine/platform/a.go:4", "engine/platform/a.go:5", "ledger/a.go:5"}},
}

var plantedSQL = []plant{
	{rule: "no broken SQL idiom", files: map[string]string{
		"readers/a.go": "package readers\n\nvar (\n" +
			"\ta = `SELECT 1 FOR UPDATE\n\t\tSKIP  LOCKED`\n" +
			"\tb = \"select 1 for share\"\n" +
			"\tc = \"SELECT 1 LOCK IN SHARE MODE\"\n" +
			"\td = \"INSERT IGNORE INTO t VALUES (1)\"\n" +
			"\te = \"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1\"\n" +
			"\tf = \"REPLACE INTO t VALUES (1)\"\n" +
			"\tg = \"SELECT TRIM(a)\"\n" +
			"\th = \"SELECT lower (a)\"\n" +
			"\ti = \"a shared share, for shares; replace it\" // FOR SHARE in a comment explains\n)\n",
		"ledger/a_test.go":         "package ledger\n\nvar a = \"REPLACE INTO t VALUES (1)\"\n\nvar b = \"SELECT 1 FOR SHARE\"\n",
		"schema/steps.sql":         "-- never INSERT IGNORE\nINSERT IGNORE INTO t VALUES (1);\n",
		"proptest/house/x_test.go": "package house\n\nvar a = \"FOR SHARE\"\n",
		"docs/notes.md":            "FOR SHARE\n",
	}, want: []string{
		"ledger/a_test.go:5", "readers/a.go:10", "readers/a.go:11", "readers/a.go:12", "readers/a.go:4",
		"readers/a.go:6", "readers/a.go:7", "readers/a.go:8", "readers/a.go:9", "schema/steps.sql:2",
	}},
	{rule: "only txn locks", files: map[string]string{
		"readers/a.go":             "package readers\n\nvar a = `SELECT 1\n\tFOR\n\tUPDATE`\n",
		"ledger/internal/txn/a.go": "package txn\n\nvar a = \"SELECT 1 FOR UPDATE\"\n",
		"ledger/a_test.go":         "package ledger\n\nvar a = \"SELECT 1 FOR UPDATE\"\n",
		"ledger/b.go":              "package ledger\n\nvar a = \"waits for updates\"\n",
	}, want: []string{"readers/a.go:3"}},
	{rule: "only schema defines", files: map[string]string{
		"engine/platform/a.go": "package platform\n\nvar a = `\n\tCREATE TABLE t (a INT)`\n\nvar b = \"create or replace view v as select 1\"\n",
		"engine/embedded/a.go": "package embedded\n\nvar a = \"ALTER USER root IDENTIFIED BY ?\"\n\nvar b = \"DROP DATABASE test\"\n",
		"engine/serve/a.go":    "package serve\n\nvar a = \"CREATE USER daemon IDENTIFIED BY ?\"\n\nvar b = \"CREATE ROLE r\"\n",
		"engine/execute/a.go":  "package execute\n\nvar a = \"CREATE USER daemon IDENTIFIED BY ?\"\n",
		"schema/a.go":          "package schema\n\nvar a = \"CREATE TABLE t (a INT)\"\n",
		"schema/steps.sql":     "CREATE TABLE t (a INT);\n",
		"ledger/a.sql":         "DROP TABLE t;\n",
		"ledger/a_test.go":     "package ledger\n\nvar a = \"DROP TABLE t\"\n",
		"ledger/a.go":          "package ledger\n\nvar a = \"create the effect of an authored command\"\n",
	}, want: []string{"engine/embedded/a.go:5", "engine/execute/a.go:3", "engine/platform/a.go:3", "engine/platform/a.go:6", "engine/serve/a.go:5", "ledger/a.sql:1"}},
}
