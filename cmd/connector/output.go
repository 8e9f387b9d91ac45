package main

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/cockroachdb/errors"
)

// outputs are the forms of --output; the first is the default. None has colours, so NO_COLOR is always obeyed.
var outputs = []string{"text", "json", "jsonl"}

func checkOutput(form string) error {
	if slices.Contains(outputs, form) {
		return nil
	}
	return &usageError{"--output must be one of " + strings.Join(outputs, ", "), "connector"}
}

// emitAll prints rows: as lines of text with aligned columns, as one JSON array, or as one JSON object a line.
func emitAll[T any](p *program, rows []T, text func(T) string) error {
	switch p.output {
	case "json":
		if rows == nil {
			rows = []T{}
		}
		return p.json(rows, "  ")
	case "jsonl":
		for _, row := range rows {
			if err := p.json(row, ""); err != nil {
				return err
			}
		}
		return nil
	}
	aligned := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		if _, err := io.WriteString(aligned, text(row)+"\n"); err != nil {
			return errors.Wrap(err, "standard output")
		}
	}
	return errors.Wrap(aligned.Flush(), "standard output")
}

// emitOne prints one thing: as text, or as one JSON object.
func emitOne[T any](p *program, thing T, text func(T) string) error {
	if p.output == "json" {
		return p.json(thing, "  ")
	}
	return emitAll(p, []T{thing}, text)
}

func (p *program) json(value any, indent string) error {
	encoder := json.NewEncoder(p.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	return errors.Wrap(encoder.Encode(value), "standard output")
}
