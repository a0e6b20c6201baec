package sqltrace

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// row has a value for each column of its table, in their order.
type row []any

// rows are those of a batch.
type rows struct {
	executions, statuses, events, lines []row
	recovered                           []trace.Event // to close what was running there
}

// What ElasticJob's columns hold.
const (
	sourceLite = "LITE_EXECUTOR"

	stateStaging  = "TASK_STAGING"
	stateRunning  = "TASK_RUNNING"
	stateFinished = "TASK_FINISHED"
	stateError    = "TASK_ERROR"
	stateFailed   = "TASK_FAILED"
	stateKilled   = "TASK_KILLED"
	stateLost     = "TASK_LOST"
	stateDropped  = "TASK_DROPPED"

	// outcomeLost is that of a run whose instance ended in the middle of it.
	outcomeLost = string(history.OutcomeLost)
)

// maker makes rows of events and lines.
type maker struct {
	dialect  Dialect
	hostname string
	// ascii has texts in ASCII only, for a column with another character set.
	ascii bool
}

func (m maker) rows(b trace.Batch) rows {
	var r rows
	at := map[string]int{} // execution, by id
	for _, e := range b.Events {
		if table := tableOf(e); table == tableEvent {
			r.events = append(r.events, m.event(e))
		} else if table == tableStatus {
			r.statuses = append(r.statuses, m.status(e, stateOf(e), e.Execution.OriginalTaskID, e.Execution.TaskID))
		}
		switch {
		case e.Kind == jobtype.EventRecovered:
			r.recovered = append(r.recovered, e)
		case isExecution(e) && (e.Kind == jobtype.EventStarted || e.Kind == jobtype.EventFinished):
			x := m.execution(e)
			if i, ok := at[e.Execution.TaskID]; ok {
				r.executions[i] = executionTable().merged(r.executions[i], x)
			} else {
				at[e.Execution.TaskID] = len(r.executions)
				r.executions = append(r.executions, x)
			}
		}
	}
	for _, l := range b.Lines {
		r.lines = append(r.lines, m.line(l))
	}
	return r
}

// isExecution reports whether an event is of an execution that has an id.
func isExecution(e trace.Event) bool {
	return e.Execution.TaskID != "" && len(e.Execution.TaskID) <= maxID
}

// tableOf returns the table in which an event has a row of its own; "" if it has none.
func tableOf(e trace.Event) string {
	switch e.Kind {
	case jobtype.EventDue: // of every instance at every tick; it is for metrics
		return ""
	case jobtype.EventClaimed, jobtype.EventReleased, jobtype.EventStarted, jobtype.EventRetried, jobtype.EventFinished:
		if isExecution(e) {
			return tableStatus
		}
	}
	return tableEvent
}

// stateOf returns the state that an execution is in after an event.
func stateOf(e trace.Event) string {
	switch e.Kind {
	case jobtype.EventClaimed:
		return stateStaging
	case jobtype.EventReleased:
		return stateDropped
	case jobtype.EventFinished:
		switch e.Outcome {
		case jobtype.OutcomeOK:
			return stateFinished
		case jobtype.OutcomeTimeout:
			return stateFailed
		case jobtype.OutcomeCut:
			return stateLost
		case jobtype.OutcomeKilled:
			return stateKilled
		}
		return stateError
	}
	return stateRunning
}

// executionSource returns ElasticJob's constant for a source. A run that was asked for is a normal one to it:
// its own triggers are, too.
func executionSource(s jobtype.Source) string {
	switch s {
	case jobtype.SourceMisfire, jobtype.SourceFailover:
		return s.String()
	}
	return jobtype.SourceNormal.String()
}

// executionType is READY or FAILOVER; ElasticJob has no others.
func executionType(s jobtype.Source) string {
	if s == jobtype.SourceFailover {
		return "FAILOVER"
	}
	return "READY"
}

func (m maker) execution(e trace.Event) row {
	x := e.Execution
	start := e.Time
	var cause, end, waited, duration, attempts, outcome, output any
	if e.Kind == jobtype.EventStarted {
		waited = e.Waited.Microseconds()
	} else {
		start = e.Time.Add(-e.Took)
		end, duration, attempts, outcome = m.dialect.moment(e.Time), e.Took.Microseconds(), e.Attempt, e.Outcome.String()
		cause, output = m.optional(e.Error, maxCause), m.output(e)
	}
	return row{
		x.TaskID, m.text(e.Job, maxJobName), x.TaskID, m.text(m.hostname, 255), m.text(address(e.Instance), maxAddress), x.Item,
		executionSource(x.Source), cause, e.Kind == jobtype.EventFinished && e.Outcome == jobtype.OutcomeOK, m.dialect.moment(start), end,
		m.optional(e.Instance, maxInstance), micros(x.ScheduledTime), micros(start), waited, duration, x.Token, attempts, outcome,
		m.optional(x.RequestID, 255), m.optional(x.OriginalTaskID, 255), output, x.Source.String(),
	}
}

