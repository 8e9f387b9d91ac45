package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"connectorcore/engine/platform"
	"connectorcore/facts"

	"github.com/go-sql-driver/mysql"
)

func TestViewShowsEachOriginAndNoSecret(t *testing.T) {
	config := mysql.NewConfig()
	config.Net, config.Addr, config.DBName, config.User, config.Passwd = "tcp", "db.example:4000", "connector", "daemon", "view-secret"
	sh := newShell(t).dsn(config).with("CONNECTOR_TEST_DSN=ignored", "NO_COLOR=1")
	rows := decode[[]platform.Value](t, sh.done("config", "view", "--log-level", "debug", "--output", "json").out)
	want := []platform.Value{
		{Key: "store.dsn", Text: "daemon:***@tcp(db.example:4000)/connector", Origin: "CONNECTOR_DSN"},
		{Key: "log.level", Text: "debug", Origin: "--log-level"},
		{Key: "store.dir", Text: filepath.Join(sh.dir, "data", "connectorcore", "store"), Origin: "default"},
	}
	for _, w := range want {
		if !slices.Contains(rows, w) {
			t.Errorf("want %+v in %+v", w, rows)
		}
	}
	text := sh.done("config", "view").out
	if strings.Count(text, "\n") != len(platform.Keys()) || !strings.Contains(strings.Join(strings.Fields(text), " "), "store.dsn daemon:***@tcp(db.example:4000)/connector CONNECTOR_DSN ") {
		t.Errorf("got %s", text)
	}
	sh.done("config", "validate")
}

func TestRefusalsAreTheWholeTable(t *testing.T) {
	sh := newShell(t)
	rows := decode[[]refusal](t, sh.done("refusals", "--output", "json").out)
	if len(rows) != len(facts.Reasons()) {
		t.Fatalf("%d rows of %d", len(rows), len(facts.Reasons()))
	}
	for i, reason := range facts.Reasons() {
		if rows[i].Code != reason.Text || rows[i].Meaning != reason.Meaning || len(rows[i].Remedies) != len(reason.Remedies) {
			t.Errorf("row %d is %+v", i, rows[i])
		}
	}
	for _, form := range []string{"text", "jsonl"} {
		if lines := strings.Count(sh.done("refusals", "--output", form).out, "\n"); lines != len(rows) {
			t.Errorf("%s: %d lines for %d rows", form, lines, len(rows))
		}
	}
}

func TestVersionAndHelpAndCompletionNeedNoConfiguration(t *testing.T) {
	sh := newShell(t).with("CONNECTOR_UNKNOWN=1") // a broken configuration must not keep anybody from asking for help
	got := decode[build](t, sh.done("version", "--output", "json").out)
	if got.TiDB != "v8.5.6" || got.SchemaStep == 0 {
		t.Errorf("got %+v", got)
	}
	for _, args := range [][]string{{}, {"schema"}, {"store", "serve", "--help"}, {"completion", "bash"}, {"refusals"}, {"schema", "show-sql"}} {
		if sh.done(args...).out == "" {
			t.Errorf("%v: printed nothing", args)
		}
	}
}
