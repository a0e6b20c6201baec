package sqltrace_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// jvm is a version of ElasticJob by what it does to the tables. On SQLite, which it does not
// know, it does what it does on MySQL.
type jvm struct {
	version  string
	source   bool // JOB_STATUS_TRACE_LOG has the column source
	numbered bool // on MySQL the primary key is auto_id
}

// jvms are the layouts that there were: 3.0.0 and before, 3.0.1 to 3.0.4, and 3.0.5.
var jvms = []jvm{{"3.0.0", true, false}, {"3.0.4", true, true}, {"3.0.5", false, true}}

func (j jvm) createTables(h *home) {
	h.Helper()
	number, key, unique := "", "PRIMARY KEY (id)", ""
	success, index, latin := "INT", "task_id", ""
	if h.dialect == sqltrace.PostgreSQL {
		success = "BOOLEAN"
	}
	if h.dialect == sqltrace.MySQL {
		index, latin = "task_id(128)", " ENGINE=InnoDB CHARSET=latin1" // of an old server
		if j.numbered {
			number, key, unique = "auto_id int NOT NULL AUTO_INCREMENT, ", "PRIMARY KEY (auto_id)", ", UNIQUE KEY id (id)"
		}
	}
	source := ""
	if j.source {
		source = "source VARCHAR(50) NOT NULL, "
	}
	h.exec("CREATE TABLE JOB_EXECUTION_LOG (" + number + "id VARCHAR(40) NOT NULL, job_name VARCHAR(100) NOT NULL, task_id VARCHAR(255) NOT NULL, " +
		"hostname VARCHAR(255) NOT NULL, ip VARCHAR(50) NOT NULL, sharding_item INT NOT NULL, execution_source VARCHAR(20) NOT NULL, " +
		"failure_cause VARCHAR(4000) NULL, is_success " + success + " NOT NULL, start_time TIMESTAMP NULL, complete_time TIMESTAMP NULL, " + key + unique + ")" + latin)
	h.exec("CREATE TABLE JOB_STATUS_TRACE_LOG (" + number + "id VARCHAR(40) NOT NULL, job_name VARCHAR(100) NOT NULL, original_task_id VARCHAR(255) NOT NULL, " +
		"task_id VARCHAR(255) NOT NULL, slave_id VARCHAR(50) NOT NULL, " + source + "execution_type VARCHAR(20) NOT NULL, sharding_item VARCHAR(100) NOT NULL, " +
		"state VARCHAR(20) NOT NULL, message VARCHAR(4000) NULL, creation_time TIMESTAMP NULL, " + key + ")" + latin)
	h.exec("CREATE INDEX TASK_ID_STATE_INDEX ON JOB_STATUS_TRACE_LOG (" + index + ", state)")
}

