package sqltrace_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// What stands in ElasticJob's columns for every source and outcome, as the package comment has it.
func TestColumns(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{Hostname: "gopher"})
		states := map[job.Outcome]string{
			job.OutcomeOK: "TASK_FINISHED", job.OutcomeFailed: "TASK_ERROR", job.OutcomePanic: "TASK_ERROR",
			job.OutcomeTimeout: "TASK_FAILED", job.OutcomeCut: "TASK_LOST", job.OutcomeKilled: "TASK_KILLED",
			0: "TASK_RUNNING", // it runs still
		}
		n, first := 0, id(777)
		for source := job.SourceNormal; source <= job.SourceBackfill; source++ {
			for outcome, state := range states {
				n++
				x := execution(n)
				x.Source, x.OriginalTaskID = source, first
				b := trace.Batch{Events: []trace.Event{event(1, jobtype.EventClaimed, x), event(2, jobtype.EventStarted, x)}}
				end, success, cause := "NULL", "0", "NULL"
				if outcome != 0 {
					f := event(500, jobtype.EventFinished, x)
					f.Outcome, f.Took, f.Attempt = outcome, 498*time.Millisecond, 2
					end, success = "2026-01-02 03:04:06", "1"
					if outcome != job.OutcomeOK {
						f.Error, cause, success = "it was so", "it was so", "0"
					}
					b.Events = append(b.Events, f)
				}
				h.write(tracer, b)
				kind, constant := "READY", "NORMAL_TRIGGER"
				switch source {
				case job.SourceMisfire:
					constant = "MISFIRE"
				case job.SourceFailover:
					kind, constant = "FAILOVER", "FAILOVER"
				}
				h.want(h.ask("SELECT id, job_name, task_id, hostname, ip, sharding_item, execution_source, run_source, failure_cause, is_success, start_time, complete_time FROM JOB_EXECUTION_LOG WHERE id = ?", x.TaskID),
					fmt.Sprintf("%s|settle|%[1]s|gopher|10.0.0.1|%d|%s|%v|%s|%s|2026-01-02 03:04:05|%s", x.TaskID, n, constant, source, cause, success, end))
				trace := h.ask("SELECT job_name, original_task_id, task_id, slave_id, source, execution_type, sharding_item, state, message, creation_time FROM JOB_STATUS_TRACE_LOG WHERE task_id = ? ORDER BY id", x.TaskID)
				lines := strings.Split(trace, "\n")
				h.want(lines[0], fmt.Sprintf("settle|%s|%s|10.0.0.1|LITE_EXECUTOR|%s|[%d]|TASK_STAGING|NULL|2026-01-02 03:04:05", first, x.TaskID, kind, n))
				if outcome != 0 {
					h.want(lines[2], fmt.Sprintf("settle|%s|%s|10.0.0.1|LITE_EXECUTOR|%s|[%d]|%s|%s|2026-01-02 03:04:06", first, x.TaskID, kind, n, state, cause))
				} else {
					h.want(lines[len(lines)-1], fmt.Sprintf("settle|%s|%s|10.0.0.1|LITE_EXECUTOR|%s|[%d]|%s|NULL|2026-01-02 03:04:05", first, x.TaskID, kind, n, state))
				}
			}
		}
		// As ElasticJob looks for it.
		h.want(h.ask("SELECT original_task_id FROM JOB_STATUS_TRACE_LOG WHERE task_id = ? and state= 'TASK_STAGING' LIMIT 1", id(1)), first)
		h.want(h.ask("SELECT COUNT(*) FROM JOB_EXECUTION_LOG WHERE original_task_id = ?", first), "42")
		h.want(h.ask("SELECT COUNT(*), COUNT(outcome), MIN(attempts), MAX(duration_micros), MAX(start_micros), MAX(scheduled_micros), MAX(token) FROM JOB_EXECUTION_LOG"),
			fmt.Sprintf("42|36|2|498000|%d|%d|142", began.Add(2*time.Millisecond).UnixMicro(), began.Truncate(time.Second).UnixMicro()))
	})
}

