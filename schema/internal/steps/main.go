// Command steps appends to schema/steps.sql the steps that make newly declared tables. With -check it writes nothing
// and fails when a table has no step.
package main

import (
	"flag"
	"fmt"
	"os"

	"connectorcore/schema"
)

func main() {
	check := flag.Bool("check", false, "fail when a table has no step, write nothing")
	flag.Parse()
	if err := run("steps.sql", *check); err != nil {
		fmt.Fprintln(os.Stderr, "generate schema steps:", err)
		os.Exit(1)
	}
}

func run(path string, check bool) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	missing, err := schema.MissingSteps(string(source))
	switch {
	case err != nil:
		return err
	case missing == "":
		return nil
	case check:
		return fmt.Errorf("%s lacks steps for declared tables; run make generate:\n%s", path, missing)
	}
	return os.WriteFile(path, append(source, missing...), 0o644)
}
