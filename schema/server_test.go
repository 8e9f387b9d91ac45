package schema_test

import (
	"strings"
	"testing"

	"connectorcore/proptest/world"
	"connectorcore/schema"
)

func TestOnlyTiDBFrom856OnIsAdmitted(t *testing.T) {
	const old, none, unreadable = "needs TiDB v8.5.6 or newer", "which is no TiDB", "cannot be read"
	for version, want := range map[string]string{
		"8.0.11-TiDB-v8.5.6":                       "",
		"8.0.11-TiDB-v8.5.10":                      "",
		"8.0.11-TiDB-v8.6.0":                       "",
		"8.0.11-TiDB-v9.0.0":                       "",
		"8.0.11-TiDB-v10.0.0":                      "",
		"5.7.25-TiDB-v8.5.6":                       "", // the part before is for clients of MySQL
		"8.0.11-TiDB-v8.5.6-20260413-ae18096":      "", // a patched build of the release
		"8.0.11-TiDB-v8.5.6-serverless":            "",
		"8.0.11-TiDB-v8.5.7-alpha":                 "", // later than the release, early or not
		"8.0.11-TiDB-v9.0.0-beta.1":                "",
		"8.0.11-TiDB-v8.5.6-alpha":                 old,
		"8.0.11-TiDB-v8.5.6-alpha-112-gabcdef0":    old,
		"8.0.11-TiDB-v8.5.6-beta.1":                old,
		"8.0.11-TiDB-v8.5.6-rc.2":                  old,
		"8.0.11-TiDB-v8.5.6-pre":                   old,
		"8.0.11-TiDB-v8.5.5":                       old,
		"8.0.11-TiDB-v8.5.5-20260101-abcdef0":      old,
		"8.0.11-TiDB-v8.4.0-this-is-a-placeholder": old,
		"8.0.11-TiDB-v8.4.99":                      old,
		"5.7.25-TiDB-v7.9.9":                       old,
		"8.0.36":                                   none,
		"8.0.36-0ubuntu0.22.04.1":                  none,
		"10.11.6-MariaDB-1:10.11.6+maria~ubu2204":  none,
		"":                           none,
		"8.5.6":                      none,
		"8.0.11-TiDB-8.5.6":          none,
		"8.0.11-TiDB-v8.5":           none,
		"8.0.11-TiDB-v8.5.6x":        none,
		"8.0.11-tidb-v8.5.6":         none,
		"8.0.11-TiDB-v8.5.6\n8.0.11": none,
		"8.0.11-TiDB-v99999999999999999999999999999.0.0": unreadable,
	} {
		err := schema.CheckVersion(version)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", version, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", version, err, want)
		}
	}
}

func TestTheServerUnderTestIsAdmitted(t *testing.T) {
	store := world.Converged(t)
	if err := schema.CheckServer(t.Context(), store.Admin); err != nil {
		t.Error(err)
	}
}
