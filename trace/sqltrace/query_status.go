package sqltrace

import (
	"context"
	"fmt"
	"time"
)

// Status is a change of the state of an execution.
type Status struct {
	ID, Job, TaskID, OriginalTaskID string
	// Source is empty in a table of ElasticJob 3.0.5.
	IP, Source string
	// ExecutionType is READY or FAILOVER.
	ExecutionType string
	// Items is [3], or the list of a JVM.
	Items        string
	State        string
	Message      string
	CreationTime time.Time
	Instance     string // not of a JVM
	Attempt      int    // not of a JVM

	place Cursor
}

// StatusFilter says which changes of state are meant. Fields that are zero do not count.
type StatusFilter struct {
	Job, TaskID, ExecutionType, State string
	// Changes are from From on, and before To.
	From, To time.Time
	After    Cursor
	Limit    int
}

var statusKey = key{"creation_time", kindTime}

// Statuses returns the changes that f means, newest first. A page is found in an index if f has
// a Job or a TaskID, or nothing.
func (t *Tracer) Statuses(ctx context.Context, f StatusFilter) (Page[Status], error) {
	limit, err := checkLimit(f.Limit)
	if err != nil {
		return Page[Status]{}, err
	}
	var w where
	w.equal("job_name", f.Job)
	w.equal("task_id", f.TaskID)
	w.equal("execution_type", f.ExecutionType)
	w.equal("state", f.State)
	if err := statusKey.within(t.dialect, &w, f.From, f.To, f.After); err != nil {
		return Page[Status]{}, err
	}
	query := fmt.Sprintf("SELECT %s FROM %s%s%s LIMIT %d", t.dialect.statusColumns(""), tableStatus, &w, statusKey.newestFirst(), limit+1)
	list, err := t.readStatuses(ctx, query, w.args)
	if err != nil {
		return Page[Status]{}, err
	}
	return page(list, limit, func(s Status) Cursor { return s.place }), nil
}

func (d Dialect) statusColumns(of string) string {
	return fmt.Sprintf(`%[1]sid, %[1]sjob_name, %[1]stask_id, %[1]soriginal_task_id, %[1]sslave_id, COALESCE(%[1]ssource, ''), %[1]sexecution_type,
		%[1]ssharding_item, %[1]sstate, COALESCE(%[1]smessage, ''), %[2]s, COALESCE(%[1]stime_micros, 0), COALESCE(%[1]sinstance, ''), COALESCE(%[1]sattempt, 0)`,
		of, d.micros(of+"creation_time"))
}

func (t *Tracer) readStatuses(ctx context.Context, query string, args []any) ([]Status, error) {
	var list []Status
	err := t.read(ctx, tableStatus, query, args, func(row scanner) error {
		var s Status
		var created, exact int64
		err := row.Scan(&s.ID, &s.Job, &s.TaskID, &s.OriginalTaskID, &s.IP, &s.Source, &s.ExecutionType, &s.Items, &s.State,
			&s.Message, &created, &exact, &s.Instance, &s.Attempt)
		s.place, s.CreationTime = cursorAt(created, s.ID), timeOf(created)
		if exact != 0 {
			s.CreationTime = timeOf(exact)
		}
		list = append(list, s)
		return err
	})
	return list, err
}
