package pack

import (
	"fmt"
	"slices"
	"strings"

	"connectorcore/engine/pack/form"
)

// check finds what the tags of one definition cannot say. It notes every fault and goes on.
type check struct {
	report *form.Report
	places form.Places
}

func (c check) fault(path, what, hint string) {
	c.report.Add(c.places.Of(path), path, what, hint)
}

// wants demands that a key stands there; bans demands that it does not.
func (c check) wants(there bool, path, because string) {
	if !there && !c.places.Written(path) { // what is written and has no value was reported
		c.fault(path, "the key is missing", because)
	}
}

func (c check) bans(there bool, path, because string) {
	if there {
		c.fault(path, "the key has no meaning here", because)
	}
}

// together demands a key exactly if a condition holds.
func (c check) together(there, wanted bool, path, because string) {
	c.wants(there || !wanted, path, because)
	c.bans(there && !wanted, path, because)
}

func (c check) template(text, path string, holes func(string) bool, hint string) *template {
	made, complaint := parseTemplate(text)
	if complaint != nil {
		c.fault(path, complaint.What, complaint.Hint)
		return nil
	}
	for _, hole := range made.holes {
		if !holes(hole) {
			c.fault(path, fmt.Sprintf("nothing fills {%s}", hole), hint)
		}
	}
	return made
}

func (c check) unique(names []string, path, noun string) {
	for i, name := range names {
		if name != "" && slices.Contains(names[:i], name) {
			c.fault(fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("the %s %q stands there twice", noun, name), "delete one of the two")
		}
	}
}

func (c check) channel(ch *Channel, path string) {
	for i := range ch.Signatures {
		c.signature(&ch.Signatures[i], fmt.Sprintf("%s.signatures[%d]", path, i))
	}
	for i, h := range ch.Handshakes {
		at := fmt.Sprintf("%s.handshakes[%d]", path, i)
		echo := h.Form == "json_echo"
		const why = "a json_echo names the member that must equal a text, and the member to echo; webhook_options neither"
		c.together(h.Member != "", echo, at+".member", why)
		c.together(h.Equals != "", echo, at+".equals", why)
		c.together(h.Echo != "", echo, at+".echo", why)
	}
	c.bans(ch.Components.At != "" && ch.Components.Form != "array", path+".components.at", "only form: array has a place")
	c.bans(len(ch.Volatile) > 0 && ch.Components.Form == "lines", path+".volatile_members", "the members of lines are not one document")
	var names []string
	for i, event := range ch.Events {
		names = append(names, event.Name)
		if event.When.ScalarText() == "true" && i < len(ch.Events)-1 {
			c.fault(fmt.Sprintf("%s.events[%d].when", path, i), "the events behind this one are never reached", "put an event without a condition last")
		}
	}
	c.unique(names, path+".events", "event")
	c.unique(ch.Identity, path+".identity_headers", "header")
	for i, name := range ch.Identity {
		for _, s := range ch.Signatures {
			if name == s.Header || s.Timestamp != nil && name == s.Timestamp.Header {
				c.fault(fmt.Sprintf("%s.identity_headers[%d]", path, i), "a header that changes with each delivery identifies nothing",
					"name headers that a redelivery repeats (R18)")
			}
		}
	}
}

func (c check) signature(s *Signature, path string) {
	keyed := s.Algorithm != "sha256"
	made := c.template(s.Content, path+".content", func(hole string) bool {
		header, named := strings.CutPrefix(hole, "header:")
		return slices.Contains(signedParts, hole) || named && header != ""
	}, "the parts are {"+strings.Join(signedParts, "}, {")+"} and {header:NAME}")
	if made == nil {
		return
	}
	signs := func(part string) bool { return slices.Contains(made.holes, part) }
	if !signs("body") && !signs("form") && s.BodyDigest == nil {
		c.fault(path+".content", "the body is not signed", "put {body} into the content, or declare body_digest")
	}
	if signs("secret") == keyed {
		c.fault(path+".content", "the secret stands in the content exactly if the algorithm has no key", "sha256 takes {secret}; the others do not")
	}
	dated := s.List != nil && s.List.TimestampTag != ""
	if signs("timestamp") && s.Timestamp == nil {
		c.fault(path+".content", "nothing fills {timestamp}", "declare timestamp")
	}
	c.wants(s.IDHeader != "" || !signs("id"), path+".id_header", "the content has {id}")
	if t := s.Timestamp; t != nil {
		c.together(t.Header != "", !dated, path+".timestamp.header", "the timestamp has one place: a header, or list.timestamp_tag")
		if !signs("timestamp") {
			c.fault(path+".timestamp", "a timestamp that is not signed proves nothing", "put {timestamp} into the content")
		}
	} else {
		c.bans(dated, path+".list.timestamp_tag", "declare timestamp with its format")
	}
	if d := s.BodyDigest; d != nil && (d.Query == "") == (d.Header == "") {
		c.fault(path+".body_digest", "a digest of the body has one place", "write query or header")
	}
	if s.Algorithm == "ed25519" && s.Secret.Encoding == "text" {
		c.fault(path+".secret.encoding", "a public key is no text", "write hex or base64")
	}
}
