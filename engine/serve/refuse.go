package serve

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"net"
	"strings"

	"connectorcore/facts"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

// Server error numbers that start-up tells apart.
const (
	codeDatabaseDenied  = 1044
	codeAccessDenied    = 1045
	codeUnknownDatabase = 1049
	codeNoSuchGrant     = 1141
	codeTableDenied     = 1142
	codeColumnDenied    = 1143
	codeNeedsPrivilege  = 1227
	codeRoleNotGranted  = 3530
)

// refuse gives an error of one step of the start-up its code: an unreachable server and a missing privilege are what
// they are in every step, and everything else is what the step looks for.
func refuse(err error, about string, looksFor facts.Code) error {
	var difference *schema.DifferenceError
	var answer *mysql.MySQLError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return errors.Wrapf(err, "store %s: the start was interrupted", about)
	case errors.As(err, &difference) && difference.OnlyRoles():
		return facts.Refuse(facts.PrivilegesDiffer, facts.OfStore(about), "%s", listed(difference.Differences))
	case errors.As(err, &difference):
		return facts.Refuse(facts.SchemaDiffers, facts.OfStore(about), "%s", listed(difference.Differences))
	case errors.Is(err, schema.ErrNoDatabase):
		return facts.Refuse(facts.SchemaDiffers, facts.OfStore(about), "%v", err)
	case isGone(err):
		return facts.Refuse(facts.StoreUnreachable, facts.OfStore(about), "%v", err)
	case errors.As(err, &answer) && isDenied(answer.Number):
		return facts.Refuse(facts.PrivilegesDiffer, facts.OfStore(about), "%v", err)
	}
	return facts.Refuse(looksFor, facts.OfStore(about), "%v", err)
}

// isGone tells a server that does not answer from one that answers with an error.
func isGone(err error) bool {
	var network net.Error
	for _, gone := range []error{mysql.ErrInvalidConn, driver.ErrBadConn, io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return errors.As(err, &network)
}

func isDenied(number uint16) bool {
	switch number {
	case codeDatabaseDenied, codeAccessDenied, codeTableDenied, codeColumnDenied, codeNeedsPrivilege, codeRoleNotGranted:
		return true
	}
	return false
}

// listedMax keeps a sentence readable; `connector schema verify` prints all.
const listedMax = 5

func listed(differences []string) string {
	text := strings.Join(differences[:min(len(differences), listedMax)], "; ")
	if more := len(differences) - listedMax; more > 0 {
		text += fmt.Sprintf("; and %d more, listed by 'connector schema verify'", more)
	}
	return text
}
