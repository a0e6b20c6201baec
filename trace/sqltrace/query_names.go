package sqltrace

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// mostNames bounds how many names are looked at for those with a prefix.
const mostNames = 10_000

// JobNames returns the names of the jobs that have executions, in order, of those that begin
// with prefix. It looks at the first 10,000 names.
func (t *Tracer) JobNames(ctx context.Context, prefix string, limit int) ([]string, error) {
	return t.names(ctx, tableExecution, "job_name", prefix, limit)
}

// StatusJobNames is JobNames for changes of state.
func (t *Tracer) StatusJobNames(ctx context.Context, prefix string, limit int) ([]string, error) {
	return t.names(ctx, tableStatus, "job_name", prefix, limit)
}

// Addresses returns the addresses on which there were executions, in order, of those that begin
// with prefix. It looks at the first 10,000 addresses.
func (t *Tracer) Addresses(ctx context.Context, prefix string, limit int) ([]string, error) {
	return t.names(ctx, tableExecution, "ip", prefix, limit)
}

// names goes from one value to the next in the index, whatever is in between. The prefix is
// looked at here: the order of a database may not be that of the characters, so names with a
// prefix need not stand together.
func (t *Tracer) names(ctx context.Context, table, column, prefix string, limit int) ([]string, error) {
	limit, err := checkLimit(limit)
	if err != nil {
		return nil, err
	}
	query := fmt.Sprintf(`WITH RECURSIVE names (name, n) AS (
			SELECT MIN(%[1]s), 1 FROM %[2]s WHERE %[1]s > ?
			UNION ALL
			SELECT (SELECT MIN(t.%[1]s) FROM %[2]s t WHERE t.%[1]s > names.name), n + 1 FROM names WHERE names.name IS NOT NULL AND n < %[3]d)
		SELECT name FROM names WHERE name IS NOT NULL`, column, table, MaxLimit)
	var list []string
	last := ""
	for seen := 0; seen < mostNames; {
		n := 0
		err := t.read(ctx, table, query, []any{last}, func(row scanner) error {
			n++
			if err := row.Scan(&last); err != nil {
				return err
			}
			if strings.HasPrefix(last, prefix) {
				list = append(list, last)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if seen += n; n < MaxLimit {
			break
		}
	}
	slices.Sort(list)
	return list[:min(len(list), limit)], nil
}