// An event that has no execution, or one without an id, is in a table of its own, and one that
// is for metrics in none.
func TestOtherEvents(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		var b trace.Batch
		for k := jobtype.EventClaimed; k <= jobtype.EventMissed; k++ {
			e := event(int(k), k, job.Execution{})
			e.What, e.By, e.Why, e.From, e.Error, e.Ticks, e.Over, e.Items = "what", "ann", "because", "from", "error", 3, true, []int{0, 1, 2}
			b.Events = append(b.Events, e)
		}
		wide := event(99, jobtype.EventItems, job.Execution{})
		for i := range 10_000 {
			wide.Items = append(wide.Items, i)
		}
		kill := event(98, jobtype.EventCommanded, job.Execution{Token: 7, RequestID: "request"})
		kill.Items, kill.Detail = []int{3}, "server 10.0.0.2"
		b.Events = append(b.Events, wide, kill)
		h.write(tracer, b)
		h.write(tracer, b)
		h.want(h.ask("SELECT kind, sharding_item, items, ticks, what, actor, reason, from_instance, is_over, detail FROM ELASTICJOB_EVENT WHERE id NOT IN (?, ?) ORDER BY time_micros", wide.ID, kill.ID), strings.TrimPrefix(`
CLAIMED|NULL|NULL|NULL|what|ann|because|from|1|error
RELEASED|NULL|NULL|NULL|what|ann|because|from|1|error
STARTED|NULL|NULL|NULL|what|ann|because|from|1|error
RETRIED|NULL|NULL|NULL|what|ann|because|from|1|error
FINISHED|NULL|NULL|NULL|what|ann|because|from|1|error
MADE_UP|0|NULL|3|what|ann|because|from|1|error
SKIPPED|0|NULL|3|what|ann|because|from|1|error
RECOVERED|NULL|[0, 1, 2]|NULL|what|ann|because|from|1|error
JOINED|NULL|NULL|NULL|what|ann|because|from|1|error
LEFT|NULL|NULL|NULL|what|ann|because|from|1|error
SESSION|NULL|NULL|NULL|what|ann|because|from|1|error
LEADS|NULL|NULL|NULL|what|ann|because|from|1|error
ITEMS|NULL|[0, 1, 2]|NULL|what|ann|because|from|1|error
CONFIGURED|NULL|NULL|NULL|what|ann|because|from|1|error
PAUSED|NULL|NULL|NULL|what|ann|because|from|1|error
COMMANDED|NULL|[0, 1, 2]|NULL|what|ann|because|from|1|error
FAULT|NULL|NULL|NULL|what|ann|because|from|1|error
MISSED|NULL|NULL|3|what|ann|because|from|1|error`, "\n"))
		h.want(h.ask("SELECT items, request_id, token, detail FROM ELASTICJOB_EVENT WHERE id = ?", kill.ID), "[3]|request|7|server 10.0.0.2")
		if got := h.ask("SELECT items FROM ELASTICJOB_EVENT WHERE id = ?", wide.ID); len(got) > 4000 || !strings.HasSuffix(got, " more]") || !strings.HasPrefix(got, "[0, 1, 2, ") {
			h.Errorf("many items are kept as %s", got)
		}
		h.want(h.ask("SELECT COUNT(*) FROM JOB_EXECUTION_LOG"), "0")
	})
}

// A run whose process died is closed by whoever finds it. If its process lives, after all, it
// tells the end itself.
func TestLostRuns(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		var b trace.Batch
		done, open, other, younger := execution(1), execution(2), execution(3), execution(2)
		younger.TaskID = id(900)
		open.Source, open.OriginalTaskID = job.SourceFailover, id(777)
		for _, x := range []job.Execution{done, open, other, younger} {
			b.Events = append(b.Events, event(1, jobtype.EventStarted, x))
		}
		end := event(2, jobtype.EventFinished, done)
		end.Outcome = job.OutcomeOK
		b.Events = append(b.Events, end)
		b.Events[3].Instance, b.Events[3].ID = "10.0.0.2@-@1@-@ffff", id(901) // has taken the item over
		h.write(tracer, b)
		found := event(600, jobtype.EventRecovered, job.Execution{})
		found.From, found.Items, found.Instance = "10.0.0.1@-@42@-@0123456789ab", []int{1, 2, 4}, "10.0.0.3@-@1@-@eeee"
		for range 2 {
			h.write(tracer, trace.Batch{Events: []trace.Event{found}})
			h.want(h.ask("SELECT id, is_success, outcome, complete_time FROM JOB_EXECUTION_LOG ORDER BY id"), strings.Join([]string{
				done.TaskID + "|1|OK|2026-01-02 03:04:05", open.TaskID + "|0|LOST|2026-01-02 03:04:06",
				other.TaskID + "|0|NULL|NULL", younger.TaskID + "|0|NULL|NULL",
			}, "\n"))
			h.want(h.ask("SELECT task_id, original_task_id, slave_id, execution_type, sharding_item, state, message FROM JOB_STATUS_TRACE_LOG WHERE state = 'TASK_LOST'"),
				open.TaskID+"|"+id(777)+"|10.0.0.1|FAILOVER|[2]|TASK_LOST|its instance has ended")
		}
		late := event(1500, jobtype.EventFinished, open)
		late.Outcome = job.OutcomeCut
		h.write(tracer, trace.Batch{Events: []trace.Event{late}})
		h.want(h.ask("SELECT outcome, complete_time FROM JOB_EXECUTION_LOG WHERE id = ?", open.TaskID), "CUT|2026-01-02 03:04:07")
	})
}

