// Package expr evaluates a pack's expressions: CEL without clock, randomness or I/O, under a cost limit, over JSON
// whose numbers keep their exact text. The same expression over the same bytes gives the same result, or the same
// closed refusal, on every machine and in every run.
//
// It knows no pack, no definition and no fact's table; it makes keys and positions through the constructors of facts.
package expr
