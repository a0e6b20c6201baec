package dataflow

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Fetch returns the next rows of an item: about size of them, which is the property
// dataflow.page.size. If it returns more, all of them are processed. If it returns none, the
// execution is through.
type Fetch[T any] func(ctx context.Context, sc job.ShardingContext, size int) ([]T, error)

// FetchAfter is Fetch with a cursor: it returns the rows after a place, and the place that is
// next, which is after the last of these rows. At the very first the place is the zero C.
//
// If it returns no rows, next does not count: the cursor stays where it is. So it has to go on
// by itself over pages in which nothing is for its item.
type FetchAfter[T, C any] func(ctx context.Context, sc job.ShardingContext, after C, size int) (rows []T, next C, err error)

// Process does the work on the rows of one batch; there is at least one. An error or a panic
// ends the execution, and the cursor stays before the batch. It has to return soon after ctx
// has ended.
type Process[T any] func(ctx context.Context, sc job.ShardingContext, rows []T) error

// ErrCursorStays: the fetch has returned rows together with the cursor that it was given, so
// it would return them for ever. They are not processed.
var ErrCursorStays = errors.New("dataflow: the cursor does not move although there are rows")

// Flow fetches and processes. Give it to [job.Schedule] as the handler. Make it
// with [New] or [WithCursor].
type Flow struct {
	hasCursor bool
	// begin begins an execution. It is nil if a function is missing.
	begin func(ctx context.Context, sc job.ShardingContext) (batch, error)
}

// batch fetches and processes one batch, and returns how many rows it had.
type batch func(size int) (rows int, err error)

// New returns a Flow whose fetch knows by itself what is still to do: the rows that have not
// been marked as done, say.
func New[T any](fetch Fetch[T], process Process[T]) *Flow {
	if fetch == nil || process == nil {
		return &Flow{}
	}
	return &Flow{begin: func(ctx context.Context, sc job.ShardingContext) (batch, error) {
		return func(size int) (int, error) {
			rows, err := fetch(ctx, sc, size)
			if err != nil {
				return 0, fmt.Errorf("dataflow: fetch: %w", err)
			}
			return len(rows), processed(ctx, sc, rows, process)
		}, nil
	}}
}

// WithCursor returns a Flow that goes on where the item's last batch has ended, on whatever
// instance that was. C is what says where that is: an id, or a struct with a time and an id. It
// is kept as JSON, of up to [job.MaxCursor] bytes, and every fetch is given what that JSON says.
//
// It needs MonitorExecution, because the claim of the execution protects the cursor.
func WithCursor[T, C any](fetch FetchAfter[T, C], process Process[T]) *Flow {
	if fetch == nil || process == nil {
		return &Flow{hasCursor: true}
	}
	return &Flow{hasCursor: true, begin: func(ctx context.Context, sc job.ShardingContext) (batch, error) {
		at, err := job.Cursor(ctx)
		if err != nil {
			return nil, fmt.Errorf("dataflow: %w", err)
		}
		return func(size int) (int, error) {
			after, err := decode[C](at)
			if err != nil {
				return 0, err
			}
			rows, next, err := fetch(ctx, sc, after, size)
			if err != nil {
				return 0, fmt.Errorf("dataflow: fetch: %w", err)
			}
			if len(rows) == 0 {
				return 0, nil
			}
			// What cannot be kept is found before the rows are processed.
			to, err := encode(next)
			if err == nil && to == at {
				err = ErrCursorStays
			}
			if err != nil {
				return 0, job.NoRetry(err)
			}
			if err := processed(ctx, sc, rows, process); err != nil {
				return len(rows), err
			}
			if err := job.MoveCursor(ctx, to); err != nil {
				return len(rows), fmt.Errorf("dataflow: %d rows are processed, and will be once again: %w", len(rows), err)
			}
			at = to
			return len(rows), nil
		}, nil
	}}
}

func processed[T any](ctx context.Context, sc job.ShardingContext, rows []T, process Process[T]) error {
	if len(rows) == 0 {
		return nil
	}
	if err := process(ctx, sc, rows); err != nil {
		return fmt.Errorf("dataflow: process: %w", err)
	}
	return nil
}

// Describe implements [jobtype.Describer].
func (f *Flow) Describe() []jobtype.PropertyInfo { return properties().Describe() }

// Handler checks a configuration, and returns what does the work under it.
func (f *Flow) Handler(c job.Config) (job.Handler, error) {
	if f.begin == nil {
		return nil, &job.FieldError{Field: "handler", Err: errNoFunction}
	}
	if f.hasCursor && c.MonitorExecution == job.Off {
		return nil, &job.FieldError{Field: "monitorExecution", Value: "false", Err: errors.New("a dataflow with a cursor needs it, because the claim of an execution protects the cursor")}
	}
	s, err := read(job.NewProperties(c.Props))
	if err != nil {
		return nil, err
	}
	return handler{f, s.streaming}, nil
}

var errNoFunction = errors.New("a dataflow needs a function that fetches and one that processes")

// handler is a Flow under a configuration. An execution reads the properties by itself.
type handler struct {
	*Flow
	streams bool
}

// Streams says that an execution may go on over its ticks ([job.Streamer]).
func (h handler) Streams() bool { return h.streams }
