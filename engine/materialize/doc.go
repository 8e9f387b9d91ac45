// Package materialize turns a delivery into the content of a Receipt: its components, each an event with the inputs that
// follow from it, or the closed reason why it is none. It is a pure function of the delivery and of what the Receipt's
// epoch froze, so that whoever derives it again finds the same bytes. It does no I/O and cannot fail: whatever a body is,
// it has a content.
//
// Spec: Layer contract (component extraction, event normalization). Rules R12, R15, R16.
package materialize
