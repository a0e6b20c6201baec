package history

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/errclass"
	"github.com/elasticjob-go/elasticjob/trace"
)

// Reader answers questions about what has happened. All methods may be called from any goroutine,
// and return an error that wraps [ErrQuery] if the question is not allowed. A limit is 1 to
// [MaxLimit], or 0 for [DefaultLimit].
type Reader interface {
	// Executions returns the executions that f means, newest first.
	Executions(ctx context.Context, f ExecutionFilter) (Page[Execution], error)
	// Execution returns one execution, with its Output. [ErrNotFound] says that there is none.
	Execution(ctx context.Context, id string) (Execution, error)
	// Chain returns the executions of the item of x for the tick of x, and those that repeat the
	// same one as x does, x among them, oldest first: failovers, and what an operator has run again.
	Chain(ctx context.Context, x Execution) ([]Execution, error)
	// Latest returns the newest execution of each item of a job, by item: of items above after (-1
	// is before the first).
	Latest(ctx context.Context, job string, after, limit int) ([]Execution, error)
	// Outlines returns what a timeline shows of the executions of a job, newest first: as many as q.Limit says.
	Outlines(ctx context.Context, q OutlineQuery) (Outlines, error)
	// Lines returns the lines of an execution's log after the line with number after; 0 is before
	// the first one. Of an execution under way it may be asked again and again.
	Lines(ctx context.Context, id string, after, limit int) ([]trace.Line, error)
	// Statuses returns the changes of state that f means, newest first.
	Statuses(ctx context.Context, f StatusFilter) (Page[Status], error)
	// Events returns what has happened beside executions, newest first.
	Events(ctx context.Context, f EventFilter) (Page[trace.Event], error)
	// Counts counts executions by hour or by day. Hours and days without any are left out.
	Counts(ctx context.Context, q CountQuery) ([]Count, error)
	// Missed counts ticks that were missed, by hour or by day. Hours and days without any are left out.
	Missed(ctx context.Context, q CountQuery) ([]Missed, error)
	// Lanes returns what has become of all jobs from one time up to another. Of a time with few executions the cells are short;
	// in others they are a quarter of an hour, and what runs, and what JVMs have written, is not counted.
	Lanes(ctx context.Context, from, to time.Time) (Lanes, error)
	// Durations looks at the newest executions of a job, or of all jobs if it is empty, that have
	// ended and that began at from or later and before to; zero is open.
	Durations(ctx context.Context, job string, from, to time.Time) (Durations, error)

	// JobNames returns the names of the jobs that have executions, in order, of those that begin
	// with prefix.
	JobNames(ctx context.Context, prefix string, limit int) ([]string, error)
	// StatusJobNames is JobNames for changes of state.
	StatusJobNames(ctx context.Context, prefix string, limit int) ([]string, error)
	// Addresses returns the addresses on which there were executions, in order, of those that begin
	// with prefix.
	Addresses(ctx context.Context, prefix string, limit int) ([]string, error)
	// SearchExecutions searches as ElasticJob's console does, by number of page. Programs had better
	// ask Executions, which is as fast for the last page as for the first.
	SearchExecutions(ctx context.Context, s ExecutionSearch) (Found[Execution], error)
	// SearchStatuses searches as ElasticJob's console does, by number of page.
	SearchStatuses(ctx context.Context, s StatusSearch) (Found[Status], error)
}

// Bounds of a query.
const (
	// MaxLimit is the most rows that a query returns, and DefaultLimit how many it returns if
	// its limit is 0.
	MaxLimit     = 1000
	DefaultLimit = 100
	// MaxSteps bounds the time that is counted, in hours or days.
	MaxSteps = 1000
	// MostOutlines bounds how many executions Outlines returns.
	MostOutlines = 100_000
	// MostDurations bounds how many executions Durations looks at.
	MostDurations = 2000
)

// Errors that a program may want to tell apart.
var (
	// ErrQuery is wrapped by what says that a query asks for something that is not allowed.
	ErrQuery = errclass.InvalidArgument.New("invalid", "history: query")
	// ErrNotFound says that there is no such execution, or not any more.
	ErrNotFound = errclass.NotFound.New("no-execution", "history: there is no such execution")
)

// Page is a part of an answer, newest first. Next is for the next part; it is empty if there
// is none. Rows that are written between two queries change no page that follows.
type Page[T any] struct {
	Rows []T
	Next Cursor
}

// Cursor is the place behind the last row of a page: what Page.Next has returned. The zero value is
// the beginning.
type Cursor string
