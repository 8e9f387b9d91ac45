package ingress

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json/jsontext"

	"connectorcore/facts"
)

// The outcomes of a request, which are labels of metrics and never change.
const (
	acceptedOutcome    = "accepted"
	duplicateOutcome   = "duplicate"
	conflictOutcome    = "conflict"
	rejectedOutcome    = "rejected"
	unavailableOutcome = "unavailable"
	handshakeOutcome   = "handshake"
)

// The words of problems that no refusal names.
const (
	outcomeUnknown = "outcome_unknown"
	unavailable    = "unavailable"
)

// answer is what a request is answered with, and what the operator is told of it.
type answer struct {
	status  int
	outcome string
	header  http.Header
	body    []byte

	code    string // of the problem; empty for none
	about   string // where it is, for the log
	detail  string // what it is, for the log: words of ours or of an owner, with nothing of the request in them
	failure error  // what was no refusal, for the log
	receipt facts.ReceiptID
}

// statuses say what the sender of a delivery is told by its refusal. Every other code is none of its business: it comes
// again later.
var statuses = map[facts.Code]int{
	facts.SubjectMissing:       http.StatusNotFound,
	facts.MethodNotAllowed:     http.StatusMethodNotAllowed,
	facts.MediaTypeUnsupported: http.StatusUnsupportedMediaType,
	facts.BodyIncomplete:       http.StatusBadRequest,
	facts.BodyTooLarge:         http.StatusRequestEntityTooLarge,
	facts.BatchTooLarge:        http.StatusRequestEntityTooLarge,
	facts.SignatureInvalid:     http.StatusUnauthorized,
	facts.Revoked:              http.StatusUnauthorized,
	facts.ContentDiffers:       http.StatusConflict,
	facts.AccountBusy:          http.StatusTooManyRequests,
}

// ownWords are the codes whose detail holds nothing of a request.
var ownWords = map[facts.Code]bool{
	facts.SignatureInvalid: true, facts.SecretUnusable: true, facts.OwnerUnavailable: true, facts.GenerationMalformed: true,
	facts.BodyTooLarge: true, facts.BodyIncomplete: true, facts.MediaTypeUnsupported: true, facts.MethodNotAllowed: true,
}

// refused is the answer to a refusal under a status.
func refused(status int, refusal *facts.Refusal) answer {
	a := problem(status, refusal.Code.String(), refusal.Code.Reason().Meaning)
	a.about = refusal.Subject.String()
	if ownWords[refusal.Code] {
		a.detail = refusal.Detail
	}
	return a
}

// failed is the answer to an error of whatever class.
func failed(err error) answer {
	var refusal *facts.Refusal
	switch {
	case errors.As(err, &refusal):
		status, known := statuses[refusal.Code]
		if !known {
			status = http.StatusServiceUnavailable
		}
		a := refused(status, refusal)
		a.retryAfter(err)
		return a
	case errors.Is(err, facts.ErrOutcomeUnknown), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		a := problem(http.StatusServiceUnavailable, outcomeUnknown, "the delivery may or may not have been admitted; send it again")
		a.failure = err
		a.retryAfter(err)
		return a
	default:
		a := problem(http.StatusServiceUnavailable, unavailable, "the delivery cannot be admitted now; send it again")
		a.failure = err
		a.retryAfter(err)
		return a
	}
}

// problem is a problem document of RFC 9457.
func problem(status int, code, title string) answer {
	a := answer{status: status, outcome: rejectedOutcome, code: code, header: http.Header{}}
	a.header.Set("Content-Type", "application/problem+json")
	switch status {
	case http.StatusUnauthorized:
		a.header.Set("WWW-Authenticate", "Signature")
	case http.StatusConflict:
		a.outcome = conflictOutcome
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		a.outcome = unavailableOutcome
		a.header.Set("Retry-After", strconv.Itoa(retryAfterSeconds))
	}
	a.body = object(member{"type", "urn:connectorcore:problem:" + code}, member{"title", title},
		member{"status", strconv.Itoa(status)}, member{"code", code})
	return a
}

// The bounds of Retry-After, in seconds. A sender that is told nothing better comes again after the first.
const (
	retryAfterSeconds    = 30
	retryAfterMaxSeconds = 3600
)

// retryAfter heeds an error that knows better when to come again.
func (a *answer) retryAfter(err error) {
	var hint interface{ RetryAfter() time.Duration }
	if a.header.Get("Retry-After") == "" || !errors.As(err, &hint) {
		return
	}
	whole := int64((hint.RetryAfter() + time.Second - 1) / time.Second)
	a.header.Set("Retry-After", strconv.FormatInt(min(max(whole, 1), retryAfterMaxSeconds), 10))
}

// received is the answer to a delivery that stands in the store, with the same body for a duplicate.
func received(admitted Admitted) answer {
	a := answer{status: http.StatusAccepted, outcome: acceptedOutcome, receipt: admitted.Receipt}
	if !admitted.New {
		a.status, a.outcome = http.StatusOK, duplicateOutcome
	}
	a.body = object(member{"receipt", admitted.Receipt.String()})
	return a
}

type member struct{ name, value string }

// object writes a JSON object; the member status is a number.
func object(members ...member) []byte {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendText(out, m.name), ':')
		if m.name == "status" {
			out = append(out, m.value...)
			continue
		}
		out = appendText(out, m.value)
	}
	return append(out, '}', '\n')
}

// appendText writes a JSON text. What is no UTF-8 is replaced; nothing of that kind gets here from strict JSON.
func appendText(out []byte, text string) []byte {
	quoted, err := jsontext.AppendQuote(out, text)
	if err != nil && len(quoted) == len(out) {
		return append(out, '"', '"')
	}
	return quoted
}

// write sends the answer. That its reader has gone is no failure: what was admitted stays admitted.
func (a answer) write(w http.ResponseWriter) {
	header := w.Header()
	for name, values := range a.header {
		header[name] = values
	}
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	if len(a.body) > 0 && header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	header.Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}
