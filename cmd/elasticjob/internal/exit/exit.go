// Package exit says with which code the command ends: one table, for the program, its help and
// its tests.
package exit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/declare"
	"github.com/elasticjob-go/elasticjob/ops/migrate"
	"github.com/elasticjob-go/elasticjob/ops/rights"
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
		{Findings, "findings of severity warning or worse (doctor; see --fail-on), or differences (diff, get --for-jvm)"},
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

// Of returns the code of an error.
func Of(err error) Code {
	if err == nil {
		return Done
	}
	if own, ok := errors.AsType[*Error](err); ok {
		return own.Code
	}
	for _, row := range sentinels() {
		if errors.Is(err, row.err) {
			return row.code
		}
	}
	if _, ok := errors.AsType[*jobtype.ConfigError](err); ok {
		return Usage
	}
	return Failed
}

type sentinel struct {
	err  error
	code Code
}

// sentinels lists the errors of the library; the first that matches counts. So what the store says
// comes first: it may be the cause of another one.
func sentinels() []sentinel {
	return []sentinel{
		{coord.ErrDenied, Denied},
		{coord.ErrUnknownOutcome, Unreachable},
		{context.DeadlineExceeded, NotInTime},
		{coord.ErrUnavailable, Unreachable},
		{coord.ErrSessionLost, Unreachable},
		{coord.ErrUnsupported, Unreachable},
		{coord.ErrInvalidConfig, Usage},

		{ops.ErrNoJob, NotFound},
		{ops.ErrNoServer, NotFound},
		{ops.ErrNoInstance, NotFound},
		{ops.ErrNoCalendar, NotFound},
		{ops.ErrNoStore, NotFound},
		{ops.ErrNotRemoved, NotFound},
		{jobtype.ErrNoRequest, NotFound},
		{jobtype.ErrNoItem, NotFound},

		{rights.ErrInUse, Conflict},
		{rights.ErrUnsettled, Conflict},
		{rights.ErrLockout, Usage},

		{ops.ErrNoHistory, Usage},
		{ops.ErrManyNamespaces, Usage},
		{ops.ErrStoreAway, Unreachable},
		{ops.ErrStoresClosed, Unreachable},
		{ops.ErrTicks, Usage},
		{ops.ErrRequest, Usage},

		{ops.ErrBusy, Conflict},
		{ops.ErrMoving, Conflict},
		{ops.ErrMoved, Conflict},
		{ops.ErrNotRunning, Conflict},
		{ops.ErrNothingFailed, Conflict},
		{ops.ErrPaused, Conflict},
		{ops.ErrNotPaused, Conflict},
		{ops.ErrJVM, Conflict},
		{ops.ErrOldMember, Conflict},
		{ops.ErrBroadcast, Conflict},
		{ops.ErrJobExists, Conflict},
		{ops.ErrImplementationChanged, Conflict},
		{ops.ErrConfigChanged, Conflict},
		{ops.ErrCalendarChanged, Conflict},
		{ops.ErrCalendarUsed, Conflict},
		{ops.ErrOtherSet, Conflict},
		{declare.ErrEmpty, Usage},
		{jobtype.ErrQueueFull, Conflict},
		{jobtype.ErrNobodyRunsIt, Conflict},
		{jobtype.ErrKindConflict, Conflict},
		{jobtype.ErrOldMembers, Conflict},
		{migrate.ErrRefused, Conflict},
		{migrate.ErrOther, Conflict},
		{migrate.ErrTakenOver, Conflict},
		{migrate.ErrSetUpAgain, Conflict},
		{migrate.ErrDiffers, Findings},
		{migrate.ErrNone, NotFound},

		{access.ErrNoUser, NotFound},
		{access.ErrNoToken, NotFound},
		{access.ErrNoFile, NotFound},
		{access.ErrExists, Conflict},
		{access.ErrLastAdmin, Conflict},
		{access.ErrLocked, Conflict},
		{access.ErrInvalid, Usage},
		{access.ErrPassword, Usage},
		{access.ErrHash, Usage},
		{access.ErrExposed, Usage},

		{coord.ErrConflict, Conflict},
		{coord.ErrNoNode, NotFound},
	}
}
