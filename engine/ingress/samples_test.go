package ingress

import (
	"bytes"
	"crypto/hmac"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectorcore/engine/pack"
	"connectorcore/engine/pack/form"
	"connectorcore/facts"
)

const packsFolder = "../../packs"

// sample is a request of a pack's samples.
type sample struct {
	Channel facts.Channel `pack:"channel,required"`
	Headers []struct {
		Name  string `pack:"name,required,as=header"`
		Value string `pack:"value,required,as=line"`
	} `pack:"headers,max=64"`
	Body string `pack:"body,required,as=line"`

	name string
	body []byte
}

func samplesOf(t testing.TB, folder string) []sample {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "samples", "*.request.yaml"))
	must(t, err)
	var all []sample
	for _, file := range files {
		raw, err := os.ReadFile(file)
		must(t, err)
		report, one := &form.Report{}, sample{name: filepath.Base(file)}
		form.Decode(form.ReadYAML(file, raw, report), &one, report)
		must(t, report.Err())
		one.body, err = os.ReadFile(filepath.Join(folder, "samples", filepath.Base(one.Body)))
		must(t, err)
		all = append(all, one)
	}
	return all
}

// sign adds to a request what a provider of this scheme adds. What the content is, the published vectors say.
func sign(scheme pack.Signature, secret, url string, r sent) sent {
	s := using(scheme)
	c := claim{timestamp: fmt.Sprint(facts.SystemClock{}.Now().Unix())}
	if scheme.Timestamp != nil && scheme.Timestamp.Format == "unix_millis" {
		c.timestamp += "000"
	}
	request := Request{Method: r.method, URL: url, Body: []byte(r.body)}
	content := s.content(request, c, url, []byte(secret))
	sum := hashes[scheme.Algorithm]()
	if strings.HasPrefix(scheme.Algorithm, "hmac-") {
		sum = hmac.New(hashes[scheme.Algorithm], []byte(secret))
	}
	sum.Write(bytes.Join(content, nil))
	value := hex.EncodeToString(sum.Sum(nil))
	if scheme.Encoding == "base64" {
		value = base64.StdEncoding.EncodeToString(sum.Sum(nil))
	}
	value = scheme.Prefix + value
	if list := scheme.List; list != nil {
		value = list.Accept[0] + list.TagSeparator + value
		if list.TimestampTag != "" {
			value = list.TimestampTag + list.TagSeparator + c.timestamp + list.Separator + value
		}
	}
	if scheme.Timestamp != nil && scheme.Timestamp.Header != "" {
		r = r.with(scheme.Timestamp.Header, c.timestamp)
	}
	return r.with(scheme.Header, value)
}

// using is a scheme without keys.
func using(signature pack.Signature) scheme {
	return scheme{Signature: &signature, parts: partsOf(signature.Content)}
}

// Every sample of every pack goes through the door: signed as its provider signs, redelivered, and with one byte changed.
func TestTheSamplesOfEveryPackGoThroughTheDoor(t *testing.T) {
	packs, err := os.ReadDir(packsFolder)
	must(t, err)
	tried := 0
	for _, entry := range packs {
		folder := filepath.Join(packsFolder, entry.Name())
		compiled, err := pack.Compile(os.DirFS(folder))
		must(t, err)
		s := opening(t, func(s *scene, o *Options) { o.Origin = "https://hooks.example.com" })
		for _, channel := range compiled.Channels() {
			s.channels[channel.Name.String()] = channel
		}
		all := samplesOf(t, folder)
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		receipts := map[string]string{}
		for _, one := range append(all, all...) {
			channel := s.channels[one.Channel.String()]
			for i, scheme := range channel.Signatures {
				tried += throughTheDoor(t, s, one, channel, scheme, i, receipts)
			}
		}
	}
	if tried < 40 {
		t.Errorf("%d deliveries were tried", tried)
	}
}

func throughTheDoor(t *testing.T, s *scene, one sample, channel *pack.Channel, scheme pack.Signature, nth int, receipts map[string]string) int {
	t.Helper()
	r := sent{channel.Method, "/in/" + s.account.String() + "/" + one.Channel.String(), string(one.body), http.Header{}}
	if len(channel.ContentTypes) > 0 {
		r = r.with("Content-Type", channel.ContentTypes[0])
	}
	for _, line := range one.Headers {
		r = r.with(line.Name, line.Value)
	}
	name := fmt.Sprintf("%s by scheme %d", one.name, nth)
	key, err := channel.Read(pack.Delivery{Header: lineList(one), Body: one.body}).TransportKey()
	got := s.send(sign(scheme, theSecret, "https://hooks.example.com"+r.path, r))
	if err != nil {
		if got.status != 400 {
			t.Errorf("%s, which has no key: %s", name, got.code())
		}
		return 1
	}
	want, known := receipts[key.String()]
	switch {
	case !known && got.status == 202:
		receipts[key.String()] = got.body
	case known && got.status == 200 && got.body == want:
	default:
		t.Errorf("%s: %s %s", name, got.code(), got.body)
	}
	changed := r
	changed.body = strings.Replace(r.body, ":", ": ", 1)
	signedBefore := sign(scheme, theSecret, "https://hooks.example.com"+r.path, r)
	signedBefore.body = changed.body
	if got := s.send(signedBefore).code(); got != "401 signature_invalid" {
		t.Errorf("%s with one byte more under the old signature: %s", name, got)
	}
	again := s.send(sign(scheme, theSecret, "https://hooks.example.com"+r.path, changed))
	if other, err := channel.Read(pack.Delivery{Header: lineList(one), Body: []byte(changed.body)}).TransportKey(); err == nil && other == key && again.code() != "409 content_differs" {
		t.Errorf("%s with one byte more, signed: %s", name, again.code())
	}
	return 3
}

func lineList(one sample) []pack.Line {
	var all []pack.Line
	for _, line := range one.Headers {
		all = append(all, pack.Line{Name: line.Name, Value: line.Value})
	}
	return all
}
