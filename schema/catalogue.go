package schema

// Step is a converged step as the database remembers it.
type stepRow struct {
	Number    uint64
	Digest    [32]byte
	Statement []byte
}

var schemaStep = &Table{
	Name: "schema_step", Kind: Catalogue,
	Says: "One forward step that converged this database, with the digest of its statement.",
	Columns: []Column{
		{Name: "number", Type: typeCount},
		{Name: "digest", Type: typeDigest},
		{Name: "statement", Type: typeStatement},
		{Name: "applied_at", Type: typeInstant, Default: "CURRENT_TIMESTAMP(6)"},
	},
	Primary: []string{"number"},
	Reader:  "converge and verify, whole: there are as many rows as steps",
}

var catalogueTables = []*Table{schemaStep}
