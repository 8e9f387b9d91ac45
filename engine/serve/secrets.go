package serve

import (
	"bytes"
	"os"

	"connectorcore/engine/platform"
	"connectorcore/facts"

	"filippo.io/age"
)

// The names by which credential generations call the backends of secrets.
const (
	backendEnv   = "env"
	backendFile  = "file"
	backendVault = "vault"
)

// OpenSecrets opens every backend of secrets that is configured; the environment always is.
//
// Refuses: ConfigurationInvalid (a backend is configured in part, or what it needs cannot be used).
func OpenSecrets(p platform.SecretPlaces) (*platform.Secrets, error) {
	refuse := func(key, fault string) error {
		return facts.Refuse(facts.ConfigurationInvalid, facts.OfInput(key), "%s", fault)
	}
	backends := map[string]platform.SecretBackend{backendEnv: platform.EnvSecrets{}}
	switch {
	case p.Dir == "" && p.IdentityFile != "":
		return nil, refuse("secrets.dir", "secrets.identity_file is given and this is not: name the folder too")
	case p.Dir != "" && p.IdentityFile == "":
		// A host that only seals has no identity, and needs none.
	case p.Dir != "":
		file, err := platform.OpenFileSecrets(p.Dir, p.IdentityFile)
		if err != nil {
			return nil, err
		}
		backends[backendFile] = file
	}
	switch {
	case p.VaultAddress == "" && p.VaultTokenFile != "":
		return nil, refuse("secrets.vault_address", "secrets.vault_token_file is given and this is not: name the server too")
	case p.VaultAddress != "" && p.VaultTokenFile == "":
		return nil, refuse("secrets.vault_token_file", "secrets.vault_address is given and this is not: name a file with a token")
	case p.VaultAddress != "":
		token, err := platform.ReadPrivate(p.VaultTokenFile)
		if err != nil {
			return nil, refuse("secrets.vault_token_file", err.Error())
		}
		kv, err := platform.OpenKVSecrets(p.VaultAddress, platform.NewSecret(token), p.VaultNamespace)
		if err != nil {
			return nil, err
		}
		backends[backendVault] = kv
	}
	named := map[facts.OwnerName]platform.SecretBackend{}
	for name, backend := range backends {
		known, err := facts.ParseKey[facts.OwnerName](name)
		if err != nil {
			return nil, err
		}
		named[known] = backend
	}
	return platform.OpenSecrets(named), nil
}

// SealSecrets encrypts a set into a new file of the backend file and gives its version. Without a recipient it is
// encrypted for the configured identity.
//
// Refuses: ConfigurationInvalid, SecretUnusable, ContentDiffers (the name is taken).
func SealSecrets(p platform.SecretPlaces, name platform.SecretKey, recipient string, set platform.SecretSet) (facts.SecretVersion, error) {
	none := facts.SecretVersion{}
	if p.Dir == "" {
		return none, facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("secrets.dir"), "it is not given: name the folder of the sealed files")
	}
	if recipient == "" {
		own, err := ownRecipient(p)
		if err != nil {
			return none, err
		}
		recipient = own
	}
	return platform.SealSecrets(p.Dir, name, recipient, set)
}

// ownRecipient is the public key of the configured identity.
func ownRecipient(p platform.SecretPlaces) (string, error) {
	refuse := func(fault string) error {
		return facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("secrets.identity_file"), "%s", fault)
	}
	if p.IdentityFile == "" {
		return "", refuse("it is not given: name the identity, or its public key as the recipient")
	}
	if _, err := platform.OpenFileSecrets(p.Dir, p.IdentityFile); err != nil {
		return "", err
	}
	raw, err := os.ReadFile(p.IdentityFile)
	if err != nil {
		return "", refuse(err.Error())
	}
	defer clear(raw)
	identities, err := age.ParseIdentities(bytes.NewReader(raw))
	if err != nil {
		return "", refuse("it holds no age identity") // the cause may quote the line
	}
	for _, identity := range identities {
		if plain, is := identity.(*age.X25519Identity); is {
			return plain.Recipient().String(), nil
		}
	}
	return "", refuse("it has no public key of the plain kind: name the recipient")
}
