package bench

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// Load is what the process that sends is told, as JSON on its standard input.
type Load struct {
	Door     string            `json:"door"` // the daemon's host:port
	Workload string            `json:"workload"`
	N        int               `json:"n"`
	Seed     uint64            `json:"seed"`
	Accounts []facts.AccountID `json:"accounts"`
	Secret   []byte            `json:"secret"` // that signs; it lives as long as the run
}

// Sent is one request and its answer. It is what the sending process prints, as one JSON array.
type Sent struct {
	Delivery string `json:"delivery"`
	Again    bool   `json:"again"`    // a redelivery
	Began    int64  `json:"began"`    // microseconds of the epoch: the first try
	Answered int64  `json:"answered"` // the answer that counts
	Status   int    `json:"status"`
	Tries    int    `json:"tries"`
}

const (
	triesMax = 40
	retry    = 50 * time.Millisecond // between tries; a provider would wait longer
)

// Send sends the whole load, each sender one delivery after another, and gives what became of each.
func Send(ctx context.Context, load Load) ([]Sent, error) {
	w, err := Find(load.Workload)
	if err != nil {
		return nil, err
	}
	if len(load.Accounts) != w.Accounts {
		return nil, errors.AssertionFailedf("bench: %d accounts for a workload of %d", len(load.Accounts), w.Accounts)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders, DisableCompression: true}, Timeout: 30 * time.Second}
	defer client.CloseIdleConnections()
	var running sync.WaitGroup
	var sent [senders][]Sent
	var failed [senders]error
	for sender, all := range w.plan(load.N, load.Seed) {
		running.Go(func() {
			for _, d := range all {
				one, err := load.one(ctx, client, d)
				if err != nil {
					failed[sender] = err
					return
				}
				sent[sender] = append(sent[sender], one)
			}
		})
	}
	running.Wait()
	return slices.Concat(sent[:]...), errors.Join(failed[:]...)
}

// one sends one delivery until it is answered for good: accepted, or refused in a way that no other try changes.
func (load Load) one(ctx context.Context, client *http.Client, d delivery) (Sent, error) {
	raw, err := d.body(load.Accounts[d.account])
	if err != nil {
		return Sent{}, err
	}
	mac := hmac.New(sha256.New, load.Secret)
	_, _ = mac.Write(raw) // a hash never fails
	signature := hex.EncodeToString(mac.Sum(nil))
	clock := facts.SystemClock{}
	one := Sent{Delivery: name(d.number), Again: d.again, Began: clock.Now().UnixMicro()}
	for one.Tries < triesMax {
		one.Tries++
		one.Status, err = load.post(ctx, client, d, raw, signature)
		one.Answered = clock.Now().UnixMicro()
		if err == nil && one.Status != http.StatusTooManyRequests && one.Status < http.StatusInternalServerError {
			return one, nil
		}
		ring, stop := clock.Alarm(retry)
		select {
		case <-ring:
		case <-ctx.Done():
			stop()
			return one, ctx.Err()
		}
		stop()
	}
	if err == nil {
		err = errors.Newf("it was answered %d", one.Status)
	}
	return one, errors.Wrapf(err, "bench: delivery %s was not accepted in %d tries", one.Delivery, one.Tries)
}

func (load Load) post(ctx context.Context, client *http.Client, d delivery, raw []byte, signature string) (int, error) {
	address := "http://" + load.Door + "/in/" + load.Accounts[d.account].String() + "/deliveries"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(raw))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-W1-Delivery", name(d.number))
	request.Header.Set("X-W1-Signature", signature)
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16))
	return response.StatusCode, errors.CombineErrors(err, response.Body.Close())
}