// An instance may leave many items, and several runs of one.
func TestLostRunsOfManyItems(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		found := event(600, jobtype.EventRecovered, job.Execution{})
		found.From = "10.0.0.1@-@42@-@0123456789ab"
		for i := range 1100 {
			found.Items = append(found.Items, i)
		}
		var b trace.Batch
		items := []int{0, 0, 63, 64, 127, 998, 999, 1000}
		for i, item := range items {
			x := execution(i)
			x.Item = item
			b.Events = append(b.Events, event(i, jobtype.EventStarted, x))
		}
		h.write(tracer, b)
		h.write(tracer, trace.Batch{Events: []trace.Event{found}})
		h.want(h.ask("SELECT sharding_item, outcome FROM JOB_EXECUTION_LOG ORDER BY id"),
			"0|LOST\n0|LOST\n63|LOST\n64|LOST\n127|LOST\n998|LOST\n999|LOST\n1000|NULL")
		h.want(h.ask("SELECT COUNT(DISTINCT sharding_item), COUNT(*) FROM JOB_STATUS_TRACE_LOG WHERE state = 'TASK_LOST'"), "6|7")
	})
}

// Texts that a database would refuse are changed, and only as much as needed.
func TestTexts(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{Hostname: strings.Repeat("ü", 300)})
		x := execution(1)
		x.RequestID = strings.Repeat("r", 1000)
		f := event(1, jobtype.EventFinished, x)
		f.Job = strings.Repeat("j", 200)
		f.Instance = strings.Repeat("1", 255) + "@-@1@-@0123456789ab"
		f.Error = "a\x00b\xff\xfec 錯😀" + strings.Repeat("é", 5000)
		f.Output = []byte("\xa9" + strings.Repeat("é\xff", 20_000) + "the end\xe9") // more than a column holds
		line := trace.Line{Job: f.Job, TaskID: x.TaskID, Number: 1, Time: began, Text: "\x00\xff"}
		h.write(tracer, trace.Batch{Events: []trace.Event{f}, Lines: []trace.Line{line, line}})
		got := h.ask("SELECT job_name, instance, failure_cause, output_tail FROM JOB_EXECUTION_LOG")
		cells := strings.Split(got, "|")
		h.want(cells[0], f.Job)
		h.want(cells[1], f.Instance)
		h.want(string([]rune(cells[2])[:9]), "a\uFFFDb\uFFFDc 錯😀é")
		if n := len([]rune(cells[2])); n != 4000 {
			h.Errorf("the cause has %d characters", n)
		}
		if tail := cells[3]; !strings.HasPrefix(tail, "é\uFFFD") || !strings.HasSuffix(tail, "the end\uFFFD") || len(tail) > 65535 || len(tail) < 65530 {
			h.Errorf("the tail has %d bytes: %.20s … %s", len(tail), tail, tail[max(0, len(tail)-20):])
		}
		h.want(h.ask("SELECT text FROM ELASTICJOB_RUN_LOG"), "\uFFFD\uFFFD")
		if s := tracer.Stats(); s.Refused != 0 || s.Written != 3 {
			h.Errorf("%+v", s)
		}
	})
}

