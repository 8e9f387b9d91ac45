package facts

// startReasons keep the process from starting. Each leaves everything as it was.
var startReasons = map[Code]Reason{
	ConfigurationInvalid: {
		Text: "configuration_invalid", Class: Unstarted, Owner: Operator,
		Subjects: []SubjectKind{InputSubject}, Evidence: NothingStored, Alert: NoAlert,
		Remedies: []Remedy{RepairStore},
		Meaning:  "a key or value of the configuration is unknown or out of its range",
	},
	StoreUnreachable: {
		Text: "store_unreachable", Class: Unstarted, Owner: Operator,
		Subjects: []SubjectKind{StoreSubject}, Evidence: NothingStored, Alert: 0,
		Remedies: []Remedy{RepairStore},
		Meaning:  "the database does not answer at its address or refuses the login",
	},
	StoreTooOld: {
		Text: "store_too_old", Class: Unstarted, Owner: Operator,
		Subjects: []SubjectKind{StoreSubject}, Evidence: "SELECT VERSION()", Alert: NoAlert,
		Remedies: []Remedy{RepairStore},
		Meaning:  "the database is not TiDB 8.5.6 or newer",
	},
	StoreSessionUnsafe: {
		Text: "store_session_unsafe", Class: Unstarted, Owner: Operator,
		Subjects: []SubjectKind{StoreSubject},
		Evidence: "SELECT @@session.transaction_isolation, @@session.tidb_txn_mode, @@session.sql_mode, @@session.tidb_rc_read_check_ts",
		Alert:    NoAlert, Remedies: []Remedy{RepairStore},
		Meaning: "a session of the pool is not pessimistic, strict and read-committed",
	},
	StoreSettingsUnsafe: {
		Text: "store_settings_unsafe", Class: Unstarted, Owner: Operator,
		Subjects: []SubjectKind{StoreSubject},
		Evidence: "SELECT @@global.tidb_txn_commit_batch_size, @@global.tidb_enable_async_commit, @@global.tidb_enable_1pc, @@global.tidb_enable_check_constraint",
		Alert:    0, Remedies: []Remedy{RepairStore},
		Meaning: "a server setting without which a crash could tear acknowledged transactions is not in force",
	},
	StoreDirectoryForeign: {
		Text: "store_directory_foreign", Class: Unstarted, Owner: Operator,
		Subjects: []SubjectKind{StoreSubject}, Evidence: NothingStored, Alert: NoAlert,
		Remedies: []Remedy{RepairStore},
		Meaning:  "the data directory was first started with other settings",
	},
	StoreDirectoryInUse: {
		Text: "store_directory_in_use", Class: Unstarted, Owner: Operator,
		Subjects: []SubjectKind{StoreSubject}, Evidence: NothingStored, Alert: NoAlert,
		Remedies: []Remedy{RepairStore},
		Meaning:  "another process holds the data directory",
	},
	SchemaDiffers: {
		Text: "schema_differs", Class: Unstarted, Owner: Operator,
		Subjects: []SubjectKind{StoreSubject},
		Evidence: "SELECT table_name, column_name, column_type, is_nullable, column_key FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position",
		Alert:    0, Remedies: []Remedy{RepairStore},
		Meaning: "the live catalogue is not the declared one",
	},
	PrivilegesDiffer: {
		Text: "privileges_differ", Class: Unstarted, Owner: Operator,
		Subjects: []SubjectKind{StoreSubject}, Evidence: "SHOW GRANTS", Alert: 0,
		Remedies: []Remedy{RepairStore},
		Meaning:  "a role may do more or less than its declaration grants",
	},
	DeploymentFixed: {
		Text: "deployment_fixed", Class: Unstarted, Owner: Operator,
		Subjects: []SubjectKind{StoreSubject}, Evidence: "SELECT * FROM deployment", Alert: 0,
		Remedies: []Remedy{RepairStore},
		Meaning:  "the database belongs to another deployment, or to another class, and neither ever changes",
	},
}

// inputReasons refuse an item for what it is. They are decided before anything is locked.
var inputReasons = map[Code]Reason{
	BatchTooLarge: {
		Text: "batch_too_large", Class: Refused, Owner: Caller,
		Subjects: []SubjectKind{InputSubject}, Evidence: NothingStored, Alert: NoAlert,
		Remedies: []Remedy{CorrectInput},
		Meaning:  "the batch exceeds a turn's limit of items, rows or bytes",
	},
	KeyNotCanonical: {
		Text: "key_not_canonical", Class: Refused, Owner: Caller,
		Subjects: []SubjectKind{InputSubject}, Evidence: NothingStored, Alert: NoAlert,
		Remedies: []Remedy{CorrectInput, CorrectGeneration},
		Meaning:  "a key or locator is not in its one canonical spelling, and is never repaired here",
	},
	NumberNotInteger: {
		Text: "number_not_integer", Class: Refused, Owner: Caller,
		Subjects: []SubjectKind{InputSubject}, Evidence: NothingStored, Alert: NoAlert,
		Remedies: []Remedy{CorrectInput, CorrectGeneration},
		Meaning:  "a number that is to name something is not written as a plain integer",
	},
	PositionUnreadable: {
		Text: "position_unreadable", Class: Refused, Owner: PackAuthor,
		Subjects: []SubjectKind{InputSubject}, Evidence: NothingStored, Alert: 0,
		Remedies: []Remedy{CorrectGeneration, LeaveUnsupported},
		Meaning:  "a source position is not in the format that its route declares, or exceeds a position's size",
	},
	PositionKindsDiffer: {
		Text: "position_kinds_differ", Class: Refused, Owner: PackAuthor,
		Subjects: []SubjectKind{InputSubject}, Evidence: NothingStored, Alert: 0,
		Remedies: []Remedy{CorrectGeneration, LeaveUnsupported},
		Meaning:  "two positions of different kinds have no order",
	},
	ProfileUnsupported: {
		Text: "profile_unsupported", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{InputSubject, EpochSubject}, Evidence: NothingStored, Alert: 0,
		Remedies: []Remedy{CorrectGeneration},
		Meaning:  "the digest profile is not one of the closed set",
	},
	ProfileNotAuthored: {
		Text: "profile_not_authored", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{InputSubject, EpochSubject}, Evidence: NothingStored, Alert: 0,
		Remedies: []Remedy{CorrectGeneration},
		Meaning:  "the digest profile may only be read; nothing is authored or recomputed under it",
	},
	ProfilesDiffer: {
		Text: "profiles_differ", Class: Refused, Owner: Operator,
		Subjects: []SubjectKind{InputSubject, EpochSubject}, Evidence: NothingStored, Alert: 0,
		Remedies: []Remedy{CorrectGeneration},
		Meaning:  "two digests of different profiles cannot be compared",
	},
}
