package ingress

import (
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"connectorcore/engine/pack"
	"connectorcore/facts"
)

// part is a piece of signed content: a literal text, or the name of what is filled in.
type part struct {
	text string
	hole bool
}

// partsOf takes a template apart that the pack's compiler found sound.
func partsOf(template string) []part {
	var parts []part
	for template != "" {
		before, rest, opened := strings.Cut(template, "{")
		if before != "" {
			parts = append(parts, part{text: before})
		}
		hole, after, closed := strings.Cut(rest, "}")
		if opened && closed {
			parts = append(parts, part{text: hole, hole: true})
		}
		template = after
	}
	return parts
}

func (s scheme) signs(hole string) bool { return slices.Contains(s.parts, part{hole, true}) }

// unsound says why a scheme proves nothing about the body. A digest of the body stands for it only where the digest
// itself is signed, which is more than the compiler asks.
func (s scheme) unsound() string {
	digest := s.BodyDigest
	switch {
	case s.signs("body") || s.signs("form") || digest != nil && s.signs("body_digest"):
		return ""
	case digest != nil && digest.Query != "" && s.signs("url"):
		return ""
	case digest != nil && digest.Header != "" && s.signs("header:"+digest.Header):
		return ""
	}
	return "the content that it signs holds neither the body nor a digest of it"
}

// claim is what a request says of its signature under a scheme.
type claim struct {
	signatures [][]byte
	timestamp  string
	id         string
	digest     string // of the body, as it is spelled
	form       string
}

// read takes the claim out of a request, or says why there is none. Everything but the comparison is decided here.
func (s scheme) read(request Request, now time.Time) (claim, string) {
	c, timestamps, fault := s.signatures(request)
	if fault != "" {
		return claim{}, fault
	}
	if t := s.Timestamp; t != nil {
		if t.Header != "" {
			timestamps = request.values(t.Header)
		}
		if fault := timely(t, timestamps, now); fault != "" {
			return claim{}, fault
		}
		c.timestamp = timestamps[0]
	}
	if s.signs("id") {
		ids := request.values(s.IDHeader)
		if len(ids) != 1 || ids[0] == "" || strings.Contains(ids[0], s.after("id")) {
			// An id that holds the text behind it could take a piece of the body for its own end.
			return claim{}, "the header of the id is missing, stands twice, or holds what separates it"
		}
		c.id = ids[0]
	}
	if s.BodyDigest != nil {
		if c.digest, fault = s.digested(request); fault != "" {
			return claim{}, fault
		}
	}
	if s.signs("form") {
		var ok bool
		if c.form, ok = sortedForm(string(request.Body)); !ok {
			return claim{}, "the body is no form"
		}
	}
	return c, ""
}

// after is the literal text behind a hole; one that no value can hold if there is none.
func (s scheme) after(hole string) string {
	at := slices.Index(s.parts, part{hole, true})
	if at+1 < len(s.parts) && !s.parts[at+1].hole {
		return s.parts[at+1].text
	}
	return "\n"
}

// signatures reads the signature's header: one value, or a list of tagged ones of which only some count.
func (s scheme) signatures(request Request) (c claim, timestamps []string, fault string) {
	lines := request.values(s.Header)
	if len(lines) == 0 {
		return c, nil, "the header is missing"
	}
	values := lines
	if s.List != nil {
		values = nil
		for _, line := range lines {
			for item := range strings.SplitSeq(line, s.List.Separator) {
				tag, value, tagged := strings.Cut(strings.Trim(item, " \t"), s.List.TagSeparator)
				switch {
				case !tagged:
				case tag == s.List.TimestampTag:
					timestamps = append(timestamps, value)
				case slices.Contains(s.List.Accept, tag):
					values = append(values, value)
				}
			}
		}
	} else if len(lines) > 1 {
		return c, nil, "the header stands twice"
	}
	if len(values) > signaturesMax {
		return c, nil, fmt.Sprintf("it holds more than %d signatures", signaturesMax)
	}
	read := unhex
	if s.Encoding == "base64" {
		read = unbase64
	}
	for _, value := range values {
		encoded, begins := strings.CutPrefix(value, s.Prefix)
		if raw, ok := read([]byte(encoded)); begins && ok && len(raw) > 0 {
			c.signatures = append(c.signatures, raw)
		}
	}
	if len(c.signatures) == 0 {
		return c, nil, "it holds no signature of this scheme"
	}
	return c, timestamps, ""
}

