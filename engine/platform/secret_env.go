package platform

import (
	"context"
	"os"
	"regexp"

	"connectorcore/facts"
)

// EnvSecrets takes secret sets from the environment. A version is NAME, and the variable is EnvSecretPrefix and NAME.
// Nothing proves here that a version stays what it was: whoever sets the variables must not change one.
type EnvSecrets struct {
	// LookUp asks for a variable; nil is the process's environment.
	LookUp func(name string) (value string, set bool)
}

// EnvSecretPrefix begins the variable of each version. The prefix of the configuration's variables is another one.
const EnvSecretPrefix = "CONNECTORCORE_SECRET_"

const envSecrets = "env"

var envVersion = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,99}$`)

// Fetch implements SecretBackend.
func (e EnvSecrets) Fetch(_ context.Context, version facts.SecretVersion) ([]byte, error) {
	refuse := func(fault string) error {
		return facts.Refuse(facts.SecretUnusable, facts.OfInput("secret version "+version.String()+" at "+envSecrets), "%s", fault)
	}
	if !envVersion.MatchString(version.String()) {
		return nil, refuse("want capital letters, digits and underscores, at most 100")
	}
	ask := e.LookUp
	if ask == nil {
		ask = os.LookupEnv
	}
	value, set := ask(EnvSecretPrefix + version.String())
	switch {
	case !set:
		return nil, refuse("the variable " + EnvSecretPrefix + version.String() + " is not set")
	case len(value) > secretSetMax:
		return nil, refuse("the variable is longer than 1 MiB")
	}
	return []byte(value), nil
}
