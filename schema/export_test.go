package schema

// What the tests of the package schema_test reach into the room for.
var (
	ConvergeSteps  = converge
	Apply          = apply
	CheckVersion   = checkVersion
	MaxDatabase    = maxDatabaseName
	GlobalSettings = globalOnly
)

func (t *Table) Create() string      { return t.create() }
func (s Step) Digest() [32]byte      { return s.digest() }
func StepsSource() string            { return stepsSource }
func (r Role) Name(db string) string { return r.name(db) }

// Settings are name, want and why of each session setting.
func Settings() (all [][3]string) {
	for _, s := range settings {
		all = append(all, [3]string{s.name, s.want, s.why})
	}
	return all
}
