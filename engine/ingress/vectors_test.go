package ingress

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/errors"

	"connectorcore/engine/pack"
	"connectorcore/engine/pack/form"
	"connectorcore/engine/platform"
	"connectorcore/facts"
)

// vectors is testdata/vectors.json: published requests with what must become of them, and the schemes that they are
// signed by, as a pack spells them.
type vectors struct {
	Schemes map[string]string `json:"schemes"`
	Vectors []vector          `json:"vectors"`
}

type vector struct {
	ID       string      `json:"id"`
	Scheme   string      `json:"scheme"`
	Secret   string      `json:"secret"`
	Method   string      `json:"method"`
	URL      string      `json:"url"`
	Header   [][2]string `json:"header"`
	Body     string      `json:"body"`
	At       int64       `json:"at"`
	Accepted bool        `json:"accepted"`
}

func published(t testing.TB) vectors {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	must(t, err)
	var all vectors
	must(t, json.Unmarshal(raw, &all))
	return all
}

// signed is a channel with these schemes, each as a pack spells it.
func signed(t testing.TB, schemes ...string) *pack.Channel {
	t.Helper()
	channel := &pack.Channel{}
	for _, text := range schemes {
		report, scheme := &form.Report{}, pack.Signature{}
		node := form.ReadYAML("scheme", []byte(text), report)
		must(t, report.Err())
		form.Decode(node, &scheme, report)
		must(t, report.Err())
		channel.Signatures = append(channel.Signatures, scheme)
	}
	return channel
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func key[T facts.AnyKey](t testing.TB, text string) T {
	t.Helper()
	made, err := facts.ParseKey[T](text)
	must(t, err)
	return made
}

// secrets is a set of these texts, whose members are named a, b, c and so on.
func secrets(t testing.TB, texts ...string) platform.SecretSet {
	t.Helper()
	var members []platform.SecretMember
	for i, text := range texts {
		members = append(members, platform.SecretMember{Name: key[platform.SecretKey](t, string(rune('a'+i))), Secret: platform.NewSecret([]byte(text))})
	}
	set, err := platform.NewSecretSet(members)
	must(t, err)
	return set
}

// fixedClock stands still.
type fixedClock struct{ at time.Time }

func (c fixedClock) Now() time.Time { return c.at }

func (c fixedClock) Alarm(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

func (v vector) request() Request {
	r := Request{Method: v.Method, URL: v.URL, Body: []byte(v.Body)}
	for _, line := range v.Header {
		r.Header = append(r.Header, facts.HeaderLine{Name: line[0], Value: line[1]})
	}
	return r
}

func (v vector) verify(t testing.TB, scheme string, request Request, at time.Time) error {
	t.Helper()
	set := platform.SecretSet{}
	if v.Secret != "" {
		set = secrets(t, "a-different-secret-that-comes-first", v.Secret)
		if strings.Contains(scheme, "encoding: base64}}") {
			set = secrets(t, v.Secret) // a text that is no key would spoil the set
		}
	}
	_, err := Verify(signed(t, scheme), set, request, fixedClock{at})
	return err
}

func TestEveryPublishedVectorIsVerifiedOrRefusedAsItSays(t *testing.T) {
	all := published(t)
	accepted := 0
	for _, v := range all.Vectors {
		err := v.verify(t, all.Schemes[v.Scheme], v.request(), time.Unix(v.At, 0))
		if (err == nil) != v.Accepted {
			t.Errorf("%s: accepted %v: %v", v.ID, v.Accepted, err)
		}
		want := facts.SignatureInvalid
		if v.Secret == "" {
			want = facts.SecretUnusable
		}
		if !v.Accepted && !errors.Is(err, want) {
			t.Errorf("%s was refused by %v, want %s", v.ID, err, want)
		}
		if v.Accepted {
			accepted++
		}
	}
	if accepted < 20 || len(all.Vectors) < 35 {
		t.Errorf("%d vectors, %d of them accepted: some were lost", len(all.Vectors), accepted)
	}
}

// What was verified is every byte of every part: whatever is changed, the same signature is refused.
func TestNoPublishedVectorSurvivesAChange(t *testing.T) {
	all := published(t)
	for _, v := range all.Vectors {
		if !v.Accepted {
			continue
		}
		scheme, at := all.Schemes[v.Scheme], time.Unix(v.At, 0)
		changes := map[string]func(*Request){
			"body with a line feed": func(r *Request) { r.Body = append(slices.Clone(r.Body), '\n') },
			"body cut":              func(r *Request) { r.Body = r.Body[:max(0, len(r.Body)-1)] },
			"no header":             func(r *Request) { r.Header = nil },
		}
		for i, line := range v.Header {
			changes["header "+line[0]+" cut"] = func(r *Request) { r.Header[i].Value = line[1][:len(line[1])-1] }
			changes["header "+line[0]+" missing"] = func(r *Request) { r.Header = slices.Delete(r.Header, i, i+1) }
			changes["header "+line[0]+" empty"] = func(r *Request) { r.Header[i].Value = "" }
			changes["header "+line[0]+" twice"] = func(r *Request) { r.Header = append(r.Header, r.Header[i]) }
		}
		if strings.Contains(scheme, "{url}") {
			changes["another address"] = func(r *Request) { r.URL += "x" }
		}
		if strings.Contains(scheme, "{method}") {
			changes["another method"] = func(r *Request) { r.Method = "PUT" }
		}
		for name, change := range changes {
			request := v.request()
			change(&request)
			if name == "body cut" && len(v.Body) == 0 || name == "header webhook-signature twice" || name == "header x-signature twice" && v.Scheme == "list-with-time" {
				continue // nothing was cut; a list may come in two lines
			}
			if err := v.verify(t, scheme, request, at); !errors.Is(err, facts.SignatureInvalid) {
				t.Errorf("%s with %s: %v", v.ID, name, err)
			}
		}
	}
}

// The collection that the vectors were taken from may have grown or been corrected. Where it stands beside the
// repository, ours says the same.
func TestVectorsSayWhatTheirSourceSays(t *testing.T) {
	raw, err := os.ReadFile("../../../shared/cases/vectors.json")
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	must(t, err)
	var source struct {
		Signatures []struct {
			ID, Secret, Body, Expect, Timestamp, URL, Base, Public string
			Value                                                  string            `json:"header_value"`
			MessageID                                              string            `json:"msg_id"`
			Key                                                    string            `json:"secret_base64"`
			Info                                                   string            `json:"public_spki"`
			Params                                                 map[string]string `json:"params"`
		} `json:"signatures"`
	}
	must(t, json.Unmarshal(raw, &source))
	ours := map[string]vector{}
	for _, v := range published(t).Vectors {
		ours[v.ID] = v
	}
	for _, s := range source.Signatures {
		v, known := ours[s.ID]
		whole := v.Secret + "\n" + v.Body + "\n" + v.URL
		for _, line := range v.Header {
			whole += "\n" + line[1]
		}
		secret := s.Secret
		for _, other := range []string{s.Public, s.Key, s.Info} {
			if other != "" {
				secret = other
			}
		}
		value, rejected := s.Expect, strings.HasPrefix(s.Expect, "reject")
		if rejected {
			value = s.Value
		}
		for _, part := range []string{secret, s.Body, s.Base, s.URL, s.Timestamp, s.MessageID, value} {
			if !strings.Contains(whole, part) {
				t.Errorf("%s: %q of the source is not in ours", s.ID, part)
			}
		}
		if !known || v.Accepted == rejected {
			t.Errorf("%s: known %v, accepted %v", s.ID, known, v.Accepted)
		}
	}
	if len(source.Signatures) == 0 {
		t.Error("the source holds no vector")
	}
}
