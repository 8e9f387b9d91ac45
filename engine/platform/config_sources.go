package platform

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

const delimiter = "."

// readFlags takes the flags that were set. An unknown flag was refused when they were parsed.
func (l *loading) readFlags(flags *pflag.FlagSet) layer {
	found := layer{}
	source := posflag.ProviderWithFlag(flags, delimiter, nil, func(f *pflag.Flag) (string, any) {
		i := slices.IndexFunc(keys, func(k Key) bool { return slices.Contains(k.Flags(), f.Name) })
		if f.Changed && i >= 0 {
			l.put(found, keys[i].Name, f.Value.String(), "--"+f.Name)
		}
		return "", nil // where a value came from would be lost in the tree
	})
	if err := koanf.New(delimiter).Load(source, nil); err != nil {
		l.problem("flags", "%v", err)
	}
	return found
}

// readEnv takes our variables. The names are looked up and not split at their underscores: a key may have one.
func (l *loading) readEnv(environ []string) layer {
	found := layer{}
	known := map[string]string{FileEnv: ""}
	for _, k := range keys {
		for _, name := range k.Env() {
			known[name] = k.Name
		}
	}
	source := env.Provider(delimiter, env.Opt{
		Prefix:      envPrefix,
		EnvironFunc: func() []string { return slices.Sorted(slices.Values(environ)) },
		TransformFunc: func(name, text string) (string, any) {
			switch key, is := known[name]; {
			case strings.HasPrefix(name, reservedPrefix) || name == FileEnv:
			case !is:
				l.problem(name, "no such variable, the nearest is %s", nearest(name, slices.Collect(maps.Keys(known))))
			default:
				l.put(found, key, text, name)
			}
			return "", nil
		},
	})
	if err := koanf.New(delimiter).Load(source, nil); err != nil {
		l.problem("environment", "%v", err)
	}
	return found
}

// readFile takes the keys of the YAML file.
func (l *loading) readFile(name given) layer {
	found := layer{}
	if name.text == "" {
		return found
	}
	text, err := os.ReadFile(name.text)
	if err != nil {
		l.problem(name.origin, "%v", err)
		return found
	}
	if line := secondDocument(string(text)); line > 0 {
		l.problem(at(name.text, line), "a second document begins here, and would not be read: want one")
	}
	tree := koanf.New(delimiter)
	if err := tree.Load(file.Provider(name.text), yaml.Parser()); err != nil {
		l.problem(name.text, "%s", yamlProblem(err))
		return found
	}
	for _, path := range tree.Keys() {
		origin := at(name.text, lineOf(string(text), path))
		value := tree.Get(path)
		switch _, known := keyNamed(path); {
		case !known && isSection(path) && isNothing(value):
		case !known && isSection(path):
			l.problem(origin, "%s is a section: want keys below it", path)
		case !known:
			l.problem(origin, "unknown key %s, the nearest is %s", showable(path), nearest(path, keyNames()))
		default:
			if text, err := scalar(value); err != nil {
				l.problem(origin, "%s: %v", path, err)
			} else {
				l.put(found, path, text, origin)
			}
		}
	}
	return found
}

func scalar(value any) (string, error) {
	switch value.(type) {
	case string, int, int64, uint64, float64, bool:
		return fmt.Sprint(value), nil
	case nil:
		return "", nil
	}
	return "", errors.New("want one value, not a list or a section")
}

func keyNames() []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	return names
}

// showable hides a key that is none: a DSN that slipped to the left of a colon.
func showable(path string) string {
	if plainKey.MatchString(path) {
		return path
	}
	return "(text)"
}

func isSection(path string) bool {
	return slices.ContainsFunc(keys, func(k Key) bool { return strings.HasPrefix(k.Name, path+delimiter) })
}

// isNothing tells an empty section, whose keys may all be commented out.
func isNothing(value any) bool {
	section, is := value.(map[string]any)
	return value == nil || is && len(section) == 0
}

func at(file string, line int) string {
	if line == 0 {
		return file
	}
	return file + ":" + strconv.Itoa(line)
}

var (
	yamlKey    = regexp.MustCompile(`^( *)(?:"([^"]+)"|'([^']+)'|([^\s:#"']+)) *:(?: |$)`)
	plainKey   = regexp.MustCompile(`^[\w.-]+$`)
	quotedText = regexp.MustCompile("[`'\"].*[`'\"]")
)

// lineOf finds the line of a key that is written in block style; 0 for any other.
func lineOf(text, path string) int {
	type open struct {
		indent int
		name   string
	}
	var stack []open
	for i, line := range strings.Split(text, "\n") {
		match := yamlKey.FindStringSubmatch(strings.TrimRight(line, "\r"))
		if match == nil {
			continue
		}
		for len(stack) > 0 && stack[len(stack)-1].indent >= len(match[1]) {
			stack = stack[:len(stack)-1]
		}
		name := match[2] + match[3] + match[4]
		if len(stack) > 0 {
			name = stack[len(stack)-1].name + delimiter + name
		}
		if name == path {
			return i + 1
		}
		stack = append(stack, open{len(match[1]), name})
	}
	return 0
}

// secondDocument is the line of a document marker below something, or 0.
func secondDocument(text string) int {
	begun := false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " \r")
		if begun && (line == "---" || strings.HasPrefix(line, "--- ")) {
			return i + 1
		}
		begun = begun || line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "%")
	}
	return 0
}

// yamlProblem is the parser's complaint on one line, without what it quotes of the file: that may be a secret.
func yamlProblem(err error) string {
	return quotedText.ReplaceAllString(strings.Join(strings.Fields(err.Error()), " "), "(text)")
}

// nearest is the candidate that the fewest slips of the hand lead to.
func nearest(word string, candidates []string) string {
	slices.Sort(candidates)
	return slices.MinFunc(candidates, func(a, b string) int { return slips(word, a) - slips(word, b) })
}

// slips counts the letters that were left out, added, replaced, or swapped with their neighbour.
func slips(a, b string) int {
	rows := make([][]int, len(a)+1) // rows[i][j] are the slips between the first i letters of a and the first j of b
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			if i == 0 || j == 0 {
				rows[i][j] = i + j
				continue
			}
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
