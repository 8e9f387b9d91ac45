// Package platform is what the daemon stands on beside the store: its configuration, and later the reference owners
// and the secrets.
//
// It reads files, environment and flags and hands out values. It opens no connection and starts nothing.
package platform