// status returns a row for a change of the execution's state.
func (m maker) status(e trace.Event, state, original, task string) row {
	var attempt any
	message := e.Error
	switch e.Kind {
	case jobtype.EventRetried:
		message = fmt.Sprintf("attempt %d failed, the next one comes after %v: %s", e.Attempt, e.Backoff, e.Error)
		attempt = e.Attempt
	case jobtype.EventFinished:
		attempt = e.Attempt
	case jobtype.EventReleased:
		message = "released: no thread was free, or the instance leaves"
	case jobtype.EventRecovered:
		message = "its instance has ended"
	}
	return row{
		e.ID, m.text(e.Job, maxJobName), m.text(original, 255), task, m.text(address(e.Instance), maxAddress), sourceLite,
		executionType(e.Execution.Source), "[" + strconv.Itoa(e.Execution.Item) + "]", state, m.optional(message, maxCause),
		m.dialect.moment(e.Time), m.optional(e.Instance, maxInstance), micros(e.Time), attempt,
	}
}

func (m maker) event(e trace.Event) row {
	var item, items, ticks, token any
	switch e.Kind {
	case jobtype.EventMadeUp, jobtype.EventSkipped:
		item, ticks = e.Execution.Item, e.Ticks
	case jobtype.EventMissed:
		ticks = e.Ticks
	case jobtype.EventItems, jobtype.EventRecovered:
		items = list(e.Items)
	case jobtype.EventCommanded:
		if len(e.Items) > 0 {
			items = list(e.Items)
		}
		if e.Execution.Token != 0 {
			token = e.Execution.Token
		}
	}
	if e.Execution.TaskID != "" {
		item = e.Execution.Item
	}
	return row{
		m.text(e.ID, maxID), micros(e.Time), kindName(e.Kind), m.text(e.Job, maxJobName), m.optional(e.Instance, maxInstance),
		m.optional(e.From, maxInstance), m.optional(e.Execution.TaskID, 255), item, items, micros(e.Execution.ScheduledTime), ticks,
		m.optional(e.Execution.RequestID, 255), token, m.optional(e.What, maxWhat), m.optional(e.By, maxActor), m.optional(e.Why, maxReason),
		e.Over, m.optional(cmp.Or(e.Error, e.Detail), trace.MaxText),
		m.optional(e.Before, trace.MaxDocument), m.optional(e.After, trace.MaxDocument),
	}
}

func (m maker) line(l trace.Line) row {
	return row{
		m.text(l.TaskID, maxID), l.Number, m.text(l.Job, maxJobName), l.Item, l.Time.UnixMicro(), int(l.Level),
		m.text(l.Text, trace.MaxText),
	}
}

// output returns the end of what the handler has kept.
func (m maker) output(e trace.Event) any {
	if e.Dropped {
		return "(dropped: too much output waited for the recorder)"
	}
	tail := m.text(string(e.Output), len(e.Output))
	tail = tail[max(0, len(tail)-maxOutput):]
	tail = strings.TrimLeftFunc(tail, func(r rune) bool { return r == utf8.RuneError }) // a part of a character
	if tail == "" {
		return nil
	}
	return tail
}

// text returns a text that every database takes: that many characters at most, in UTF-8, and
// without the character 0, which PostgreSQL has not.
func (m maker) text(s string, most int) string {
	if len(s) > most*4 {
		s = s[:most*4] // no character has more bytes
	}
	s = valid(s)
	n := 0
	for i := range s {
		if n++; n > most {
			s = s[:i]
			break
		}
	}
	if !m.ascii {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return '?'
		}
		return r
	}, s)
}

// valid returns a text in UTF-8 without the character 0.
func valid(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// inRange returns what a column of kindInt can hold. pgx does not even send anything else, so that
// the error would look like one that passes, and the batch would come again for ever.
func inRange(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

// optional is text, and NULL if there is none.
func (m maker) optional(s string, most int) any {
	if s == "" {
		return nil
	}
	return m.text(s, most)
}

func micros(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UnixMicro()
}

// address returns the address in the id of an instance.
func address(instance string) string {
	ip, _, _ := strings.Cut(instance, "@-@")
	return ip
}

// list returns items as ElasticJob writes them: [0, 1, 2].
func list(items []int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > maxItems-brief.MaxText {
			fmt.Fprintf(&b, "and %d more", len(items)-i)
			break
		}
		b.WriteString(strconv.Itoa(item))
	}
	b.WriteByte(']')
	return b.String()
}

// merged returns the row that is left of two with the same key, as the database would have it.
func (t table) merged(was, is row) row {
	end := is[t.position(columnEnd)]
	result := make(row, len(was))
	for i, c := range t.columns {
		result[i] = was[i]
		if c.merge == mergeFirst && was[i] == nil || c.merge == mergeLast && is[i] != nil || c.merge == mergeEnd && end != nil {
			result[i] = is[i]
		}
	}
	return result
}
