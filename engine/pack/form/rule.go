package form

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"connectorcore/facts"
)

// Rule is what a struct's tag says about one key: `pack:"NAME,OPTION,OPTION=VALUE"`.
//
//	required        the key must stand there
//	default=TEXT    what stands there if the key does not; it is part of the canonical bytes
//	oneof=A|B       a closed list
//	as=KIND         a spelling: key, word, header, pointer, host, line
//	min=N, max=N    bounds of an integer, or of the number of a list's items
//	item_OPTION=X   the option for each item of a list; those without this prefix hold for the items too, bounds not
//	expr=SCOPE/RES  an expression
type Rule struct {
	Name    string
	Path    string
	At      At
	options map[string]string
}

func ruleOf(field reflect.StructField) (Rule, bool) {
	tag, ok := field.Tag.Lookup("pack")
	if !ok {
		return Rule{}, false
	}
	words := strings.Split(tag, ",")
	rule := Rule{Name: words[0], options: map[string]string{}}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		rule.options[name] = value
	}
	return rule, true
}

// Option is the value of an option, empty if the rule has none of that name.
func (r Rule) Option(name string) string { return r.options[name] }

// Has tells whether the rule has the option.
func (r Rule) Has(name string) bool {
	_, has := r.options[name]
	return has
}

func (r Rule) in(path string, at At) Rule {
	r.Path, r.At = path, at
	return r
}

// integer reads a whole number within the rule's bounds.
func (r Rule) integer(text string) (int64, *Complaint) {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(value, 10) != text {
		return 0, &Complaint{fmt.Sprintf("%q is no plain integer", clipped(text)), "write digits only"}
	}
	return value, r.bounded(value, "it is")
}

func (r Rule) bounded(value int64, subject string) *Complaint {
	if least, err := strconv.ParseInt(r.options["min"], 10, 64); err == nil && value < least {
		return &Complaint{fmt.Sprintf("%s %d", subject, value), fmt.Sprintf("the least is %d", least)}
	}
	if most, err := strconv.ParseInt(r.options["max"], 10, 64); err == nil && value > most {
		return &Complaint{fmt.Sprintf("%s %d", subject, value), fmt.Sprintf("the most is %d", most)}
	}
	return nil
}

// text checks a text against the closed list and the spelling of the rule.
func (r Rule) text(text string) *Complaint {
	if text == "" {
		return &Complaint{"it is empty", "leave the key out, or write a value"}
	}
	if list := r.options["oneof"]; list != "" {
		if words := strings.Split(list, "|"); !slices.Contains(words, text) {
			return &Complaint{fmt.Sprintf("%q is not in the closed list", clipped(text)), Among(text, words)}
		}
	}
	if check, ok := spellings[r.options["as"]]; ok {
		return check(text)
	}
	return nil
}

func clipped(text string) string { return text[:min(len(text), 60)] }

var spellings = map[string]func(string) *Complaint{
	"key": func(text string) *Complaint {
		if _, err := facts.ParseKey[facts.DefinitionID](text); err != nil {
			return &Complaint{err.Error(), ""}
		}
		return nil
	},
	"word": spelled("a word of a-z, 0-9, - and _, beginning with a letter", isWord),
	"time": func(text string) *Complaint {
		if _, err := facts.ParseTimeFormat(text); err != nil {
			return &Complaint{fmt.Sprintf("%q is no time format", clipped(text)), Among(text, timeFormats())}
		}
		return nil
	},
	"header":  spelled("the name of an HTTP header, in lower case", isHeader),
	"pointer": spelled("a JSON Pointer, like /items or /items/*/attempt", isPointer),
	"host":    spelled("a host name in lower case, with an optional port", isHost),
	"line":    spelled("printable text of one line", isLine),
}

func spelled(what string, is func(string) bool) func(string) *Complaint {
	return func(text string) *Complaint {
		if is(text) {
			return nil
		}
		return &Complaint{fmt.Sprintf("%q has another spelling than is wanted", clipped(text)), "write " + what}
	}
}

func timeFormats() []string {
	var names []string
	for format := facts.RFC3339; format <= facts.UnixDecimal; format++ {
		names = append(names, format.String())
	}
	return names
}

func all(text, also string) bool {
	return text != "" && len(text) <= facts.KeyMaxBytes &&
		!strings.ContainsFunc(text, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune(also, r))
		})
}

func isWord(text string) bool { return all(text, "-_") && text[0] >= 'a' && text[0] <= 'z' }

func isHeader(text string) bool { return all(text, "-_") }

func isPointer(text string) bool {
	return strings.HasPrefix(text, "/") && len(text) <= facts.KeyMaxBytes && jsontext.Pointer(text).IsValid()
}

func isHost(text string) bool {
	host, port, ported := strings.Cut(text, ":")
	if ported {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return all(host, "-.") && !strings.HasPrefix(host, ".") && !strings.HasSuffix(host, ".")
}

func isLine(text string) bool {
	return len(text) <= 8<<10 && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd })
}
