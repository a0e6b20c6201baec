package cronexpr

import (
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// ErrNeverFires is in the chain of the error for an expression that is well
// formed but has no time at all from 1970 to 2099, such as 30 February.
var ErrNeverFires = errors.New("the expression never fires")

// ParseError says what is wrong with an expression, and where.
type ParseError struct {
	Expr     string // the whole expression, as given
	Field    string // such as "day-of-week"; empty if no single field is to blame
	Text     string // the part of Expr that offends; empty if something is missing
	Position int    // where Text begins in Expr, in characters from 1
	Problem  string // what is wrong with Text
	Allowed  string // what may stand there; empty if Problem says it

	cause error
}

// Error puts all fields into one line. Of a long text it shows the beginning.
func (e *ParseError) Error() string {
	where := fmt.Sprintf("position %d", e.Position)
	if e.Text != "" {
		where = fmt.Sprintf("%s at %s", brief.Quote(e.Text), where)
	}
	if e.Field != "" {
		where = e.Field + " " + where
	}
	message := fmt.Sprintf("cron expression %s: %s: %s", brief.Quote(e.Expr), where, e.Problem)
	if e.Allowed != "" {
		message += "; allowed: " + e.Allowed
	}
	return message
}

// Unwrap returns ErrNeverFires, the error of the duration after @every, or nil.
func (e *ParseError) Unwrap() error { return e.cause }
