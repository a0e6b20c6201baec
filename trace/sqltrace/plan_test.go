package sqltrace_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"regexp"
	"strings"

	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// plans notes the queries of a Tracer.
type plans struct {
	driver driver.Driver
	dsn    string
	asked  []string
	values [][]any
}

func (p *plans) Driver() driver.Driver { return p.driver }

func (p *plans) Connect(context.Context) (driver.Conn, error) {
	conn, err := p.driver.Open(p.dsn)
	if err != nil {
		return nil, err
	}
	return listening{conn.(talking), p}, nil
}

// talking is what the connections of all three drivers are.
type talking interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
}

type listening struct {
	talking
	to *plans
}

func (l listening) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	values := make([]any, len(args))
	for i, a := range args {
		values[i] = a.Value
	}
	l.to.asked, l.to.values = append(l.to.asked, query), append(l.to.values, values)
	return l.talking.QueryContext(ctx, query, args)
}

// bad is what a plan says that reads a whole table, or sorts what it has read.
var bad = map[sqltrace.Dialect]struct{ scans, sorts *regexp.Regexp }{
	sqltrace.SQLite: {
		scans: regexp.MustCompile(`SCAN (JOB_|ELASTICJOB_|x\b|e\b|t\b)[^|\n]*`),
		sorts: regexp.MustCompile(`TEMP B-TREE FOR (RIGHT PART OF )?ORDER BY`),
	},
	sqltrace.MySQL: {
		scans: regexp.MustCompile(`\|(JOB_|ELASTICJOB_|x\||e\||t\|)[A-Z_]*\|ALL\|.*`),
		sorts: regexp.MustCompile(`Using filesort`),
	},
	sqltrace.PostgreSQL: {
		scans: regexp.MustCompile(`Seq Scan on (job_|elasticjob_).*`),
		sorts: regexp.MustCompile(`\bSort\b`),
	},
}

// checkPlans fails the test if a question is not answered by way of an index.
func (p planted) checkPlans() {
	p.Helper()
	spy := &plans{driver: p.db.Driver(), dsn: p.dsn}
	db := sql.OpenDB(spy)
	p.Cleanup(func() { _ = db.Close() }) // nothing was written
	tracer, err := sqltrace.Open(db, p.dialect, sqltrace.Options{})
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(tracer.Close)
	if err := tracer.Migrate(p.within()); err != nil {
		p.Fatal(err)
	}
	for _, q := range p.questions() {
		spy.asked, spy.values = nil, nil
		if _, err := q.ask(p.within(), tracer); err != nil {
			p.Fatalf("%s: %v", q.name, err)
		}
		if len(spy.asked) == 0 {
			p.Fatalf("%s asked nothing", q.name)
		}
		used := false
		for i, query := range spy.asked {
			plan := p.explain(query, spy.values[i])
			used = used || strings.Contains(strings.ToUpper(plan), q.index)
			if found := bad[p.dialect].scans.FindString(plan); found != "" && !q.scans {
				p.Errorf("%s reads a table: %s\n%s\n%s", q.name, found, query, plan)
			}
			if found := bad[p.dialect].sorts.FindString(plan); found != "" && !q.sorts {
				p.Errorf("%s sorts: %s\n%s\n%s", q.name, found, query, plan)
			}
		}
		if !used {
			p.Errorf("%s is answered without %s:\n%s", q.name, q.index, spy.asked[0])
		}
	}
}

func (p planted) explain(query string, values []any) string {
	p.Helper()
	switch p.dialect {
	case sqltrace.SQLite:
		return p.ask("EXPLAIN QUERY PLAN "+query, values...)
	case sqltrace.MySQL:
		return p.ask("EXPLAIN "+query, values...)
	}
	conn, err := p.db.Conn(p.within())
	if err != nil {
		p.Fatal(err)
	}
	defer conn.Close()
	// A small table is read as a whole and sorted if that is cheaper. What counts is that it need not be.
	if _, err := conn.ExecContext(p.within(), "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off"); err != nil {
		p.Fatal(err)
	}
	rows, err := conn.QueryContext(p.within(), "EXPLAIN "+query, values...)
	if err != nil {
		p.Fatalf("EXPLAIN %s: %v", query, err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			p.Fatal(err)
		}
		plan.WriteString(line + "\n")
	}
	if err := rows.Err(); err != nil {
		p.Fatal(err)
	}
	return plan.String()
}
