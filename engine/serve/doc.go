// Package serve starts what the daemon needs, in an order in which nothing is changed before everything was checked,
// and ends it again.
//
// OpenStore is the start-up path to the database, for daemons; OpenMigration is the one of the commands that change
// the schema; StartEmbedded runs the embedded store for others; OpenSecrets opens the backends of secrets. Each refuses
// in one sentence. A refusal with a code of the closed table is a *facts.Refusal.
package serve
