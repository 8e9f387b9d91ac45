package house

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// below says which rooms each room may import; a room may always import itself. It is the table of the rooms in
// ARCHITECTURE.md.
var below = map[string][]string{
	"machines": {},
	"facts":    {"machines"},
	"schema":   {"facts", "machines"},
	"readers":  {"schema", "facts", "machines"},
	"ledger":   {"readers", "schema", "facts", "machines"},
	"engine":   {"ledger", "readers", "schema", "facts", "machines"},
	"cmd":      {"engine", "ledger", "readers", "schema", "facts", "machines"},
	"proptest": {"examples", "cmd", "engine", "ledger", "readers", "schema", "facts", "machines"},
	"examples": {"engine", "ledger", "readers", "schema", "facts", "machines"},
	"tools":    {},
}

// packages are the folders that hold Go; a generator may stand in the folder internal of its room.
var packages = []string{
	"cmd/connector",
	"cmd/tidb",
	"engine",
	"engine/activate",
	"engine/bench",
	"engine/dispatch",
	"engine/drive",
	"engine/egress",
	"engine/embedded",
	"engine/execute",
	"engine/execute/conformance",
	"engine/frozen",
	"engine/ingress",
	"engine/materialize",
	"engine/pack",
	"engine/pack/corpora",
	"engine/pack/expr",
	"engine/pack/form",
	"engine/platform",
	"engine/reconcile",
	"engine/serve",
	"engine/tenant",
	"engine/turns",
	"engine/witness",
	"examples/crm",
	"examples/demo",
	"examples/provider",
	"facts",
	"facts/digest",
	"facts/inbound",
	"facts/outbound",
	"facts/serving",
	"facts/spelling",
	"ledger",
	"ledger/cutover",
	"ledger/epoch",
	"ledger/internal/txn",
	"ledger/turn",
	"machines",
	"proptest",
	"proptest/audit",
	"proptest/crash",
	"proptest/house",
	"proptest/model",
	"proptest/stage",
	"proptest/world",
	"readers",
	"readers/owners",
	"readers/owners/conformance",
	"schema",
	"schema/internal/live",
}

// silent are top-level folders without Go.
var silent = []string{"packs", "deploy", "docs"}

const mostArrows = 3.0

var arrowRules = []rule{
	{"top-level folders", checkFolders},
	{"packages", checkPackages},
	{"import arrows", checkArrows},
	{"proptest is for tests", checkProptest},
	{"average arrows", checkAverage},
}

func checkFolders(t *tree) []breach {
	var found []breach
	seen := map[string]bool{}
	for _, f := range t.files {
		top := f.room()
		_, room := below[top]
		if top == "" && f.code != nil {
			found = append(found, breach{f.path, 1, "a Go file at the top belongs to no room: move it into one"})
		}
		if top == "" || room || strings.HasPrefix(top, ".") || slices.Contains(silent, top) || seen[top] {
			continue
		}
		seen[top] = true
		found = append(found, breach{f.path, 1, fmt.Sprintf(
			"%s/ is no room: put the file into %s, packs, deploy or docs", top, strings.Join(slices.Sorted(maps.Keys(below)), ", "))})
	}
	return found
}

func checkPackages(t *tree) []breach {
	var found []breach
	seen := map[string]bool{}
	for _, f := range t.golang() {
		free := f.room() == "tools" || f.room() == "examples" || f.isGenerator() || f.room() == ""
		if free || seen[f.dir()] || slices.Contains(packages, f.dir()) {
			continue
		}
		seen[f.dir()] = true
		found = append(found, breach{f.path, 1, fmt.Sprintf(
			"%s is no declared package: use one of its room, or declare it in proptest/house and ARCHITECTURE.md", f.dir())})
	}
	return found
}

// arrows lists the file's imports of this repository: package folders and where they are written.
func (f *file) arrows() map[string]breach {
	targets := map[string]breach{}
	for _, spec := range f.code.Imports {
		if target, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/"); ours {
			targets[target] = f.at(spec, "")
		}
	}
	return targets
}

func checkArrows(t *tree) []breach {
	var found []breach
	for _, f := range t.golang() {
		for target, b := range f.arrows() {
			room := roomOf(target + "/")
			if room == f.room() || room == "proptest" || slices.Contains(below[f.room()], room) {
				continue
			}
			b.instead = fmt.Sprintf("%s may import %s: take %s as a parameter or a port that the caller fills",
				f.room(), orNothing(below[f.room()]), target)
			found = append(found, b)
		}
	}
	return found
}

func orNothing(rooms []string) string {
	if len(rooms) == 0 {
		return "no other room"
	}
	return "only " + strings.Join(rooms, ", ")
}

// checkProptest keeps the attackers out of the product. The auditor is the one exception: the operator runs it too.
func checkProptest(t *tree) []breach {
	var found []breach
	for _, f := range t.golang() {
		for target, b := range f.arrows() {
			auditor := target == "proptest/audit" && f.dir() == "cmd/connector"
			if roomOf(target+"/") != "proptest" || f.isTest() || f.room() == "proptest" || auditor {
				continue
			}
			b.instead = "only _test.go files import proptest (and cmd/connector the package proptest/audit): move what you need into a room"
			found = append(found, b)
		}
	}
	return found
}

// checkAverage counts, for each package of the product, the other rooms that it imports. Few arrows mean that a
// package can be understood from few others.
func checkAverage(t *tree) []breach {
	arrows := map[string]map[string]bool{}
	for _, f := range t.golang() {
		if f.isHarness() || f.isGenerator() || f.isNested() || f.room() == "examples" {
			continue
		}
		if arrows[f.dir()] == nil {
			arrows[f.dir()] = map[string]bool{}
		}
		for target := range f.arrows() {
			if room := roomOf(target + "/"); room != f.room() {
				arrows[f.dir()][room] = true
			}
		}
	}
	total, widest := 0, ""
	for _, dir := range slices.Sorted(maps.Keys(arrows)) {
		total += len(arrows[dir])
		if widest == "" || len(arrows[dir]) > len(arrows[widest]) {
			widest = dir
		}
	}
	if len(arrows) == 0 || float64(total)/float64(len(arrows)) <= mostArrows {
		return nil
	}
	return []breach{{path.Join(widest, "doc.go"), 1, fmt.Sprintf(
		"packages import %.2f other rooms on average, at most %.0f is allowed: %s imports most (%s), let it take values instead of rooms",
		float64(total)/float64(len(arrows)), mostArrows, widest, strings.Join(slices.Sorted(maps.Keys(arrows[widest])), ", "))}}
}
