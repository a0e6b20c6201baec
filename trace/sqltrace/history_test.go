package sqltrace_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/testserver/database"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace/history"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// rows is how many executions TestHistory has. With a million (make history) it also measures.
var rows = flag.Int("rows", 4_000, "executions in the history that is searched")

// allowed is how long a query may take on a million rows.
const allowed = 50 * time.Millisecond

// planted is a history of 30 days: 20 jobs with 10 items each, on 50 servers. One execution of
// 100 has failed.
type planted struct {
	*home
	now time.Time
	n   int
}

func plant(h *home, n int) planted {
	h.Helper()
	p := planted{home: h, now: time.Now().UTC().Truncate(time.Second), n: n}
	if err := h.open(sqltrace.Options{}).Migrate(h.within()); err != nil {
		h.Fatal(err)
	}
	step := 30 * 24 * time.Hour / time.Duration(n)
	start := fmt.Sprintf("(%d + n * %d)", p.now.Add(-step*time.Duration(n)).UnixMicro(), step.Microseconds())
	took := "(n * 7919 % 60000000)"
	hex, at := "printf('%012x', n)", func(micros string) string {
		return "strftime('%Y-%m-%d %H:%M:%S', " + micros + " / 1000000, 'unixepoch') || printf('.%06d', " + micros + " % 1000000)"
	}
	numbers := fmt.Sprintf("(WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d) SELECT n FROM numbers)", n-1)
	yes, divide, text := "1", "/", func(number string) string { return "CAST(" + number + " AS CHAR(20))" }
	concat := func(parts ...string) string { return "(" + strings.Join(parts, " || ") + ")" }
	switch h.dialect {
	case sqltrace.MySQL:
		hex, divide = "LPAD(LOWER(HEX(n)), 12, '0')", "DIV"
		at = func(micros string) string { return "FROM_UNIXTIME(" + micros + " / 1000000)" }
		concat = func(parts ...string) string { return "CONCAT(" + strings.Join(parts, ", ") + ")" }
		numbers = fmt.Sprintf("(SELECT seq AS n FROM seq_0_to_%d)", n-1)
	case sqltrace.PostgreSQL:
		hex, yes = "LPAD(TO_HEX(n), 12, '0')", "TRUE"
		at = func(micros string) string { return "(TO_TIMESTAMP(" + micros + " / 1000000.0) AT TIME ZONE 'UTC')" }
		text = func(number string) string { return "CAST(" + number + " AS VARCHAR)" }
		numbers = fmt.Sprintf("(SELECT n FROM GENERATE_SERIES(0::BIGINT, %d) AS s (n))", n-1)
	}
	no := map[string]string{"1": "0", "TRUE": "FALSE"}[yes]
	success := fmt.Sprintf("CASE WHEN n %% 100 <> 7 THEN %s ELSE %s END", yes, no)
	outcome := "CASE WHEN n % 100 <> 7 THEN 'OK' ELSE 'FAILED' END"
	id, name, ip := concat("'0190a000-0000-7000-8000-'", hex), concat("'job-'", text("n % 20")), concat("'10.0.0.'", text("n % 50"))
	item := "n " + divide + " 20 % 10"
	for _, statement := range []string{
		fmt.Sprintf(`INSERT INTO JOB_EXECUTION_LOG (id, job_name, task_id, hostname, ip, sharding_item, execution_source, failure_cause, is_success,
			start_time, complete_time, instance, scheduled_micros, start_micros, waited_micros, duration_micros, token, attempts, outcome)
			SELECT %s, %s, %s, 'host', %s, %s, 'NORMAL_TRIGGER', CASE WHEN n %% 100 = 7 THEN 'it failed' END, %s, %s, %s, %s, %s, %s, 1000, %s, n, 1, %s FROM %s numbers`,
			id, name, id, ip, item, success, at(start), at("("+start+" + "+took+")"), concat(ip, "'@-@1@-@abc'"), start, start, took, outcome, numbers),
		fmt.Sprintf(`INSERT INTO JOB_STATUS_TRACE_LOG (id, job_name, original_task_id, task_id, slave_id, source, execution_type, sharding_item, state, creation_time, time_micros)
			SELECT %s, %s, '', %s, %s, 'LITE_EXECUTOR', 'READY', %s, 'TASK_FINISHED', %s, %s FROM %s numbers`,
			id, name, id, ip, concat("'['", text(item), "']'"), at(start), start, numbers),
		fmt.Sprintf(`INSERT INTO ELASTICJOB_RUN_LOG (task_id, line_number, job_name, sharding_item, time_micros, level, text)
			SELECT %s, 1, %s, %s, %s, 0, 'a line' FROM %s numbers WHERE n %% 10 = 9`, id, name, item, start, numbers),
		fmt.Sprintf(`INSERT INTO ELASTICJOB_EVENT (id, time_micros, kind, job_name, actor, what, ticks, is_over)
			SELECT %s, %s, CASE n %% 200 WHEN 13 THEN 'OPERATED' WHEN 3 THEN 'SKIPPED' WHEN 33 THEN 'MADE_UP' ELSE 'ITEMS' END, %s, 'ann', 'pause', 1, %s FROM %s numbers WHERE n %% 10 = 3`, id, start, name, no, numbers),
		fmt.Sprintf(`INSERT INTO ELASTICJOB_COUNT (slot_micros, job_name, outcome, executions)
			SELECT start_micros %[1]s 900000000 * 900000000, '', outcome, COUNT(*) FROM JOB_EXECUTION_LOG GROUP BY start_micros %[1]s 900000000 * 900000000, outcome`, divide),
		fmt.Sprintf(`INSERT INTO ELASTICJOB_COUNT (slot_micros, job_name, outcome, executions)
			SELECT start_micros %[1]s 900000000 * 900000000, job_name, outcome, COUNT(*) FROM JOB_EXECUTION_LOG GROUP BY start_micros %[1]s 900000000 * 900000000, job_name, outcome`, divide),
	} {
		if _, err := h.db.ExecContext(h.Context(), statement); err != nil {
			h.Fatalf("%s: %v", statement, err)
		}
	}
	switch h.dialect { // what the databases do by themselves, sooner or later
	case sqltrace.PostgreSQL:
		h.exec("VACUUM ANALYZE")
	case sqltrace.MySQL:
		h.ask("ANALYZE TABLE JOB_EXECUTION_LOG, JOB_STATUS_TRACE_LOG, ELASTICJOB_EVENT, ELASTICJOB_RUN_LOG, ELASTICJOB_COUNT")
	}
	return p
}

