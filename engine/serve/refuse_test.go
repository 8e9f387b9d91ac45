package serve

import (
	"context"
	"database/sql/driver"
	"io"
	"net"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
	"github.com/go-sql-driver/mysql"
)

func TestAnErrorOfAStepGetsTheCodeOfWhatItIs(t *testing.T) {
	answered := func(number uint16) error {
		return errors.Wrap(&mysql.MySQLError{Number: number, Message: "said"}, "a step")
	}
	for _, c := range []struct {
		err  error
		want facts.Code
	}{
		{errors.Wrap(mysql.ErrInvalidConn, "a step"), facts.StoreUnreachable},
		{driver.ErrBadConn, facts.StoreUnreachable},
		{io.ErrUnexpectedEOF, facts.StoreUnreachable},
		{context.DeadlineExceeded, facts.StoreUnreachable},
		{errors.Wrap(&net.OpError{Op: "dial", Err: errors.New("refused")}, "a step"), facts.StoreUnreachable},
		{errors.Wrap(&schema.DifferenceError{Differences: []string{"d"}}, "a step"), facts.SchemaDiffers},
		{errors.Mark(errors.New("none"), schema.ErrNoDatabase), facts.SchemaDiffers},
		{answered(codeDatabaseDenied), facts.PrivilegesDiffer},
		{answered(codeTableDenied), facts.PrivilegesDiffer},
		{answered(1193), facts.StoreTooOld}, // what the step looks for
		{errors.New("a variable is wrong"), facts.StoreTooOld},
	} {
		var refusal *facts.Refusal
		if err := refuse(c.err, "h:1/d", facts.StoreTooOld); !errors.As(err, &refusal) || refusal.Code != c.want {
			t.Errorf("%v: got %v, want %s", c.err, err, c.want)
		}
	}
	if err := refuse(nil, "h:1/d", facts.StoreTooOld); err != nil {
		t.Errorf("no error became %v", err)
	}
	var refusal *facts.Refusal
	if err := refuse(context.Canceled, "h:1/d", facts.StoreTooOld); errors.As(err, &refusal) || !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted start is a refusal: %v", err)
	}
}

func TestManyDifferencesStayOneSentence(t *testing.T) {
	got := listed(strings.Split("abcdefg", ""))
	if got != "a; b; c; d; e; and 2 more, listed by 'connector schema verify'" {
		t.Errorf("got %q", got)
	}
}
