// Package platform is what the daemon stands on beside the store: its configuration, our reference implementation of
// the seven owners, and the secrets.
//
// Owners publishes, authorises, rotates and retires generations in the deployment's own database. It writes through
// transactions of the ledger and reads through readers; it decides nothing about what serves. Secrets resolves a
// version at the moment of its use and keeps nothing. The configuration reads files, environment and flags. Nothing here starts anything by itself, and the only
// connection that it opens is to a secret backend, for one request.
package platform
