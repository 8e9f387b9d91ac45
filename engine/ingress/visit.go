package ingress

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/errors"

	"connectorcore/engine/pack"
	"connectorcore/engine/platform"
	"connectorcore/facts"
)

// visit is one request on its way through the door.
type visit struct {
	door    *Door
	w       http.ResponseWriter
	r       *http.Request
	account facts.AccountID
	channel facts.Channel
	body    []byte
	whole   bool  // the body was read
	taken   int64 // of the budget of bodies
}

// contained answers, whatever happens. What panicked may have been an admission, so its outcome is unknown; the value
// of a panic may hold a payload, so the log gets its type and where it was.
func (v *visit) contained() (a answer) {
	defer func() {
		if broken := recover(); broken != nil {
			a = problem(http.StatusServiceUnavailable, unavailable, "the delivery cannot be admitted now; send it again")
			a.failure = errors.AssertionFailedf("a panic of type %T while a delivery was handled: %s", broken, errors.Safe(debug.Stack()))
		}
	}()
	return v.answer()
}

// answer is the whole way of a delivery. It is prepared again from the start if the gate or the epoch moved between its
// opening and its admission (R11): another epoch may hold another channel and other secrets.
func (v *visit) answer() answer {
	if !v.addressed() {
		return failed(facts.Refuse(facts.SubjectMissing, facts.OfInput("path"), ""))
	}
	ctx := v.r.Context()
	opening, err := v.open(ctx)
	for nth := range prepareMax {
		if err != nil {
			return failed(err)
		}
		if a, done := v.receive(opening); done {
			return a
		}
		if nth == 0 {
			// From here on it makes no difference whether the sender still listens: what it sent is admitted.
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), admitWait)
			defer cancel()
		}
		a, stale := v.admit(ctx, opening)
		if !stale {
			return a
		}
		opening, err = v.open(ctx)
	}
	return failed(facts.Refuse(facts.StaleFence, facts.OfAccount(v.account), ""))
}

// addressed reads the path. It is not left to a mux, which would answer an odd path with a redirect.
func (v *visit) addressed() bool {
	segments := strings.Split(v.r.URL.EscapedPath(), "/")
	if len(segments) != 4 || segments[0] != "" || segments[1] != "in" {
		return false
	}
	account, badAccount := facts.ParseID[facts.AccountID](segments[2])
	name, badName := url.PathUnescape(segments[3])
	channel, badChannel := facts.ParseKey[facts.Channel](name)
	v.account, v.channel = account, channel
	return badAccount == nil && badName == nil && badChannel == nil
}

func (v *visit) open(ctx context.Context) (Opening, error) {
	ctx, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	opening, err := v.door.options.Directory.Open(ctx, v.account, v.channel)
	if err != nil {
		return Opening{}, err
	}
	if opening.Channel == nil || opening.Limits.BodyMaxBytes == 0 {
		return Opening{}, errors.AssertionFailedf("the directory opened channel %s of account %s without its definition or limits", v.channel, v.account)
	}
	return opening, nil
}

// receive takes what the channel takes: its method, its media types, a body within its limits. It answers what is
// something else. The body is read once; a second opening judges the bytes that are there.
func (v *visit) receive(opening Opening) (answer, bool) {
	channel := opening.Channel
	if v.r.Method == http.MethodOptions {
		if a, greeted := greetOptions(channel, v.r.Header); greeted {
			return a, true
		}
	}
	if v.r.Method != channel.Method {
		a := failed(facts.Refuse(facts.MethodNotAllowed, facts.OfInput("method"), "the channel takes %s", channel.Method))
		a.header.Set("Allow", allowed(channel))
		return a, true
	}
	if coding := v.r.Header.Values("Content-Encoding"); len(coding) > 1 || len(coding) == 1 && !strings.EqualFold(coding[0], "identity") {
		// The signature and the digest are over the bytes as received, and a decoder would be one more way to read them.
		a := failed(facts.Refuse(facts.MediaTypeUnsupported, facts.OfInput("header content-encoding"), "a body comes as it is"))
		a.header.Set("Accept-Encoding", "identity")
		return a, true
	}
	if !takes(channel.ContentTypes, v.r.Header.Values("Content-Type")) {
		return failed(facts.Refuse(facts.MediaTypeUnsupported, facts.OfInput("header content-type"),
			"the channel takes %s", strings.Join(channel.ContentTypes, ", "))), true
	}
	limit := min(channel.Limits.BodyBytes, int64(min(opening.Limits.BodyMaxBytes, bodiesMaxBytes)))
	if !v.whole {
		var err error
		v.body, v.taken, err = readBody(v.w, v.r, limit, &v.door.bodies)
		if err != nil {
			a := failed(err)
			if errors.Is(err, errBodyStill) {
				a.status = http.StatusRequestTimeout
			}
			return a, true
		}
		v.whole = true
	}
	if int64(len(v.body)) > limit {
		return failed(facts.Refuse(facts.BodyTooLarge, facts.OfInput("body"), "%d bytes, the channel takes %d now", len(v.body), limit)), true
	}
	return answer{}, false
}

// takes tells whether the media type of a request is one of a list; an empty list takes every one. Parameters have no
// say: the bytes are what they are.
func takes(types, headers []string) bool {
	if len(types) == 0 {
		return true
	}
	if len(headers) != 1 {
		return false
	}
	name, _, _ := strings.Cut(headers[0], ";")
	is := func(want string) bool { return strings.EqualFold(strings.Trim(name, " \t"), want) }
	return slices.ContainsFunc(types, is)
}

