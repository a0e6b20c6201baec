package ops

import (
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/errclass"
)

// Errors that a program may want to tell apart.
var (
	// ErrNoJob: the namespace has no job of that name.
	ErrNoJob = errclass.NotFound.New("no-job", "ops: no such job")
	// ErrNoServer: there is no server of that address, in the job or in any job.
	ErrNoServer = errclass.NotFound.New("no-server", "ops: no such server")
	// ErrNoInstance: the job has no live instance of that id.
	ErrNoInstance = errclass.NotFound.New("no-instance", "ops: no such instance")
	// ErrNotRemoved: nothing says that a job of that name was removed.
	ErrNotRemoved = errclass.NotFound.New("not-removed", "ops: the job was not removed")
	// ErrNoCalendar: the namespace has no calendar of that name.
	ErrNoCalendar = errclass.NotFound.New("no-calendar", "ops: no such calendar")
	// ErrNoHistory: nobody has given these operations a history.
	ErrNoHistory = errclass.NotFound.New("no-history", "ops: there is no history: no database of it was given")
	// ErrNoStore: there is no store of that name.
	ErrNoStore = errclass.NotFound.New("", "ops: no such store")
	// ErrJobExists: the namespace has a job of that name.
	ErrJobExists = errclass.AlreadyExists.New("job-exists", "ops: the job exists already")
	// ErrNotRunning: nothing runs that the request is about.
	ErrNotRunning = errclass.FailedPrecondition.New("not-running", "ops: nothing of the kind runs")
	// ErrPaused: the job is paused already.
	ErrPaused = errclass.FailedPrecondition.New("paused", "ops: the job is paused already")
	// ErrNotPaused: the job is not paused.
	ErrNotPaused = errclass.FailedPrecondition.New("not-paused", "ops: the job is not paused")
	// ErrJVM: a JVM member has to do it, and does not know how.
	ErrJVM = errclass.FailedPrecondition.New("jvm-member", "ops: a JVM member of the job cannot do that")
	// ErrOldMember: a Go member of the job has to do it, and its program is too old to know how.
	ErrOldMember = errclass.FailedPrecondition.New("old-member", "ops: a member of the job is too old for that")
	// ErrBusy: the tree changes so often that no attempt has succeeded.
	ErrBusy = errclass.FailedPrecondition.New("busy", "ops: the job changes too fast")
	// ErrOtherSet: the job belongs to another set of files.
	ErrOtherSet = errclass.FailedPrecondition.New("other-set", "ops: the job belongs to another set")
	// ErrBroadcast: in a broadcast job each instance has an item of its own, so there are no pins.
	ErrBroadcast = errclass.FailedPrecondition.New("broadcast", "ops: a broadcast job has no pins")
	// ErrMoving: the job is on its way from this namespace to another one, or to this one. Package migrate
	// goes on with that, or aborts it.
	ErrMoving = errclass.FailedPrecondition.New("moving", "ops: the job is on its way between two namespaces")
	// ErrMoved: a migration has moved the job to another namespace, where it runs. Set up here again, it would run twice.
	ErrMoved = errclass.FailedPrecondition.New("moved", "ops: the job was moved to another namespace, and would run twice")
	// ErrNothingFailed: no item has failed for the tick, as far as the tree tells: it has the last
	// execution of each item.
	ErrNothingFailed = errclass.FailedPrecondition.New("nothing-failed", "ops: nothing has failed")
	// ErrCalendarUsed: jobs name the calendar. A *CalendarUsedError lists them.
	ErrCalendarUsed = errclass.FailedPrecondition.New("calendar-used", "ops: jobs name the calendar")
	// ErrImplementationChanged: the job has not the implementation that was asked for.
	ErrImplementationChanged = errclass.Aborted.New("implementation-changed", "ops: the job has another implementation")
	// ErrConfigChanged: the configuration has not the version that was asked for.
	ErrConfigChanged = errclass.Aborted.New("config-changed", "ops: the configuration has changed")
	// ErrCalendarChanged: the calendar has not the version that was asked for.
	ErrCalendarChanged = errclass.Aborted.New("calendar-changed", "ops: the calendar has changed")
	// ErrManyNamespaces: MaxNamespaces are open.
	ErrManyNamespaces = errclass.Busy.New("too-many-namespaces", fmt.Sprintf("ops: more than %d namespaces", MaxNamespaces))
	// ErrStoreAway: the store could not be connected to; the error has the reason.
	ErrStoreAway = errclass.Unavailable.New("store-away", "ops: the store is away")
	// ErrStoresClosed: Close was called.
	ErrStoresClosed = errclass.Unavailable.New("closing", "ops: the stores were closed")
	// ErrTicks: the schedule has no ticks in the time of a backfill, or more than MaxBackfillTicks.
	ErrTicks = errclass.InvalidArgument.New("bad-ticks", "ops: such ticks cannot be asked for")
	// ErrRequest: what was asked for is never allowed, whoever asks, or not for a job of this kind. It comes as a
	// *RequestError.
	ErrRequest = errclass.InvalidArgument.New("invalid", "ops: not allowed")
)

// RequestError says what is wrong with a field of a request.
type RequestError struct {
	Field string // as in the documents of package console: from, items
	Err   error  // with what is allowed
}

func (e *RequestError) Error() string { return e.Err.Error() }

// Unwrap returns ErrRequest and Err.
func (e *RequestError) Unwrap() []error { return []error{ErrRequest, e.Err} }

func wrong(field, format string, args ...any) error {
	return &RequestError{field, fmt.Errorf(format, args...)}
}
