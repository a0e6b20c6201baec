package sqltrace_test

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/testserver/database"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// A table cannot have all characters. That is said when the tables are looked at, and of a row that has lost some.
func TestSmallCharset(t *testing.T) {
	latin := func(h *home) {
		if h.dialect == sqltrace.PostgreSQL {
			name := h.name + "_latin"
			if _, err := h.server.Exec(h.within(), "", "CREATE DATABASE "+name+" OWNER tester ENCODING LATIN1 LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"); err != nil {
				h.Fatal(err)
			}
			*h = *onServer(h.T, h.dialect, database.Database{Server: h.server, Name: name})
			h.db = h.pool(h.dsn + "&client_encoding=UTF8&default_query_exec_mode=describe_exec")
		}
		jvms[1].createTables(h)
	}
	for _, tt := range []struct {
		name    string
		dialect sqltrace.Dialect
		session string
		remedy  string
		charset string
	}{
		{"MariaDB", sqltrace.MySQL, "", "ALTER TABLE JOB_EXECUTION_LOG CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "latin1"},
		{"MariaDB that is not strict", sqltrace.MySQL, "&sql_mode=%27%27", "ALTER TABLE JOB_EXECUTION_LOG CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "latin1"},
		{"PostgreSQL", sqltrace.PostgreSQL, "", "move the history to a database with the encoding UTF8", "LATIN1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, tt.dialect)
			latin(h)
			h.dsn += tt.session
			log := new(syncWriter)
			tracer := h.open(sqltrace.Options{Slog: log.logger()})
			if err := tracer.Migrate(h.within()); err != nil {
				h.Fatal(err)
			}
			for _, want := range []string{"level=WARN", "table=JOB_EXECUTION_LOG", "table=JOB_STATUS_TRACE_LOG", "failure_cause", "charset=" + tt.charset, tt.remedy} {
				if !strings.Contains(log.String(), want) {
					h.Errorf("the log does not say %q:\n%s", want, log)
				}
			}
			kept, lost := execution(1), execution(2)
			b := trace.Batch{Events: []trace.Event{event(3, jobtype.EventFinished, kept), event(3, jobtype.EventFinished, lost)}}
			b.Events[0].Outcome, b.Events[0].Error = job.OutcomeFailed, "déjà vu"
			b.Events[1].Outcome, b.Events[1].Error = job.OutcomeFailed, "库存不足"
			h.write(tracer, b)
			h.want(h.ask("SELECT failure_cause FROM JOB_EXECUTION_LOG ORDER BY id"), "déjà vu\n????")
			if s := tracer.Stats(); s.Garbled != 1 || s.LastGarbling == nil || s.Refused != 0 {
				h.Errorf("%+v", s)
			}
			for _, want := range []string{"level=ERROR", "is kept with ?", lost.TaskID[:8]} {
				if !strings.Contains(log.String(), want) {
					h.Errorf("the log does not say %q:\n%s", want, log)
				}
			}
		})
	}
	t.Run("all of Unicode", func(t *testing.T) {
		onEach(t, func(h *home) {
			log := new(syncWriter)
			h.write(h.open(sqltrace.Options{}), trace.Batch{}) // makes the tables
			if err := h.open(sqltrace.Options{Slog: log.logger()}).Migrate(h.within()); err != nil {
				h.Fatal(err)
			}
			h.want(log.String(), "")
		})
	})
}
