// Package house holds the rules that this repository keeps about itself, as tests: which room may import which, how
// long a thing may grow, which calls are forbidden, what no file may say, and that documents and claims are true.
//
// Each rule is a small function over the parsed tree, and each is shown a planted breach that it must find, so that
// no rule can fall silent. A failure names the file, the line, the rule, and what to write instead.
//
// The room must not know what any other room does. It reads their text; it never imports one.
package house