// run has it run a job once in two items, one of which fails, with the statements of
// RDBJobEventRepository. Ids begin with the prefix.
func (j jvm) run(h *home, prefix string) {
	h.Helper()
	at, end := "2023-05-06 07:08:09", "2023-05-06 07:08:10"
	task := "j@-@0,1@-@READY@-@10.0.0.9@-@7" + prefix
	insert := "INSERT INTO JOB_EXECUTION_LOG (id, job_name, task_id, hostname, ip, sharding_item, execution_source, is_success, start_time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
	j.trace(h, prefix+"s1", task, "TASK_STAGING", at)
	j.trace(h, prefix+"s2", task, "TASK_RUNNING", at)
	for item, id := range []string{prefix + "a", prefix + "b"} {
		h.exec(insert, id, "j", task, "host", "10.0.0.9", item, "NORMAL_TRIGGER", false, at)
		if _, err := h.db.ExecContext(h.within(), h.bind(insert), id, "j", task, "host", "10.0.0.9", item, "NORMAL_TRIGGER", false, at); err == nil {
			h.Error("the same id is taken twice")
		}
	}
	if n := h.exec("UPDATE JOB_EXECUTION_LOG SET is_success = ?, complete_time = ? WHERE id = ?", true, end, prefix+"a"); n != 1 {
		h.Errorf("%d rows are completed", n)
	}
	if n := h.exec("UPDATE JOB_EXECUTION_LOG SET is_success = ?, complete_time = ?, failure_cause = ? WHERE id = ?", false, end, "cause", prefix+"b"); n != 1 {
		h.Errorf("%d rows are failed", n)
	}
	// Of events that arrive in another order.
	h.exec("INSERT INTO JOB_EXECUTION_LOG (id, job_name, task_id, hostname, ip, sharding_item, execution_source, is_success, start_time, complete_time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		prefix+"c", "j", task, "host", "10.0.0.9", 0, "MISFIRE", true, at, end)
	h.exec("INSERT INTO JOB_EXECUTION_LOG (id, job_name, task_id, hostname, ip, sharding_item, execution_source, failure_cause, is_success, start_time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		prefix+"d", "j", task, "host", "10.0.0.9", 1, "MISFIRE", "cause", false, at)
	h.want(h.ask("SELECT original_task_id FROM JOB_STATUS_TRACE_LOG WHERE task_id = ? and state= 'TASK_STAGING' LIMIT 1", task), "")
	j.trace(h, prefix+"s3", task, "TASK_ERROR", end)
}

func (j jvm) trace(h *home, id, task, state, at string) {
	h.Helper()
	columns, more := "id, job_name, original_task_id, task_id, slave_id, execution_type, sharding_item, state, message, creation_time", ""
	if j.source {
		columns, more = columns+", source", ", 'LITE_EXECUTOR'"
	}
	h.exec("INSERT INTO JOB_STATUS_TRACE_LOG ("+columns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?"+more+")",
		id, "j", "", task, "10.0.0.9", "READY", "[0, 1]", state, "", at)
}

// theirs returns what is in ElasticJob's columns of its rows.
func theirs(h *home, prefix string) string {
	h.Helper()
	return h.ask("SELECT id, job_name, task_id, hostname, ip, sharding_item, execution_source, failure_cause, is_success, start_time, complete_time FROM JOB_EXECUTION_LOG WHERE id LIKE '"+prefix+"%' ORDER BY id") +
		"\n" + h.ask("SELECT id, job_name, original_task_id, task_id, slave_id, execution_type, sharding_item, state, message, creation_time FROM JOB_STATUS_TRACE_LOG WHERE id LIKE '"+prefix+"%' ORDER BY id")
}

// Whoever has made the tables, every JVM goes on as before, and so do we.
func TestJVMsGoOn(t *testing.T) {
	onEach(t, func(h *home) {
		for _, old := range append(jvms, jvm{version: "none"}) {
			h.Run(old.version, func(t *testing.T) {
				h := newHome(t, h.dialect)
				var before string
				if old.version != "none" {
					old.createTables(h)
					old.run(h, "old")
					before = theirs(h, "old")
				}
				tracer := h.open(sqltrace.Options{Hostname: "gopher"})
				if err := tracer.Migrate(h.within()); err != nil {
					h.Fatal(err)
				}
				if old.version != "none" {
					h.want(theirs(h, "old"), before)
				}
				var want string
				for i, j := range jvms {
					if h.dialect == sqltrace.SQLite && !j.source && old.source {
						continue // SQLite cannot change a column, and has no JVMs
					}
					prefix := fmt.Sprintf("j%d", i)
					j.run(h, prefix)
					if want == "" {
						want = theirs(h, prefix)
					}
					h.want(strings.ReplaceAll(theirs(h, prefix), prefix, "j0"), strings.ReplaceAll(want, prefix, "j0"))
				}
				// What JVMs on MySQL and the console read. Before, 3.0.5 could not.
				h.want(h.ask("SELECT id, job_name, original_task_id, slave_id, source, execution_type, sharding_item, state, creation_time FROM JOB_STATUS_TRACE_LOG WHERE id = ?", "j0s1"),
					"j0s1|j||10.0.0.9|LITE_EXECUTOR|READY|[0, 1]|TASK_STAGING|2023-05-06 07:08:09")
				x := execution(1)
				b := trace.Batch{Events: []trace.Event{
					event(1, jobtype.EventClaimed, x), event(2, jobtype.EventStarted, x), event(3, jobtype.EventFinished, x),
				}}
				b.Events[2].Outcome, b.Events[2].Error = job.OutcomeFailed, "schade: 錯"
				h.write(tracer, b)
				h.write(tracer, b)
				if old.version != "none" {
					h.want(theirs(h, "old"), before)
				}
				h.want(h.ask("SELECT task_id, state, source FROM JOB_STATUS_TRACE_LOG WHERE task_id = ? ORDER BY id", x.TaskID),
					x.TaskID+"|TASK_STAGING|LITE_EXECUTOR\n"+x.TaskID+"|TASK_RUNNING|LITE_EXECUTOR\n"+x.TaskID+"|TASK_ERROR|LITE_EXECUTOR")
				cause := "schade: 錯"
				if h.dialect == sqltrace.MySQL && old.version != "none" {
					cause = "schade: ?" // latin1 has no such character, and the row is kept all the same
				}
				h.want(h.ask("SELECT job_name, hostname, ip, execution_source, is_success, failure_cause FROM JOB_EXECUTION_LOG WHERE id = ?", x.TaskID),
					"settle|gopher|10.0.0.1|NORMAL_TRIGGER|0|"+cause)
				if s := tracer.Stats(); s.Refused != 0 {
					h.Errorf("%d rows were refused: %v", s.Refused, s.LastRefusal)
				}
			})
		}
	})
}

// began is when everything in the tests begins.
var began = time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC)

// execution returns number n of some executions, and event an event of it.
func execution(n int) job.Execution {
	return job.Execution{TaskID: id(n), Item: n, ScheduledTime: began.Truncate(time.Second), Source: job.SourceNormal, Token: int64(100 + n)}
}

func event(n int, k jobtype.EventKind, x job.Execution) trace.Event {
	return trace.Event{
		ID: id(1000*x.Item + n), Time: began.Add(time.Duration(n) * time.Millisecond), Kind: k, Job: "settle",
		Instance: "10.0.0.1@-@42@-@0123456789ab", Execution: x,
	}
}

func id(n int) string { return fmt.Sprintf("019b7d2e-0000-7000-8000-%012d", n) }