// question is a query, and how many rows it is to return.
type question struct {
	name string
	ask  func(ctx context.Context, on *sqltrace.Tracer) (rows int, err error)
	want int
	// index is the one that it needs; empty if several do, or the primary key does.
	index string
	// sorts: the rows of the answer, or its groups, are sorted. scans: rows are counted one by one.
	sorts, scans bool
}

func (p planted) questions() []question {
	day := p.now.Add(-24 * time.Hour)
	last := fmt.Sprintf("0190a000-0000-7000-8000-%012x", p.n-1)
	executions := func(f history.ExecutionFilter) func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
		return func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
			page, err := on.Executions(ctx, f)
			return len(page.Rows), err
		}
	}
	events := func(f history.EventFilter) func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
		return func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
			page, err := on.Events(ctx, f)
			return len(page.Rows), err
		}
	}
	search := func(s history.ExecutionSearch) func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
		return func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
			found, err := on.SearchExecutions(ctx, s)
			return len(found.Rows), err
		}
	}
	counts := func(jobName string) func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
		return func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
			days, err := on.Counts(ctx, history.CountQuery{Job: jobName, From: p.now.AddDate(0, 0, -40), To: p.now.Add(time.Hour), Step: history.Daily, Zone: time.UTC})
			n := 0
			for _, day := range days {
				for _, of := range day.Executions {
					n += int(of)
				}
			}
			return n, err
		}
	}
	missed := func(jobName string) func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
		return func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
			days, err := on.Missed(ctx, history.CountQuery{Job: jobName, From: p.now.AddDate(0, 0, -30), To: p.now, Step: history.Daily, Zone: time.UTC})
			n := 0
			for _, day := range days {
				n += int(day.MadeUp + day.Skipped["pause"])
			}
			return n, err
		}
	}
	return []question{
		{name: "newest of all jobs", index: "EJ_EXECUTION_TIME", ask: executions(history.ExecutionFilter{}), want: 100},
		{name: "newest of a job", index: "EJ_EXECUTION_JOB", ask: executions(history.ExecutionFilter{Job: "job-3"}), want: 100},
		{name: "failures of the last day", index: "EJ_EXECUTION_FAILED", ask: executions(history.ExecutionFilter{Outcomes: history.Failures(), From: day, Limit: 1000}), want: min(p.n/30/100, 1000)},
		{name: "failures of a job", ask: executions(history.ExecutionFilter{Job: "job-7", Outcomes: history.Failures()}), want: min(p.n/100, 100)},
		{name: "runs of one item", index: "EJ_EXECUTION_ITEM", ask: executions(history.ExecutionFilter{Job: "job-3", Items: []int{4}}), want: min(p.n/200, 100)},
		{name: "of an address", index: "EJ_EXECUTION_IP", ask: executions(history.ExecutionFilter{IP: "10.0.0.13"}), want: min(p.n/50, 100)},
		{name: "of an instance", index: "EJ_EXECUTION_IP", ask: executions(history.ExecutionFilter{Instance: "10.0.0.13@-@1@-@abc"}), want: min(p.n/50, 100)},
		{name: "latest of each item", index: "EJ_EXECUTION_ITEM", want: 10, ask: func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
			list, err := on.Latest(ctx, "job-3", -1, 100)
			return len(list), err
		}, sorts: true},
		{name: "counts by day", ask: counts(""), want: p.n, sorts: true},
		{name: "counts of a job by day", ask: counts("job-3"), want: p.n / 20, sorts: true},
		{name: "missed ticks", index: "EJ_EVENT_", want: p.n / 100, ask: missed(""), sorts: true},
		{name: "missed ticks of a job", index: "EJ_EVENT_", want: p.n / 200, ask: missed("job-3"), sorts: true},
		{name: "lanes of all jobs", index: "EJ_", want: 20, ask: func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
			found, err := on.Lanes(ctx, day, p.now)
			return len(found.Cells), err
		}, sorts: true},
		{name: "durations of a job", index: "EJ_EXECUTION_JOB", want: min(p.n/20, 2000), ask: func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
			d, err := on.Durations(ctx, "job-3", time.Time{}, time.Time{})
			return d.Executions, err
		}},
		{name: "outlines of a job", index: "EJ_EXECUTION_JOB", want: min(p.n/30/20, 1000), ask: func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
			found, err := on.Outlines(ctx, history.OutlineQuery{Job: "job-3", From: day, To: p.now, Limit: 1000})
			return len(found.Rows), err
		}},
		{name: "chain", want: 1, sorts: true, ask: func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
			x, err := on.Execution(ctx, last)
			if err != nil {
				return 0, err
			}
			list, err := on.Chain(ctx, x)
			return len(list), err
		}},
		{name: "lines", want: 1, ask: func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
			list, err := on.Lines(ctx, last, 0, 0)
			return len(list), err
		}},
		{name: "states of an execution", want: 1, sorts: true, ask: func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
			page, err := on.Statuses(ctx, history.StatusFilter{TaskID: last})
			return len(page.Rows), err
		}},
		{name: "states of a job", index: "EJ_STATUS_JOB", want: 100, ask: func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
			page, err := on.Statuses(ctx, history.StatusFilter{Job: "job-3"})
			return len(page.Rows), err
		}},
		{name: "what has happened to a job", index: "EJ_EVENT_JOB", want: min(p.n/20, 100), ask: events(history.EventFilter{Job: "job-3"})},
		{name: "what operators have changed", index: "EJ_EVENT_KIND", want: min(p.n/200, 100), ask: events(history.EventFilter{Kinds: []jobtype.EventKind{jobtype.EventOperated}})},
		{name: "what one has changed in a day", index: "EJ_EVENT_KIND", want: min(p.n/30/200, 1000),
			ask: events(history.EventFilter{Kinds: []jobtype.EventKind{jobtype.EventOperated}, By: "ann", What: "pause", From: day, Limit: 1000})},
		{name: "names of jobs", want: 11, ask: func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
			list, err := on.JobNames(ctx, "job-1", 0)
			return len(list), err
		}},
		{name: "addresses", want: 50, ask: func(ctx context.Context, on *sqltrace.Tracer) (int, error) {
			list, err := on.Addresses(ctx, "10.", 0)
			return len(list), err
		}},
		{name: "search of the last day", index: "EJ_EXECUTION_TIME", ask: search(history.ExecutionSearch{Search: history.Search{From: day}}), want: 10, sorts: true},
		{name: "search of a job", index: "EJ_EXECUTION_JOB", ask: search(history.ExecutionSearch{Job: "job-3", Search: history.Search{Number: 2, Size: 10, Sort: "startTime", Descending: true}}), want: 10, sorts: true},
		{name: "search of all", ask: search(history.ExecutionSearch{}), want: 10, sorts: true, scans: true},
	}
}

