package provider

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // providers still sign with it, and the pack says so
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"time"

	"connectorcore/engine/pack"

	"github.com/cockroachdb/errors"
)

var hashes = map[string]func() hash.Hash{"hmac-sha1": sha1.New, "hmac-sha256": sha256.New, "hmac-sha512": sha512.New, "sha256": sha256.New}

// Request is a delivery as it goes over the wire to an address: with its media type, and signed by the channel's first
// scheme if the channel has one.
//
// It fails for schemes of public keys and for those that sign a digest or an id, which no pack of this tree has.
func Request(channel *pack.Channel, secret []byte, address string, d Delivery, now time.Time) (*http.Request, error) {
	request, err := http.NewRequest(channel.Method, address, strings.NewReader(string(d.Body)))
	if err != nil {
		return nil, errors.Wrap(err, "provider: a request")
	}
	if len(channel.ContentTypes) > 0 {
		request.Header.Set("Content-Type", channel.ContentTypes[0])
	}
	for _, line := range d.Header {
		request.Header.Add(line.Name, line.Value)
	}
	if len(channel.Signatures) == 0 {
		return request, nil
	}
	scheme := channel.Signatures[0]
	stamp := strconv.FormatInt(now.Unix(), 10)
	if scheme.Timestamp != nil && scheme.Timestamp.Format == "unix_millis" {
		stamp = strconv.FormatInt(now.UnixMilli(), 10)
	}
	make, known := hashes[scheme.Algorithm]
	if !known || scheme.BodyDigest != nil || scheme.IDHeader != "" {
		return nil, errors.Newf("provider: the scheme %s of channel %s cannot be played", scheme.Algorithm, channel.Name)
	}
	content := strings.NewReplacer("{body}", string(d.Body), "{timestamp}", stamp, "{method}", channel.Method, "{url}", address, "{secret}", string(secret)).Replace(scheme.Content)
	sum := make()
	if strings.HasPrefix(scheme.Algorithm, "hmac-") {
		sum = hmac.New(make, secret)
	}
	_, _ = sum.Write([]byte(content)) // a hash never fails
	value := scheme.Prefix + hex.EncodeToString(sum.Sum(nil))
	if scheme.Encoding == "base64" {
		value = scheme.Prefix + base64.StdEncoding.EncodeToString(sum.Sum(nil))
	}
	if list := scheme.List; list != nil {
		value = list.Accept[0] + list.TagSeparator + value
		if list.TimestampTag != "" {
			value = list.TimestampTag + list.TagSeparator + stamp + list.Separator + value
		}
	}
	if scheme.Timestamp != nil && scheme.Timestamp.Header != "" {
		request.Header.Set(scheme.Timestamp.Header, stamp)
	}
	request.Header.Set(scheme.Header, value)
	return request, nil
}
