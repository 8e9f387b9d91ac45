// Command connector is the daemon and its tools. It holds flags and wiring only: what a command does is in the rooms
// below.
//
// Data go to standard output in the form of --output; everything that is said to a person goes to standard error. A
// failure is one sentence and an exit code (see exit.go) that scripts may rely on.
package main
