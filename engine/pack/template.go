package pack

import (
	"fmt"
	"net/url"
	"strings"

	"connectorcore/engine/pack/form"
)

// template is a text with holes: "/repos/{owner}/issues". A hole is a word in braces.
type template struct {
	literals []string // one more than holes
	holes    []string
}

// parseTemplate reads a template. A brace that opens no hole and closes none is a fault.
func parseTemplate(text string) (*template, *form.Complaint) {
	made := &template{}
	for {
		open := strings.IndexAny(text, "{}")
		if open < 0 {
			made.literals = append(made.literals, text)
			return made, nil
		}
		end := strings.IndexAny(text[open+1:], "{}")
		if text[open] == '}' || end < 0 || text[open+1+end] == '{' {
			return nil, &form.Complaint{What: "a brace has no partner", Hint: "write a hole as {name}"}
		}
		hole := text[open+1 : open+1+end]
		if hole == "" || strings.ContainsAny(hole, " \t/") {
			return nil, &form.Complaint{What: fmt.Sprintf("the hole {%s} has no name", hole), Hint: "write a hole as {name}"}
		}
		made.literals, made.holes = append(made.literals, text[:open]), append(made.holes, hole)
		text = text[open+end+2:]
	}
}

// fillPath puts values into a path. A value is one segment or a part of one, whatever it holds: a slash, a dot or a
// question mark in it is data. A value that is empty, "." or ".." would name another resource and is refused.
func (t *template) fillPath(values map[string]string) (string, bool) {
	var out strings.Builder
	for i, literal := range t.literals {
		out.WriteString(literal)
		if i == len(t.holes) {
			break
		}
		value := values[t.holes[i]]
		if value == "" || value == "." || value == ".." {
			return "", false
		}
		out.WriteString(url.PathEscape(value))
	}
	return out.String(), true
}

// signedParts are the holes of signed content, beside header:NAME.
var signedParts = []string{"body", "timestamp", "id", "url", "method", "form", "secret", "body_digest"}
