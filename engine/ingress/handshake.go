package ingress

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"connectorcore/engine/pack"
	"connectorcore/facts"
)

// The limits of a handshake. What is larger is a delivery.
const (
	handshakeBodyMax = 64 << 10
	handshakeEchoMax = 4 << 10
	handshakeNameMax = 255 // of the origin that asks
)

// greetOptions answers the OPTIONS request by which a sender asks whether it may deliver here, if the channel says so.
// The origin is sent back as it came; a callback address that the request may name is never called.
//
// The form is that of CloudEvents 1.0, HTTP 1.1 Web Hooks, validation handshake.
func greetOptions(channel *pack.Channel, header http.Header) (answer, bool) {
	for _, h := range channel.Handshakes {
		if h.Form != "webhook_options" {
			continue
		}
		origins := header.Values("Webhook-Request-Origin")
		if len(origins) != 1 || !isOrigin(origins[0]) {
			return refused(http.StatusBadRequest, facts.Refuse(facts.KeyNotCanonical, facts.OfInput("header webhook-request-origin"), "")), true
		}
		a := answer{status: http.StatusOK, outcome: handshakeOutcome, header: http.Header{}}
		a.header.Set("Webhook-Allowed-Origin", origins[0])
		a.header.Set("Webhook-Allowed-Rate", strconv.FormatInt(h.Rate, 10))
		a.header.Set("Allow", allowed(channel))
		return a, true
	}
	return answer{}, false
}

// isOrigin tells whether a text can be a sender's name: what a DNS name, perhaps with a port, is made of.
func isOrigin(text string) bool {
	return text != "" && len(text) <= handshakeNameMax && !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-.:_", r))
	})
}

// allowed is the channel's methods, for the header Allow.
func allowed(channel *pack.Channel) string {
	methods := channel.Method
	for _, h := range channel.Handshakes {
		if h.Form == "webhook_options" {
			return methods + ", OPTIONS"
		}
	}
	return methods
}

// greetEcho answers a body that asks for one of its own members, if the channel says so. Where the channel has
// signatures it is asked only about a body whose sender is proved, so that the door never repeats a stranger's words.
// Such a body is no delivery, whatever else it holds.
func greetEcho(channel *pack.Channel, body []byte) (answer, bool) {
	if len(body) > handshakeBodyMax {
		return answer{}, false
	}
	for _, h := range channel.Handshakes {
		if h.Form != "json_echo" {
			continue
		}
		texts := textsAt(body, h.Member, h.Echo)
		if marked, there := texts[h.Member]; !there || marked != h.Equals {
			continue
		}
		echo, there := texts[h.Echo]
		if !there || len(echo) > handshakeEchoMax {
			return refused(http.StatusBadRequest, facts.Refuse(facts.BodyUnreadable, facts.OfInput("body "+h.Echo), "")), true
		}
		name := jsontext.Pointer(h.Echo).LastToken()
		return answer{status: http.StatusOK, outcome: handshakeOutcome, body: object(member{name, echo})}, true
	}
	return answer{}, false
}

// textsAt reads the texts that stand at the pointers of a strict JSON value; none of any other body.
func textsAt(body []byte, pointers ...string) map[string]string {
	found := map[string]string{}
	decoder := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		token, err := decoder.ReadToken()
		if err == io.EOF {
			return found
		}
		if err != nil {
			return nil
		}
		kind, count := decoder.StackIndex(decoder.StackDepth())
		if token.Kind() != '"' || kind == '{' && count%2 != 0 { // the name of a member
			continue
		}
		for _, pointer := range pointers {
			if string(decoder.StackPointer()) == pointer {
				found[pointer] = token.String()
			}
		}
	}
}
