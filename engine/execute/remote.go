package execute

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger"
	"connectorcore/machines"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Remote is the Runtime of an application that is reached by HTTP; the protocol is in the package's documentation. It
// believes an answer only if that names the command and the reference that were asked for, and its digests are those of
// what it carries.
type Remote struct {
	base   *url.URL
	client *http.Client
}

// remoteTimeout bounds one request, and answerMax the bytes of its answer.
const (
	remoteTimeout = 30 * time.Second
	answerMax     = 2 * ledger.MaxPayload
)

// NewRemote reaches an application at a base address. The transport may add what the application authenticates us by;
// without one the default of net/http is used. Plain http is for a loopback address only. No redirect is followed.
//
// Refuses: ConfigurationInvalid.
func NewRemote(base string, transport http.RoundTripper) (*Remote, error) {
	at, err := url.Parse(base)
	refuse := func(fault string) error {
		return facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("the application's address"), "%s", fault)
	}
	switch {
	case err != nil || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "":
		return nil, refuse("want an address without user, query or fragment, as in https://crm.example/connector")
	case at.Scheme != "https" && !(at.Scheme == "http" && isLoopback(at.Hostname())):
		return nil, refuse("want https, or http to a loopback address")
	}
	client := &http.Client{Transport: transport, Timeout: remoteTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Remote{at, client}, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

var _ Runtime = (*Remote)(nil)

// submission is the body of a submitted command.
type submission struct {
	Command      string `json:"command"`
	ExecutionRef string `json:"execution_ref"`
	Account      string `json:"account"`
	Execution    string `json:"execution"`
	Definition   string `json:"definition"`
	Version      string `json:"definition_version"`
	Attempt      uint64 `json:"attempt"`
	Replay       bool   `json:"replay"`
	Input        string `json:"input"`
}

// remoteAnswer is the body of every answer.
type remoteAnswer struct {
	Command      string           `json:"command"`
	ExecutionRef string           `json:"execution_ref"`
	Outcome      string           `json:"outcome"`
	Result       string           `json:"result"`
	ResultDigest string           `json:"result_digest"`
	Receipt      string           `json:"receipt"`
	Outbound     []jsontext.Value `json:"outbound"`
	Failure      string           `json:"failure"`
}

// Submit implements Runtime, one request a command: a remote application's commands share nothing.
func (r *Remote) Submit(ctx context.Context, account facts.AccountID, commands []Command) []Verdict {
	verdicts := make([]Verdict, len(commands))
	for i, c := range commands {
		if c.Account != account {
			verdicts[i].Err = errors.AssertionFailedf("command %s of account %s among those of %s", c.Command, c.Account, account)
			continue
		}
		verdicts[i].Result, verdicts[i].Err = r.submit(ctx, c)
	}
	return verdicts
}

func (r *Remote) submit(ctx context.Context, c Command) (Result, error) {
	body, err := json.Marshal(submission{c.Command.String(), c.Ref.String(), c.Account.String(), c.Execution.String(), c.Definition.String(), c.Version.String(),
		c.Attempt, c.Replay, base64.StdEncoding.EncodeToString(c.Input)})
	if err != nil {
		return Result{}, errors.WithAssertionFailure(err)
	}
	return r.ask(ctx, "submit command", c.Subject, http.MethodPost, r.base.JoinPath("commands"), body)
}

// Query implements Runtime.
func (r *Remote) Query(ctx context.Context, subject Subject) (Result, error) {
	return r.ask(ctx, "query command", subject, http.MethodGet, r.named(subject), nil)
}

// Close implements Runtime.
func (r *Remote) Close(ctx context.Context, command Command) (Result, error) {
	return r.ask(ctx, "close command", command.Subject, http.MethodPost, r.named(command.Subject, "close"), nil)
}

func (r *Remote) named(subject Subject, more ...string) *url.URL {
	at := r.base.JoinPath(append([]string{"commands", subject.Command.String()}, more...)...)
	at.RawQuery = url.Values{"execution_ref": {subject.Ref.String()}}.Encode()
	return at
}

// ask makes one request and judges its answer.
func (r *Remote) ask(ctx context.Context, doing string, subject Subject, method string, at *url.URL, body []byte) (Result, error) {
	request, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(body))
	if err != nil {
		return Result{}, errors.WithAssertionFailure(err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := r.client.Do(request)
	if err != nil {
		return Result{}, facts.UnknownOutcome(doing, err)
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, answerMax+1))
	_ = response.Body.Close()
	var answer remoteAnswer
	switch {
	case err != nil:
		return Result{}, facts.UnknownOutcome(doing, err)
	case response.StatusCode == http.StatusNotFound:
		return Result{}, facts.Refuse(facts.ResultMissing, subject.execution(), "")
	case response.StatusCode != http.StatusOK && (response.StatusCode != http.StatusUnprocessableEntity || body == nil):
		return Result{}, facts.UnknownOutcome(doing, errors.Newf("the application answered %d", response.StatusCode))
	case len(raw) > answerMax:
		return Result{}, facts.UnknownOutcome(doing, errors.Newf("the answer is longer than %d bytes", answerMax))
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return Result{}, facts.UnknownOutcome(doing, errors.New("the answer is no JSON object of the protocol"))
	}
	if response.StatusCode == http.StatusUnprocessableEntity {
		return Result{}, answer.failed(doing, subject)
	}
	return answer.judge(doing, subject)
}

func (s Subject) execution() facts.Subject {
	return facts.OfExecution(facts.ExecutionKey{Account: s.Account, Subject: s.Execution})
}

// failureMax bounds what is kept of an application's own words, in bytes.
const failureMax = 1000

// failed takes a failure for one only if it says of which submission it is.
func (a remoteAnswer) failed(doing string, subject Subject) error {
	if a.Failure == "" || a.Command != subject.Command.String() {
		return facts.UnknownOutcome(doing, errors.New("the application answered 422 without a failure of this command"))
	}
	return &ledger.HandlerFailure{Cause: errors.Newf("the remote application said: %.*q", failureMax, a.Failure)}
}

// judge believes a result that proves itself.
func (a remoteAnswer) judge(doing string, subject Subject) (Result, error) {
	payload, err := base64.StdEncoding.DecodeString(a.Result)
	outcome := outcomeOf(a.Outcome)
	receipt := inbound.RuntimeReceipt{Command: subject.Command, Ref: subject.Ref, Outcome: outcome, Result: inbound.ResultDigest(subject.Profile, payload)}
	sum := receipt.Digest(subject.Profile)
	fault := ""
	switch {
	case a.Command != subject.Command.String() || a.ExecutionRef != subject.Ref.String():
		fault = "it is of another command or execution reference"
	case outcome == 0:
		fault = "it has no outcome"
	case err != nil || len(payload) > ledger.MaxPayload:
		fault = "its result is no base64, or too long"
	case sum.IsZero() || a.ResultDigest != receipt.Result.String() || a.Receipt != sum.String():
		fault = "its digests are not those of what it carries"
	}
	if fault != "" {
		return Result{}, facts.UnknownOutcome(doing, errors.Newf("the application's answer proves nothing: %s", fault))
	}
	if len(a.Outbound) > 0 {
		return Result{}, facts.Refuse(facts.RemoteIntentsRefused, subject.execution(), "%d of them", len(a.Outbound))
	}
	return Result{Receipt: receipt, Payload: payload}, nil
}

func outcomeOf(text string) Outcome {
	for _, outcome := range []Outcome{Applied, Noop, Rejected, machines.ApplicationResultFailed} {
		if outcome.String() == text {
			return outcome
		}
	}
	return 0
}
