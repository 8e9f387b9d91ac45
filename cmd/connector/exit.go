package main

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"connectorcore/engine/platform"
	"connectorcore/facts"

	"github.com/cockroachdb/errors"
	"github.com/spf13/cobra"
)

// The exit codes. They are part of the interface and never change their meaning.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitUnavailable = 5
	exitUncertain   = 6
)

// exitSays is what each code means, in the words of the help and of docs/commands.md.
var exitSays = []string{
	exitDone:        "done",
	exitFailed:      "failed",
	exitUsage:       "wrong usage or configuration",
	exitNotFound:    "not found",
	exitConflict:    "conflict or stale fence",
	exitUnavailable: "the store is unavailable",
	exitUncertain:   "the outcome is uncertain",
}

// exits are the refusals that end a command otherwise than with exitFailed.
var exits = map[facts.Code]int{
	facts.ConfigurationInvalid: exitUsage,
	facts.StoreUnreachable:     exitUnavailable,
	facts.StoreDirectoryInUse:  exitConflict,
	facts.ContentDiffers:       exitConflict,
	facts.WrongState:           exitConflict,
	facts.PublicationBarred:    exitConflict,
	facts.StaleHolder:          exitConflict,
	facts.OwnerDisagrees:       exitConflict,
	facts.BarrierNotHeld:       exitConflict,
	facts.OwnerUnavailable:     exitUnavailable,
	facts.GenerationReferenced: exitConflict,
	facts.StaleCredentialFence: exitConflict,
	facts.SubjectMissing:       exitNotFound,
}

// usageError is a command line that cannot be understood.
type usageError struct{ text, path string }

func (e *usageError) Error() string { return e.text + "; see '" + e.path + " --help'" }

func usage(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), cmd.CommandPath()}
}

// end tells the error, if there is one, and gives its exit code.
func (p *program) end(err error) int {
	if err == nil {
		return exitDone
	}
	var several complaints
	var invalid *platform.Invalid
	switch {
	case errors.Is(err, context.Canceled): // by a signal: nothing else cancels a command
		p.say("interrupted; run it again to go on (%v)", err)
	case errors.As(err, &several):
		for _, line := range several {
			_, _ = fmt.Fprintln(p.err, oneLine(line)) // as in say
		}
	case errors.As(err, &invalid):
		for _, fault := range invalid.Faults {
			p.say("%s: %s", facts.ConfigurationInvalid, fault)
		}
	default:
		p.say("%v", err)
	}
	return exitOf(err)
}

func exitOf(err error) int {
	var wrong *usageError
	var refusal *facts.Refusal
	switch {
	case errors.As(err, &wrong):
		return exitUsage
	case errors.As(err, &refusal):
		if code, other := exits[refusal.Code]; other {
			return code
		}
	case errors.Is(err, facts.ErrOutcomeUnknown):
		return exitUncertain
	case errors.Is(err, context.DeadlineExceeded):
		return exitUnavailable
	}
	return exitFailed
}

// say writes one line to the person. An error of several lines becomes one.
func (p *program) say(format string, args ...any) {
	// Standard error is the last place to say anything; if it is closed there is nobody to tell.
	_, _ = fmt.Fprintln(p.err, "connector: "+oneLine(fmt.Sprintf(format, args...)))
}

// oneLine joins lines, and lets nothing through that a terminal would obey.
func oneLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range lines {
		lines[i] = strings.TrimSpace(strings.Map(plain, lines[i]))
	}
	return strings.Join(lines, " ")
}

func plain(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}
