package sqltrace

import (
	"context"
	"database/sql"
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

// names goes from one value to the next in the index, whatever is in between: by a query for
// each, because MariaDB finds the place in the index for a constant only. The prefix is looked
// at here: the order of a database may not be that of the characters, so names with a prefix
// need not stand together.
func (t *Tracer) names(ctx context.Context, table, column, prefix string, limit int) ([]string, error) {
	limit, err := checkLimit(limit)
	if err != nil {
		return nil, err
	}
	query := fmt.Sprintf("SELECT MIN(%[1]s) FROM %[2]s WHERE %[1]s > ?", column, table)
	var list []string
	err = t.reading(ctx, table, func(ctx context.Context, on querier) error {
		name := sql.NullString{Valid: true}
		for range mostNames {
			err := t.readOn(ctx, on, query, []any{name.String}, func(row scanner) error { return row.Scan(&name) })
			if err != nil || !name.Valid {
				return err
			}
			if strings.HasPrefix(name.String, prefix) {
				list = append(list, name.String)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(list)
	return list[:min(len(list), limit)], nil
}