// admit proves the sender and hands the delivery on. Stale means that the gate or the epoch moved since the opening.
func (v *visit) admit(ctx context.Context, opening Opening) (a answer, stale bool) {
	channel, request := opening.Channel, v.request()
	delivery := Delivery{Account: v.account, Premise: opening.Premise, Channel: v.channel, Body: v.body, Header: unproving(channel, request.Header)}
	if len(channel.Signatures) > 0 {
		member, err := v.verify(ctx, opening, request)
		if err != nil {
			return failed(err), false
		}
		delivery.Credential, delivery.Member = opening.Credential.Generation, member
	}
	if a, greeted := greetEcho(channel, v.body); greeted {
		return a, false
	}
	reading := channel.Read(pack.Delivery{Header: lines(request.Header), Body: v.body})
	key, err := reading.TransportKey()
	if err != nil {
		return unnamed(err), false
	}
	delivery.Key = key
	for _, line := range reading.Identity() {
		delivery.Identity = append(delivery.Identity, facts.HeaderLine(line))
	}
	delivery.Content = v.door.author.AdmittedContent(reading.Admitted(), delivery.Identity)
	if delivery.Content.IsZero() {
		return failed(errors.AssertionFailedf("an admitted content has no digest")), false
	}
	admitted, err := v.door.options.Admitter.Admit(ctx, delivery)
	switch {
	case errors.Is(err, facts.StaleFence), errors.Is(err, facts.EpochMismatch):
		return answer{}, true
	case err != nil:
		return failed(err), false
	case admitted.Receipt.IsZero():
		return failed(errors.AssertionFailedf("an admission named no receipt")), false
	}
	return received(admitted), false
}

// verify proves the sender with the secrets of the opening's exact credential generation.
func (v *visit) verify(ctx context.Context, opening Opening, request Request) (platform.SecretKey, error) {
	at := opening.Credential
	if at == nil {
		return platform.SecretKey{}, facts.Refuse(facts.GenerationMalformed, facts.OfInput("channel "+v.channel.String()),
			"it has signatures, and the account maps no credential generation to verify them")
	}
	set, release, err := v.door.secrets.hold(ctx, at.Backend, at.Version)
	if err != nil {
		return platform.SecretKey{}, err
	}
	defer release()
	return Verify(opening.Channel, set, request, v.door.options.Clock)
}

// unnamed is the answer to a delivery that carries no canonical transport key. Without one a redelivery could not be
// recognised, so it cannot be admitted.
func unnamed(err error) answer {
	var refusal *facts.Refusal
	if !errors.As(err, &refusal) {
		return failed(err)
	}
	if _, known := statuses[refusal.Code]; known {
		return failed(err)
	}
	return refused(http.StatusBadRequest, refusal)
}

// request is the delivery with its header in the order of the names. A host is no header line to the library, and may be
// signed as one.
func (v *visit) request() Request {
	request := Request{Method: v.r.Method, URL: v.address(), Body: v.body}
	header := maps.Clone(v.r.Header)
	header["Host"] = []string{v.r.Host}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			request.Header = append(request.Header, facts.HeaderLine{Name: strings.ToLower(name), Value: value})
		}
	}
	return request
}

// address is the request's address as its sender wrote it.
func (v *visit) address() string {
	origin := v.door.options.Origin
	if origin == "" {
		origin = "http://" + v.r.Host
		if v.r.TLS != nil {
			origin = "https://" + v.r.Host
		}
	}
	if target := v.r.RequestURI; strings.HasPrefix(target, "/") {
		return origin + target
	}
	return origin + v.r.URL.RequestURI()
}

// secretHeaders authorise somebody and are kept nowhere.
var secretHeaders = []string{"authorization", "proxy-authorization", "cookie"}

// unproving is a header without the lines that prove the sender: they change with each redelivery (R18), or are secret.
func unproving(channel *pack.Channel, header []facts.HeaderLine) []facts.HeaderLine {
	proving := slices.Clone(secretHeaders)
	for _, s := range channel.Signatures {
		proving = append(proving, s.Header)
		if s.Timestamp != nil {
			proving = append(proving, s.Timestamp.Header)
		}
	}
	var kept []facts.HeaderLine
	for _, line := range header {
		if !slices.Contains(proving, line.Name) {
			kept = append(kept, line)
		}
	}
	return kept
}

func lines(header []facts.HeaderLine) []pack.Line {
	all := make([]pack.Line, len(header))
	for i, line := range header {
		all[i] = pack.Line(line)
	}
	return all
}

// log tells the operator about an answer: what was ours or nobody's fault loudly, what a stranger can cause quietly.
func (v *visit) log(a answer, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case errors.HasAssertionFailure(a.failure):
		level = slog.LevelError
	case a.outcome == unavailableOutcome || a.outcome == conflictOutcome:
		level = slog.LevelWarn
	case a.code == "":
		level = slog.LevelDebug
	}
	fields := []slog.Attr{slog.Int("status", a.status), slog.String("outcome", a.outcome), slog.Duration("took", took)}
	if !v.account.IsZero() && !v.channel.IsZero() {
		fields = append(fields, slog.String("account", v.account.String()), slog.String("channel", v.channel.String()))
	}
	for _, field := range []struct{ name, text string }{{"code", a.code}, {"about", a.about}, {"detail", a.detail}} {
		if field.text != "" {
			fields = append(fields, slog.String(field.name, field.text))
		}
	}
	if !a.receipt.IsZero() {
		fields = append(fields, slog.String("receipt", a.receipt.String()))
	}
	if a.failure != nil {
		// A store's own words may repeat a key that it was given; redacted, they cannot.
		fields = append(fields, slog.String("failure", errors.Redact(a.failure)))
	}
	v.door.options.Log.LogAttrs(context.WithoutCancel(v.r.Context()), level, "delivery", fields...)
}