// Rows that the database refuses are dropped, and no others.
func TestRefusedRows(t *testing.T) {
	onEach(t, func(h *home) {
		log := new(syncWriter)
		tracer := h.open(sqltrace.Options{Slog: log.logger()})
		h.write(tracer, trace.Batch{})
		check := "ALTER TABLE ELASTICJOB_RUN_LOG ADD CONSTRAINT seven CHECK (line_number % 7 <> 0)"
		if h.dialect == sqltrace.SQLite {
			check = "CREATE TRIGGER seven BEFORE INSERT ON ELASTICJOB_RUN_LOG WHEN NEW.line_number % 7 = 0 BEGIN SELECT RAISE(ABORT, 'seven'); END"
		}
		h.exec(check)
		x := execution(1)
		b := trace.Batch{Events: []trace.Event{event(1, jobtype.EventStarted, x), event(2, jobtype.EventFinished, x)}}
		for i := range 100 {
			b.Lines = append(b.Lines, trace.Line{Job: "settle", TaskID: x.TaskID, Number: i + 1, Time: began, Text: "line"})
		}
		h.write(tracer, b)
		h.want(h.ask("SELECT COUNT(*) FROM ELASTICJOB_RUN_LOG"), "86")
		h.want(h.ask("SELECT COUNT(*) FROM JOB_EXECUTION_LOG WHERE complete_time IS NOT NULL"), "1")
		if s := tracer.Stats(); s.Refused != 14 || s.Written != 88 || s.LastRefusal == nil {
			h.Errorf("%+v", s)
		}
		if n := strings.Count(log.String(), "is dropped"); n != 1 {
			h.Errorf("said %d times:\n%s", n, log)
		}
	})
}

// However the events are cut into batches, in whichever order, and how often each comes: the
// rows are the same.
func TestAnyOrder(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		h.write(tracer, trace.Batch{})
		rapid.Check(h.T, func(r *rapid.T) {
			var all trace.Batch
			for n := range rapid.IntRange(1, 5).Draw(r, "executions") {
				all.Events = append(all.Events, anyRun(r, execution(n+1))...)
				for i := range rapid.IntRange(0, 2).Draw(r, "lines") {
					all.Lines = append(all.Lines, trace.Line{Job: "settle", TaskID: id(n + 1), Number: i + 1, Time: began, Text: "line"})
				}
			}
			h.empty()
			h.write(tracer, all)
			want := h.everything()
			h.empty()
			events := rapid.Permutation(append(all.Events, all.Events...)).Draw(r, "events")
			lines := rapid.Permutation(append(all.Lines, all.Lines...)).Draw(r, "lines")
			for len(events)+len(lines) > 0 {
				e, l := rapid.IntRange((len(events)+2)/3, len(events)).Draw(r, "batch"), rapid.IntRange((len(lines)+2)/3, len(lines)).Draw(r, "batch of lines")
				h.write(tracer, trace.Batch{Events: events[:e], Lines: lines[:l]})
				events, lines = events[e:], lines[l:]
			}
			if got := h.everything(); got != want {
				r.Fatalf("got\n%s\nwant\n%s", got, want)
			}
			if counted, there := h.counts(); counted != there {
				r.Fatalf("counted is\n%s\nthere is\n%s", counted, there)
			}
		})
	})
}

// anyRun draws the events of an execution; some are missing.
func anyRun(r *rapid.T, x job.Execution) []trace.Event {
	x.Source = job.Source(rapid.IntRange(int(job.SourceNormal), int(job.SourceBackfill)).Draw(r, "source"))
	f := event(9, jobtype.EventFinished, x)
	f.Outcome = job.Outcome(rapid.IntRange(int(job.OutcomeOK), int(job.OutcomeKilled)).Draw(r, "outcome"))
	f.Took, f.Attempt, f.Error = 7*time.Millisecond, 3, rapid.SampledFrom([]string{"", "error"}).Draw(r, "error")
	s := event(2, jobtype.EventStarted, x)
	s.Waited = time.Millisecond
	events := []trace.Event{event(1, jobtype.EventClaimed, x), s, event(3, jobtype.EventRetried, x), f}
	missing := rapid.IntRange(0, len(events)).Draw(r, "missing")
	if missing < len(events) {
		events = append(events[:missing], events[missing+1:]...)
	}
	return events
}

func (h *home) empty() {
	h.Helper()
	for _, table := range []string{"JOB_EXECUTION_LOG", "JOB_STATUS_TRACE_LOG", "ELASTICJOB_EVENT", "ELASTICJOB_RUN_LOG", "ELASTICJOB_COUNT"} {
		h.exec("DELETE FROM " + table)
	}
}

func (h *home) everything() string {
	h.Helper()
	var all []string
	for _, table := range []string{"JOB_EXECUTION_LOG", "JOB_STATUS_TRACE_LOG", "ELASTICJOB_EVENT", "ELASTICJOB_RUN_LOG"} {
		all = append(all, h.ask("SELECT * FROM "+table+" ORDER BY 1, 2"))
	}
	return strings.Join(all, "\n\n")
}
