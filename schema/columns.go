package schema

import (
	"database/sql/driver"

	"github.com/cockroachdb/errors"
)

// optional stores the absence of a reference as NULL, so that no byte string stands for nothing.
type optional[T interface{ IsZero() bool }] struct{ at *T }

func (o optional[T]) Value() (driver.Value, error) {
	if (*o.at).IsZero() {
		return nil, nil
	}
	return any(*o.at).(driver.Valuer).Value()
}

func (o optional[T]) Scan(source any) error {
	if source == nil {
		var none T
		*o.at = none
		return nil
	}
	return any(o.at).(interface{ Scan(any) error }).Scan(source)
}

func unbound(what string) error { return errors.AssertionFailedf("%s was bound to a statement", what) }

func misread(what string, source any) error {
	return errors.AssertionFailedf("a column for %s held %T", what, source)
}
