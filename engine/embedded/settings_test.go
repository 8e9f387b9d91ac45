package embedded

import (
	"strings"
	"testing"
	"time"
)

func TestEveryChangedSettingIsNamedAndRefused(t *testing.T) {
	dir := t.TempDir()
	server := start(t, Options{Dir: dir})
	db := open(t, server)
	if err := CheckSettings(t.Context(), db); err != nil {
		t.Fatalf("a fresh server: %v", err)
	}
	other := map[string]string{"1073741824": "16384", "ON": "OFF", "OFF": "ON"}
	for _, s := range settings {
		execute(t, db, "SET GLOBAL "+s.name+" = "+other[s.want])
		err := CheckSettings(t.Context(), db)
		if err == nil || !strings.Contains(err.Error(), s.name+" is "+other[s.want]+", want "+s.want) {
			t.Errorf("%s: %v", s.name, err)
		}
		execute(t, db, "SET GLOBAL "+s.name+" = "+s.want)
	}
	execute(t, db, "SET GLOBAL tidb_enable_1pc = ON", "SET GLOBAL tidb_redact_log = MARKER")
	err := CheckSettings(t.Context(), db)
	if err == nil || !strings.Contains(err.Error(), "tidb_enable_1pc is ON") || !strings.Contains(err.Error(), "tidb_redact_log is MARKER") {
		t.Errorf("two differ, and not both are named: %v", err)
	}
	stop(t, server)
	refused(t, Options{Dir: dir}, "tidb_enable_1pc is ON", "tidb_redact_log is MARKER", "by hand", configName)
}

func TestARestartWithAChangedSettingEndsTheSupervision(t *testing.T) {
	// What another try cannot cure is not tried again: the first pause would outlast the test.
	server := startOnly(t, Options{Dir: t.TempDir(), pause: time.Hour})
	db := open(t, server)
	execute(t, db, "SET GLOBAL tidb_enable_async_commit = ON")
	state, _ := server.State()
	kill(t, state.PID)
	select {
	case <-server.Done():
	case <-time.After(testWait):
		t.Fatal("still trying")
	}
	state, _ = server.State()
	if state.Err == nil || !strings.Contains(state.Err.Error(), "tidb_enable_async_commit is ON, want OFF") {
		t.Errorf("got %+v", state)
	}
	if err := db.Ping(); err == nil {
		t.Error("the refused server serves on")
	}
}

func TestASplitTableIsFound(t *testing.T) {
	server := start(t, Options{Dir: t.TempDir()})
	db := open(t, server)
	execute(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (a BIGINT PRIMARY KEY)", "SPLIT TABLE d.t BETWEEN (0) AND (1000000) REGIONS 4")
	if err := CheckSettings(t.Context(), db); err == nil || !strings.Contains(err.Error(), "`d`.`t`") {
		t.Errorf("got %v", err)
	}
}

func TestAnAccountWithoutPrivilegesCanTellTheStoreAndCheckIt(t *testing.T) {
	server := start(t, Options{Dir: t.TempDir()})
	execute(t, open(t, server), "CREATE USER nobody IDENTIFIED BY 'pw'")
	db, err := Login{Address: server.Root().Address, User: "nobody", Password: NewPassword("pw")}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if embedded, err := Detect(t.Context(), db); err != nil || !embedded {
		t.Errorf("got %t, %v", embedded, err)
	}
	if err := CheckSettings(t.Context(), db); err != nil {
		t.Error(err)
	}
	execute(t, open(t, server), "SET GLOBAL tidb_enable_1pc = ON")
	if err := CheckSettings(t.Context(), db); err == nil || !strings.Contains(err.Error(), "tidb_enable_1pc") {
		t.Errorf("got %v", err)
	}
}

func TestAClusterIsToldFromEmbeddedAndFromUnknown(t *testing.T) {
	for _, c := range []struct {
		version        string
		embedded, fail bool
	}{
		{"Release Version: v8.5.6\nStore: unistore", true, false},
		{"Release Version: v8.5.6\nStore: mocktikv\n", true, false},
		{"Release Version: v8.5.6\nStore: tikv", false, false},
		{"Release Version: v8.5.6\nStore: somethingnew", false, true},
		{"Release Version: v8.5.6\n", false, true},
		{"", false, true},
	} {
		if embedded, err := parseStore(c.version); embedded != c.embedded || (err != nil) != c.fail {
			t.Errorf("%q: got %t, %v", c.version, embedded, err)
		}
	}
	server := start(t, Options{Dir: t.TempDir()})
	db := open(t, server)
	stop(t, server)
	if embedded, err := Detect(t.Context(), db); err == nil || embedded {
		t.Errorf("nobody was there to ask, and the answer is %t", embedded)
	}
}
