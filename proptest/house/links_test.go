package house

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

var linkRules = []rule{{"links lead somewhere", checkLinks}}

var (
	inline    = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)`)
	reference = regexp.MustCompile(`^\s*\[[^\]^]+\]:\s+<?([^\s>]+)`)
	span      = regexp.MustCompile("`[^`]*`")
	scheme    = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	heading   = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*\s*$`)
	notSlug   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// proseLines is a Markdown file with its fenced blocks blanked: what stands there is no link and no heading.
func (f *file) proseLines() []string {
	lines := strings.Split(f.text, "\n")
	fence := ""
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		mark := ""
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			mark = trimmed[:3]
		}
		switch {
		case fence == "" && mark != "":
			fence, lines[i] = mark, ""
		case fence != "":
			if mark == fence {
				fence = ""
			}
			lines[i] = ""
		}
	}
	return lines
}

// anchors are the names by which a link can point at the file's headings.
func (f *file) anchors() map[string]bool {
	names := map[string]bool{}
	for _, line := range f.proseLines() {
		title := heading.FindStringSubmatch(line)
		if title == nil {
			continue
		}
		slug := strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(title[1]), ""), " ", "-")
		name := slug
		for n := 1; names[name]; n++ {
			name = fmt.Sprintf("%s-%d", slug, n)
		}
		names[name] = true
	}
	return names
}

// checkLinks follows the relative links of every Markdown file. What is on the network is not asked.
func checkLinks(t *tree) []breach {
	var found []breach
	for _, f := range t.files {
		if !strings.HasSuffix(f.path, ".md") {
			continue
		}
		for i, line := range f.proseLines() {
			line = span.ReplaceAllString(line, "")
			for _, link := range append(inline.FindAllStringSubmatch(line, -1), reference.FindAllStringSubmatch(line, -1)...) {
				if instead := t.follow(f, link[1]); instead != "" {
					found = append(found, breach{f.path, i + 1, instead})
				}
			}
		}
	}
	return found
}

// follow returns "" for a link that leads somewhere.
func (t *tree) follow(from *file, link string) string {
	if scheme.MatchString(link) {
		return ""
	}
	name, anchor, _ := strings.Cut(link, "#")
	target := path.Join(path.Dir(from.path), name)
	if name == "" {
		target = from.path
	}
	if !t.exists(target) {
		return fmt.Sprintf("the link %s leads to %s, which is not in the repository: correct it, or drop the link", link, target)
	}
	if page := t.find(target); anchor != "" && page != nil && strings.HasSuffix(target, ".md") && !page.anchors()[anchor] {
		return fmt.Sprintf("%s has no heading for #%s: correct the link, or the heading", target, anchor)
	}
	return ""
}