// timely checks the moment of signing against ours, on both sides: a signature from the future would never grow old.
func timely(t *pack.Timestamp, raw []string, now time.Time) string {
	if len(raw) != 1 {
		return "the timestamp is missing or stands twice"
	}
	format, err := facts.ParseTimeFormat(t.Format)
	if err != nil {
		return "its scheme names no time format"
	}
	signed, err := facts.ParseTimePosition(format, raw[0])
	if err != nil {
		return "the timestamp is no " + t.Format
	}
	for side, sign := range map[string]int64{"past": -1, "future": 1} {
		bound := now.Add(time.Duration(sign*t.Tolerance) * time.Second)
		limit, err := facts.ParseTimePosition(facts.UnixNanos, strconv.FormatInt(bound.UnixNano(), 10))
		if err != nil {
			return "the clock gives no time"
		}
		if order, err := signed.Compare(limit); err != nil || int64(order) == sign {
			return fmt.Sprintf("the timestamp is more than %d seconds in the %s", t.Tolerance, side)
		}
	}
	return ""
}

// urls are the addresses that the sender may have signed.
func (s scheme) urls(raw string) []string {
	all := []string{raw}
	if s.Ports != "with_or_without" || !s.signs("url") {
		return all
	}
	parsed, err := url.Parse(raw)
	if err != nil {
		return all
	}
	standard := map[string]string{"https": ":443", "http": ":80"}[parsed.Scheme]
	head, port := parsed.Scheme+"://", parsed.Port()
	rest, begins := strings.CutPrefix(raw, head+parsed.Host)
	if !begins || standard == "" {
		return all
	}
	if port != "" {
		return append(all, head+strings.TrimSuffix(parsed.Host, ":"+port)+rest)
	}
	return append(all, head+parsed.Host+standard+rest)
}

// content is what was signed, in pieces.
func (s scheme) content(request Request, c claim, url string, key []byte) [][]byte {
	pieces := make([][]byte, 0, len(s.parts))
	for _, p := range s.parts {
		var piece []byte
		name, header := strings.CutPrefix(p.text, "header:")
		switch {
		case !p.hole:
			piece = []byte(p.text)
		case header:
			piece = []byte(strings.Join(request.values(name), ", "))
		case p.text == "body":
			piece = request.Body
		case p.text == "secret":
			piece = key
		default:
			piece = []byte(map[string]string{"timestamp": c.timestamp, "id": c.id, "url": url, "method": request.Method,
				"form": c.form, "body_digest": c.digest}[p.text])
		}
		pieces = append(pieces, piece)
	}
	return pieces
}

// sortedForm is a form's names and values without anything between them, sorted by name and then by value.
func sortedForm(body string) (string, bool) {
	var pairs [][2]string
	for field := range strings.SplitSeq(body, "&") {
		if field == "" {
			continue
		}
		name, value, _ := strings.Cut(field, "=")
		name, badName := url.QueryUnescape(name)
		value, badValue := url.QueryUnescape(value)
		if badName != nil || badValue != nil {
			return "", false
		}
		pairs = append(pairs, [2]string{name, value})
	}
	slices.SortFunc(pairs, func(a, b [2]string) int {
		return strings.Compare(a[0]+"\x00"+a[1], b[0]+"\x00"+b[1])
	})
	var text strings.Builder
	for _, pair := range pairs {
		text.WriteString(pair[0] + pair[1])
	}
	return text.String(), true
}

// digested checks the digest of the body that a request carries, and gives it as it is spelled.
func (s scheme) digested(request Request) (string, string) {
	d := s.BodyDigest
	spelled := request.values(d.Header)
	if d.Query != "" {
		_, query, _ := strings.Cut(request.URL, "?")
		values, err := url.ParseQuery(query)
		if err != nil {
			return "", "the address cannot be read"
		}
		spelled = values[d.Query]
	}
	if len(spelled) != 1 {
		return "", "the digest of the body is missing or stands twice"
	}
	sum256, sum512 := sha256.Sum256(request.Body), sha512.Sum512(request.Body)
	want := sum256[:]
	if d.Algorithm == "sha512" {
		want = sum512[:]
	}
	var got []byte
	ok := false
	switch d.Form {
	case "structured":
		got, ok = structured(spelled[0], map[string]string{"sha256": "sha-256", "sha512": "sha-512"}[d.Algorithm])
	case "base64":
		got, ok = unbase64([]byte(spelled[0]))
	default:
		got, ok = unhex([]byte(spelled[0]))
	}
	if !ok || subtle.ConstantTimeCompare(got, want) != 1 {
		return "", "the digest is not that of the body"
	}
	return spelled[0], ""
}

// structured takes one digest out of a dictionary of byte sequences: "sha-256=:...:, sha-512=:...:".
func structured(text, algorithm string) ([]byte, bool) {
	var found []byte
	times := 0
	for item := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.Trim(item, " \t"), "=")
		if name != algorithm {
			continue
		}
		times++
		inner, begins := strings.CutPrefix(value, ":")
		inner, ends := strings.CutSuffix(inner, ":")
		raw, ok := unbase64([]byte(inner))
		if !begins || !ends || !ok {
			return nil, false
		}
		found = raw
	}
	return found, times == 1
}
