package sqltrace

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/elasticjob-go/elasticjob/trace/history"
)

// mostCounted bounds the total of a search.
const mostCounted = 1_000_000

// SearchExecutions searches as ElasticJob's console does, by number of page. Programs had better
// ask Executions, which is as fast for the last page as for the first.
func (t *Tracer) SearchExecutions(ctx context.Context, s history.ExecutionSearch) (history.Found[history.Execution], error) {
	var w where
	w.equal("job_name", s.Job)
	w.equal("ip", s.IP)
	if s.Success != nil {
		success := any(*s.Success)
		if t.dialect != PostgreSQL {
			success = map[bool]int{true: 1}[*s.Success]
		}
		w.add("is_success = ?", success)
	}
	var found history.Found[history.Execution]
	query, err := t.search(ctx, executionTable(), s.Search, &w, t.dialect.executionColumns("x."), &found.Total)
	if err != nil {
		return found, err
	}
	list, err := t.readExecutions(ctx, query, w.args)
	found.Rows = rowsOf(list)
	return found, err
}

// SearchStatuses searches as ElasticJob's console does, by number of page.
func (t *Tracer) SearchStatuses(ctx context.Context, s history.StatusSearch) (history.Found[history.Status], error) {
	var w where
	w.equal("job_name", s.Job)
	w.equal("source", s.Source)
	w.equal("execution_type", s.ExecutionType)
	w.equal("state", s.State)
	var found history.Found[history.Status]
	query, err := t.search(ctx, statusTable(), s.Search, &w, t.dialect.statusColumns("x."), &found.Total)
	if err != nil {
		return found, err
	}
	list, err := t.readStatuses(ctx, query, w.args)
	found.Rows = rowsOf(list)
	return found, err
}

// search counts the rows, and returns the query for a page of them.
func (t *Tracer) search(ctx context.Context, of table, s history.Search, w *where, columns string, total *int64) (string, error) {
	if s.Number < 1 || s.Size < 1 {
		s.Number, s.Size = 1, 10
	}
	if s.Size > history.MaxLimit || s.Number > mostCounted {
		return "", fmt.Errorf("%w: page %d of %d rows: %d pages of %d rows are allowed", history.ErrQuery, s.Number, s.Size, mostCounted, history.MaxLimit)
	}
	if !s.From.IsZero() {
		w.add(of.since+" >= ?", t.dialect.moment(s.From))
	}
	if !s.To.IsZero() {
		w.add(of.since+" <= ?", t.dialect.moment(s.To))
	}
	count := fmt.Sprintf("SELECT COUNT(*) FROM (SELECT 1 FROM %s%s LIMIT %d) counted", of.name, w, mostCounted)
	if err := t.read(ctx, of.name, count, w.args, func(row scanner) error { return row.Scan(total) }); err != nil {
		return "", err
	}
	order := " ORDER BY " + of.order("", s)
	// The ids come out of an index first; a page that is far behind would read the rows before it.
	return fmt.Sprintf("SELECT %s FROM (SELECT id FROM %s%s%s LIMIT %d OFFSET %d) found JOIN %s x ON x.id = found.id ORDER BY %s",
		columns, of.name, w, order, s.Size, (s.Number-1)*s.Size, of.name, of.order("x.", s)), nil
}

// order returns the columns to sort by. The id makes it the same each time.
func (of table) order(alias string, s history.Search) string {
	by := snake(s.Sort)
	known := slices.ContainsFunc(of.columns, func(c column) bool { return c.theirs && c.name == by })
	if !known {
		return alias + of.since + " DESC, " + alias + "id DESC"
	}
	way := ""
	if s.Descending {
		way = " DESC"
	}
	if by == "id" {
		return alias + "id" + way
	}
	return alias + by + way + ", " + alias + "id" + way
}

// snake returns the column of a field of Java: start_time of startTime.
func snake(field string) string {
	var b strings.Builder
	for _, r := range field {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
