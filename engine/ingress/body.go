package ingress

import (
	"io"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/cockroachdb/errors"

	"connectorcore/facts"
)

// bodyBudget bounds the bytes of all bodies that are held at a time. A sender takes no more of it than it has sent, give
// or take a doubling, so that a slow one cannot reserve what it does not use.
type bodyBudget struct {
	left atomic.Int64
}

func (b *bodyBudget) take(bytes int64) bool {
	if b.left.Add(-bytes) >= 0 {
		return true
	}
	b.left.Add(bytes)
	return false
}

func (b *bodyBudget) give(bytes int64) { b.left.Add(bytes) }

const bodyChunk = 16 << 10

// errBodyStill marks a body that stood still until its time was over.
var errBodyStill = errors.New("a body stood still")

// readBody takes the whole body, at most limit bytes, whatever the request says of its length. The bytes that it took of
// the budget are given back by the caller.
//
// Refuses: BodyTooLarge, BodyIncomplete, AccountBusy.
func readBody(w http.ResponseWriter, r *http.Request, limit int64, budget *bodyBudget) (body []byte, taken int64, err error) {
	tooLarge := func() error {
		return facts.Refuse(facts.BodyTooLarge, facts.OfInput("body"), "it is larger than %d bytes", limit)
	}
	if r.ContentLength > limit {
		return nil, 0, tooLarge()
	}
	source := http.MaxBytesReader(w, r.Body, limit)
	for {
		if len(body) == cap(body) {
			size := min(max(bodyChunk, 2*int64(cap(body))), limit+1)
			if !budget.take(size - taken) {
				return nil, taken, facts.Refuse(facts.AccountBusy, facts.OfInput("body"), "the bodies of running requests fill their budget")
			}
			body = append(make([]byte, 0, size), body...)
			taken = size
		}
		n, err := source.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		var overrun *http.MaxBytesError
		switch {
		case err == nil:
		case err == io.EOF:
			return body, taken, nil
		case errors.As(err, &overrun):
			return nil, taken, tooLarge()
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, taken, errors.Mark(facts.Refuse(facts.BodyIncomplete, facts.OfInput("body"), "it stood still for too long"), errBodyStill)
		default:
			return nil, taken, facts.Refuse(facts.BodyIncomplete, facts.OfInput("body"), "it ended before its end")
		}
	}
}
