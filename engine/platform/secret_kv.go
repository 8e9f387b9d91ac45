package platform

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"connectorcore/facts"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// KVSecrets takes secret sets from a Vault KV engine of version 2. A version is MOUNT/PATH@N with the engine's own
// version number, which the engine never gives to other content; "latest" cannot be said. The secret's data is the set
// in the form that every backend keeps.
//
// It makes one request a version, follows no redirect, because a redirect would carry the token elsewhere, and trusts
// the answer only if it says that it is of version N.
type KVSecrets struct {
	address   *url.URL
	token     Secret
	namespace string
	client    *http.Client
}

const kvSecrets = "vault"

const kvTimeout = 10 * time.Second

var kvVersion = regexp.MustCompile(`^([A-Za-z0-9_-]+)((?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)+)@([1-9][0-9]{0,17})$`)

// OpenKVSecrets opens an engine at an address such as https://vault.example:8200 with a token that may read it. Plain
// http is for a loopback address only. The namespace may be empty.
//
// Refuses: ConfigurationInvalid.
func OpenKVSecrets(address string, token Secret, namespace string) (*KVSecrets, error) {
	refuse := func(fault string) error {
		return facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("vault address"), "%s", fault)
	}
	at, err := url.Parse(address)
	switch {
	case err != nil || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "" || at.Path != "" && at.Path != "/":
		return nil, refuse("want scheme, host and port alone, as in https://vault.example:8200")
	case at.Scheme != "https" && !(at.Scheme == "http" && isLoopback(at.Hostname())):
		return nil, refuse("want https: over plain http everybody on the way reads the secrets")
	case token.IsZero() || bytes.ContainsFunc(token.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("vault token"), "it is empty or holds a character that no token has")
	}
	transport := &http.Transport{Proxy: nil, ForceAttemptHTTP2: true, MaxIdleConns: 2, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: kvTimeout}
	client := &http.Client{Transport: transport, Timeout: kvTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &KVSecrets{at, token, namespace, client}, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// kvAnswer is what the engine documents of an answer: the data beside what is known of the version. A version that was
// deleted or destroyed has no data; a deletion time alone may be one to come.
type kvAnswer struct {
	Data struct {
		Data     jsontext.Value `json:"data"`
		Metadata struct {
			Version   uint64 `json:"version"`
			Destroyed bool   `json:"destroyed"`
		} `json:"metadata"`
	} `json:"data"`
}

// Fetch implements SecretBackend.
func (k *KVSecrets) Fetch(ctx context.Context, version facts.SecretVersion) ([]byte, error) {
	parts := kvVersion.FindStringSubmatch(version.String())
	if parts == nil {
		return nil, k.refuse(version, "want MOUNT/PATH@N with a version number from 1")
	}
	where := k.address.JoinPath("v1", parts[1], "data", parts[2])
	where.RawQuery = url.Values{"version": {parts[3]}}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where.String(), nil)
	if err != nil {
		return nil, k.refuse(version, "it makes no request")
	}
	request.Header.Set("X-Vault-Token", string(k.token.Reveal()))
	request.Header.Set("X-Vault-Request", "true")
	if k.namespace != "" {
		request.Header.Set("X-Vault-Namespace", k.namespace)
	}
	response, err := k.client.Do(request)
	if err != nil {
		return nil, unavailable(kvSecrets, version, "no answer")
	}
	defer response.Body.Close()
	body := bytes.NewBuffer(make([]byte, 0, secretSetMax/16))
	_, err = io.Copy(body, io.LimitReader(response.Body, secretSetMax+1))
	defer func() { clear(body.Bytes()) }()
	if err != nil {
		return nil, unavailable(kvSecrets, version, "the answer broke off")
	}
	return k.read(version, parts[3], response.StatusCode, body.Bytes())
}

// read judges an answer. The engine's own error texts stay out of it.
func (k *KVSecrets) read(version facts.SecretVersion, number string, status int, body []byte) ([]byte, error) {
	switch {
	case status == http.StatusNotFound:
		return nil, k.refuse(version, "the engine has no such version, or not any more")
	case status != http.StatusOK:
		return nil, unavailable(kvSecrets, version, fmt.Sprintf("the engine answered %d", status))
	case len(body) > secretSetMax:
		return nil, k.refuse(version, "the answer is longer than 1 MiB")
	}
	var answer kvAnswer
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, unavailable(kvSecrets, version, "the answer is not the engine's") // a proxy's page, say
	}
	defer clear(answer.Data.Data)
	metadata := answer.Data.Metadata
	switch {
	case metadata.Destroyed || answer.Data.Data.Kind() == 'n':
		return nil, k.refuse(version, "the version was deleted")
	case strconv.FormatUint(metadata.Version, 10) != number:
		return nil, k.refuse(version, fmt.Sprintf("the engine answered with version %d", metadata.Version))
	}
	return bytes.Clone(answer.Data.Data), nil
}

func (k *KVSecrets) refuse(version facts.SecretVersion, fault string) error {
	return facts.Refuse(facts.SecretUnusable, facts.OfInput("secret version "+version.String()+" at "+kvSecrets), "%s", fault)
}
