// Package exit says with which code the command ends: one table, for the program, its help and
// its tests. That of an error of the library follows from its class (package errclass).
package exit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/errclass"
	"github.com/elasticjob-go/elasticjob/ops/migrate"
)

// Code is what a shell sees as $?.
type Code int

// Codes do not change from version to version.
const (
	Done        Code = 0
	Failed      Code = 1
	Usage       Code = 2
	NotFound    Code = 3
	Conflict    Code = 4
	Denied      Code = 5
	Unreachable Code = 6
	Findings    Code = 7
	RunFailed   Code = 8
	NotInTime   Code = 9
	Interrupted Code = 130
)

// Meaning is a row of the table.
type Meaning struct {
	Code    Code
	Meaning string
}

// Meanings returns all codes, ascending.
func Meanings() []Meaning {
	return []Meaning{
		{Done, "done; also if nothing had to be changed"},
		{Failed, "failed, for a reason that no other code stands for"},
		{Usage, "the command line, the contexts file or a value given is wrong; nothing was done"},
		{NotFound, "there is no such job, item, instance, request, calendar, context, user or token"},
		{Conflict, "the state does not allow it, or has changed meanwhile, or somebody else is at it"},
		{Denied, "the store refuses: wrong user or password, a missing right, an untrusted certificate"},
		{Unreachable, "the store, or the database, cannot be reached, or gave no answer: then it may have been done"},
		{Findings, "findings (doctor, see --fail-on), differences (diff, migrate, get --for-jvm), mistakes (validate), or what is left out (export)"},
		{RunFailed, "an item of the run that was waited for was not successful"},
		{NotInTime, "not through within --timeout; what was asked for may go on"},
		{Interrupted, "interrupted by a signal"},
	}
}

// Table returns the table as text.
func Table() string {
	var b strings.Builder
	for _, m := range Meanings() {
		fmt.Fprintf(&b, "%5d  %s\n", m.Code, m.Meaning)
	}
	return b.String()
}

// Error is an error that ends the program with a certain code.
type Error struct {
	Code Code
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// With returns an error with a code; nil stays nil.
func With(code Code, err error) error {
	if err == nil {
		return nil
	}
	return &Error{code, err}
}

// Errorf is With for a new error.
func Errorf(code Code, format string, args ...any) error {
	return &Error{code, fmt.Errorf(format, args...)}
}

// Of returns the code of an error. What the store says counts before what it has led to.
func Of(err error) Code {
	own, isOwn := errors.AsType[*Error](err)
	classed, isClassed := errors.AsType[*errclass.Error](err)
	switch {
	case err == nil:
		return Done
	case isOwn:
		return own.Code
	case errors.Is(err, coord.ErrDenied):
		return Denied
	case errors.Is(err, coord.ErrUnknownOutcome):
		return Unreachable
	case errors.Is(err, context.DeadlineExceeded):
		return NotInTime
	case errors.Is(err, migrate.ErrDiffers):
		return Findings
	case isClassed:
		return ofClass(classed.Class)
	default:
		return Failed
	}
}

func ofClass(c errclass.Class) Code {
	switch c {
	case errclass.InvalidArgument:
		return Usage
	case errclass.NotFound:
		return NotFound
	case errclass.AlreadyExists, errclass.FailedPrecondition, errclass.Aborted, errclass.Busy:
		return Conflict
	case errclass.PermissionDenied:
		return Denied
	case errclass.Unavailable, errclass.Unimplemented:
		return Unreachable
	default:
		return Failed
	}
}
