package sqltrace

import (
	"context"
	"fmt"

	"github.com/elasticjob-go/elasticjob/trace/history"
)

var statusKey = key{"creation_time", kindTime}

// Statuses returns the changes that f means, newest first. A page is found in an index if f has
// a Job or a TaskID, or nothing.
func (t *Tracer) Statuses(ctx context.Context, f history.StatusFilter) (history.Page[history.Status], error) {
	limit, err := checkLimit(f.Limit)
	if err != nil {
		return history.Page[history.Status]{}, err
	}
	var w where
	w.equal("job_name", f.Job)
	w.equal("task_id", f.TaskID)
	w.equal("execution_type", f.ExecutionType)
	w.equal("state", f.State)
	if err := statusKey.within(t.dialect, &w, f.From, f.To, f.After); err != nil {
		return history.Page[history.Status]{}, err
	}
	query := fmt.Sprintf("SELECT %s FROM %s%s%s LIMIT %d", t.dialect.statusColumns(""), tableStatus, &w, statusKey.newestFirst(), limit+1)
	list, err := t.readStatuses(ctx, query, w.args)
	if err != nil {
		return history.Page[history.Status]{}, err
	}
	return page(list, limit), nil
}

func (d Dialect) statusColumns(of string) string {
	return fmt.Sprintf(`%[1]sid, %[1]sjob_name, %[1]stask_id, %[1]soriginal_task_id, %[1]sslave_id, COALESCE(%[1]ssource, ''), %[1]sexecution_type,
		%[1]ssharding_item, %[1]sstate, COALESCE(%[1]smessage, ''), %[2]s, COALESCE(%[1]stime_micros, 0), COALESCE(%[1]sinstance, ''), COALESCE(%[1]sattempt, 0)`,
		of, d.micros(of+"creation_time"))
}

func (t *Tracer) readStatuses(ctx context.Context, query string, args []any) ([]placed[history.Status], error) {
	var list []placed[history.Status]
	err := t.read(ctx, tableStatus, query, args, func(row scanner) error {
		var s history.Status
		var created, exact int64
		err := row.Scan(&s.ID, &s.Job, &s.TaskID, &s.OriginalTaskID, &s.IP, &s.Source, &s.ExecutionType, &s.Items, &s.State,
			&s.Message, &created, &exact, &s.Instance, &s.Attempt)
		s.CreationTime = timeOf(created)
		if exact != 0 {
			s.CreationTime = timeOf(exact)
		}
		list = append(list, placed[history.Status]{s, cursorAt(created, s.ID)})
		return err
	})
	return list, err
}
