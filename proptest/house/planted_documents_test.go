package house

const head = "id\tstage\tclaim\tstate\ttests\tmutant\n"

var plantedDocuments = []plant{
	{rule: "links lead somewhere", files: map[string]string{
		"docs/a.md": "# First part: the *start*\n\n[good](b.md) [also](../README.md \"title\") [out](https://example.org/x)\n" +
			"[gone](c.md)\n[up](../../shared/x.md)\n`[code](nowhere.md)`\n```\n[fenced](nowhere.md)\n```\n" +
			"[here](#first-part-the-start)\n[nowhere](#third)\n[there](b.md#two-1)\n[lost](b.md#two-2)\n[folder](../docs/)\n\n[ref]: gone.md\n",
		"docs/b.md": "# Two\n\n## Two\n",
		"README.md": "",
	}, want: []string{"docs/a.md:11", "docs/a.md:13", "docs/a.md:16", "docs/a.md:4", "docs/a.md:5"}},
	{rule: "claims have their form", files: map[string]string{
		claimsFile: "id\tstage\n" +
			"K01\t1\ttext\twhole\tledger.TestA\t-\n" +
			"K02\t1\ttext\twhole\t-\t-\n" +
			"K03\t1\ttext\tmissing\tledger.TestA\t-\n" +
			"K04\t1\ttext\tpart:\tledger.TestA\t-\n" +
			"K05\t1\ttext\tpart: the rest\tledger.TestA pure, TestB\t-\n" +
			"K01\t1\ttext\tmissing\t-\t-\n" +
			"K06\t1\ttext\n" +
			"K07\t1\ttext\tmissing\t-\tK07.patch\n",
	}, want: []string{
		claimsFile + ":1", claimsFile + ":3", claimsFile + ":4", claimsFile + ":5", claimsFile + ":6", claimsFile + ":7",
		claimsFile + ":8", claimsFile + ":9",
	}},
	{rule: "claims have their form", files: map[string]string{"README.md": ""}, want: []string{claimsFile + ":1"}},
	{rule: "claims are those of the spec", matrix: "id\tstage\tclaim\nK01\t1\tone\nK02\t1\ttwo\n", files: map[string]string{
		claimsFile: head + "K01\t1\tone\tmissing\t-\t-\nK02\t1\ttwo \tmissing\t-\t-\n",
	}, want: []string{claimsFile + ":3"}},
	{rule: "claims are those of the spec", matrix: "id\tstage\tclaim\nK01\t1\tone\nK02\t1\ttwo\n", files: map[string]string{
		claimsFile: head + "K01\t1\tone\tmissing\t-\t-\n",
	}, want: []string{claimsFile + ":3"}},
	{rule: "a claimed test exists", files: map[string]string{
		claimsFile: head + "K01\t1\tone\twhole\tledger.TestA, ledger.TestB pure\t-\nK02\t1\ttwo\twhole\tledger.TestC\t-\n" +
			"K03\t1\tthree\twhole\tledger.TestD\t-\nK04\t1\tfour\twhole\tfacts.TestA\t-\n",
		"ledger/a_test.go": "package ledger\n\nfunc TestA(t *testing.T) {}\n\nfunc TestB(t *testing.T) {}\n\nfunc (s suite) TestC(t *testing.T) {}\n",
		"ledger/a.go":      "package ledger\n\nfunc TestD(t *testing.T) {}\n",
	}, want: []string{claimsFile + ":3", claimsFile + ":4", claimsFile + ":5"}},
	{rule: "a test proves few claims", files: map[string]string{
		claimsFile: head + "K01\t1\ta\twhole\tl.TestA\t-\nK02\t1\ta\twhole\tl.TestA pure\t-\nK03\t1\ta\twhole\tl.TestA\t-\n" +
			"K04\t1\ta\twhole\tl.TestA\t-\nK05\t1\ta\twhole\tl.TestB, l.TestA\t-\nK06\t1\ta\twhole\tl.TestA\t-\n",
	}, want: []string{claimsFile + ":6"}},
	{rule: "mutants and claims name each other", files: map[string]string{
		claimsFile: head + "K01\t1\ta\twhole\tl.TestA\tK01.patch, K01.late.patch\nK02\t1\ta\twhole\tl.TestA\tK01.patch\n" +
			"K03\t1\ta\twhole\tl.TestA\tK03.patch\n",
		mutantFolder + "/K01.patch":      "",
		mutantFolder + "/K01.late.patch": "",
		mutantFolder + "/K09.patch":      "",
		mutantFolder + "/results.tsv":    "",
	}, want: []string{claimsFile + ":3", claimsFile + ":4", mutantFolder + "/K09.patch:1"}},
}
