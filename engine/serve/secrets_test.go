package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectorcore/engine/platform"
	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

func TestABackendThatIsConfiguredInPartIsRefusedByTheKeyThatLacks(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("a-token\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, places := range map[string]platform.SecretPlaces{
		"input secrets.dir: ":                        {IdentityFile: "/identity"},
		"input secrets.vault_address: ":              {VaultTokenFile: token},
		"input secrets.vault_token_file: ":           {VaultAddress: "https://vault.example:8200"},
		"input age identity file /nowhere/identity:": {Dir: t.TempDir(), IdentityFile: "/nowhere/identity"},
		"everybody on this host may read":            {VaultAddress: "https://vault.example:8200", VaultTokenFile: token},
	} {
		if _, err := OpenSecrets(places); !errors.Is(err, facts.ConfigurationInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %s", places, err, want)
		}
	}
	if err := os.Chmod(token, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, places := range []platform.SecretPlaces{{}, {Dir: t.TempDir()}, {VaultAddress: "https://vault.example:8200", VaultTokenFile: token}} {
		if _, err := OpenSecrets(places); err != nil {
			t.Errorf("%+v: %v", places, err)
		}
	}
}
