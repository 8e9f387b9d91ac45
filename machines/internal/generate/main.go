// Command generate turns machines/tables.txt into machines/machines_gen.go, schema/checks_gen.go and docs/machines.md.
// With -check it writes nothing and fails when a file on disk differs from what it would write.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
)

func main() {
	check := flag.Bool("check", false, "compare the files on disk, write nothing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "generate machines:", err)
		os.Exit(1)
	}
}

// run works from the machines folder, where go generate starts it.
func run(check bool) error {
	source, err := os.ReadFile("tables.txt")
	if err != nil {
		return err
	}
	tables, err := parse(string(source))
	if err != nil {
		return err
	}
	goSource, err := format.Source(renderGo(tables))
	if err != nil {
		return fmt.Errorf("the Go that was made does not parse: %w", err)
	}
	checks, err := format.Source(renderChecks(tables))
	if err != nil {
		return fmt.Errorf("the checks that were made do not parse: %w", err)
	}
	for path, content := range map[string][]byte{
		"machines_gen.go": goSource,
		filepath.Join("..", "schema", "checks_gen.go"): checks,
		filepath.Join("..", "docs", "machines.md"):     renderDocs(tables),
	} {
		if err := emit(path, content, check); err != nil {
			return err
		}
	}
	return nil
}

func emit(path string, content []byte, check bool) error {
	if !check {
		return os.WriteFile(path, content, 0o644)
	}
	onDisk, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(onDisk, content) {
		return fmt.Errorf("%s is not what tables.txt makes; run make generate", path)
	}
	return nil
}
