package house

import (
	"fmt"
	"strings"
)

// function makes a function of so many lines.
func function(name string, lines int) string {
	return "func " + name + "() {\n" + strings.Repeat("\t_ = 0\n", lines-2) + "}\n"
}

func plantedBudgets() []plant {
	fill := func(lines int) string { return "package facts\n" + strings.Repeat("\n", lines-1) }
	big := map[string]string{"engine/serve/big_gen.go": fill(9000), "engine/serve/big_test.go": fill(600), "engine/pack/a.go": fill(400)}
	for i := range 8 {
		big[fmt.Sprintf("engine/serve/f%d.go", i)] = fill(390)
	}
	return []plant{
		{rule: "function length", files: map[string]string{
			"facts/a.go":       "package facts\n\n" + function("long", 71) + function("just", 70),
			"facts/a_test.go":  "package facts\n\nvar table = " + strings.Replace(function("", 80), "func ", "func", 1),
			"facts/b_gen.go":   "package facts\n\n" + function("free", 200),
			"facts/comment.go": "package facts\n\n" + strings.Repeat("// long doc\n", 70) + function("short", 10),
		}, want: []string{"facts/a.go:3", "facts/a_test.go:3"}},
		{rule: "file length", files: map[string]string{
			"facts/a.go": fill(401), "facts/b.go": fill(400), "facts/a_test.go": fill(601), "facts/b_test.go": fill(600), "facts/a_gen.go": fill(5000),
		}, want: []string{"facts/a.go:401", "facts/a_test.go:601"}},
		{rule: "room length", files: big, want: []string{"engine/serve/f7.go:1"}},
		{rule: "interface width", files: map[string]string{
			"facts/a.go": "package facts\n\ntype wide interface{ A(); B(); C(); D(); E(); F(); G(); H() }\n\ntype just interface{ A(); B(); C(); D(); E(); F(); G() }\n",
			"facts/b.go": "package facts\n\ntype more interface {\n\tjust\n\tH()\n}\n\ntype foreign interface {\n\tio.Reader\n\tA(); B(); C(); D(); E(); F(); G()\n}\n",
		}, want: []string{"facts/a.go:3", "facts/b.go:3"}},
	}
}