// slow are questions that may take longer on a million rows: the total is counted by hand.
var slow = []string{"search of all", "search of a job"}

func TestHistory(t *testing.T) {
	full := *rows >= 1_000_000
	for _, d := range []sqltrace.Dialect{sqltrace.SQLite, sqltrace.MySQL, sqltrace.PostgreSQL} {
		t.Run(d.String(), func(t *testing.T) {
			if !full {
				t.Parallel()
			}
			var h *home
			switch {
			case full && d == sqltrace.MySQL:
				h = onServer(t, d, ofOurOwn(t, database.Config{Kind: database.MariaDB, Settings: map[string]string{"innodb-buffer-pool-size": "512M", "innodb-log-file-size": "256M"}}))
			case full && d == sqltrace.PostgreSQL:
				h = onServer(t, d, ofOurOwn(t, database.Config{Kind: database.PostgreSQL, Settings: map[string]string{"shared_buffers": "256MB", "max_wal_size": "2GB"}}))
			default:
				h = newHome(t, d)
			}
			began := time.Now()
			p := plant(h, *rows)
			tracer := h.open(sqltrace.Options{})
			t.Logf("%d rows in each table after %v", p.n, time.Since(began).Round(time.Second))
			if !full {
				p.checkPlans()
			}
			for _, q := range p.questions() {
				n, err := q.ask(t.Context(), tracer)
				if err != nil || n != q.want {
					t.Errorf("%s: %d rows, %v; want %d", q.name, n, err, q.want)
					continue
				}
				if !full {
					continue
				}
				p50 := measure(t, q, tracer)
				t.Logf("%-28s %8v", q.name, p50.Round(10*time.Microsecond))
				if p50 > allowed && !slices.Contains(slow, q.name) {
					t.Errorf("%s takes %v, which is more than %v", q.name, p50, allowed)
				}
			}
		})
	}
}

func ofOurOwn(t *testing.T, cfg database.Config) database.Database {
	t.Helper()
	d, err := database.Start(t, cfg).Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// measure returns the middle one of 20 times.
func measure(t *testing.T, q question, on *sqltrace.Tracer) time.Duration {
	t.Helper()
	var times []time.Duration
	for range 20 {
		began := time.Now()
		if _, err := q.ask(t.Context(), on); err != nil {
			t.Fatalf("%s: %v", q.name, err)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	return times[len(times)/2]
}
