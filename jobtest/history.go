package jobtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// How times are shown. A tick is in the zone of its job.
const (
	layout     = "2006-01-02 15:04:05.000"
	tickLayout = "2006-01-02 15:04:05 MST"
)

// Bounds of what is shown of a history.
const (
	maxLines = 200
	before   = 20 // lines before the moment that matters
)

// excerpt says what to show of a history. Of a long one that is the end.
type excerpt struct {
	job    string          // only what is about this job, or about none; all if there is none
	marked map[string]bool // task ids of executions that have a mark
	faults []Fault         // those that have a mark
	from   time.Time       // the moment that matters, if that is not the end
}

// marks reports whether a fault has a mark.
func (x excerpt) marks(f Fault) bool {
	return slices.ContainsFunc(x.faults, func(m Fault) bool {
		return m.JobName == f.JobName && m.InstanceID == f.InstanceID && m.Kind == f.Kind && m.Began.Equal(f.Began)
	})
}

// line is one line of a history.
type line struct {
	at                  time.Time
	number              int
	mark                bool
	job, instance, text string
}

// String returns the history: executions, faults and all else, one line each. If it is longer
// than 200 lines it is the last ones.
func (r *Recorder) String() string { return r.show(excerpt{}) }

func (r *Recorder) show(x excerpt) string {
	lines := r.lines(x)
	if len(lines) == 0 {
		return "history: nothing has happened\n"
	}
	begin := max(0, len(lines)-maxLines)
	if !x.from.IsZero() {
		matters := slices.IndexFunc(lines, func(l line) bool { return !l.at.Before(x.from) })
		if matters >= 0 {
			begin = min(begin, max(0, matters-before))
		}
	}
	end := min(len(lines), begin+maxLines)

	var b strings.Builder
	b.WriteString("history:\n")
	if begin > 0 {
		fmt.Fprintf(&b, "  … %d lines before these\n", begin)
	}
	for _, l := range lines[begin:end] {
		mark := " "
		if l.mark {
			mark = ">"
		}
		fmt.Fprintf(&b, "%s %s  %-10s %s\n", mark, l.at.Format(layout), brief.Text(address(l.instance)), l.text)
	}
	if more := len(lines) - end; more > 0 {
		fmt.Fprintf(&b, "  … %d lines after these\n", more)
	}
	return b.String()
}

// lines returns what an excerpt is about, in the order in which it happened.
func (r *Recorder) lines(x excerpt) []line {
	r.mu.Lock()
	var lines []line
	for _, e := range r.executions {
		lines = append(lines, line{e.Began, e.number, x.marked[e.TaskID], e.JobName, e.InstanceID, e.Execution.String()})
	}
	for _, f := range r.faults {
		lines = append(lines, line{f.Began, f.number, x.marks(f.Fault), f.JobName, f.InstanceID, f.Fault.String()})
	}
	for _, e := range r.events {
		lines = append(lines, line{e.at, e.number, false, e.job, e.instance, strings.TrimSpace(e.job + " " + e.text)})
	}
	r.mu.Unlock()
	if slices.ContainsFunc(lines, func(l line) bool { return x.job != "" && l.job == x.job }) { // otherwise it may be a wrong name
		lines = slices.DeleteFunc(lines, func(l line) bool { return l.job != "" && l.job != x.job })
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.number, b.number)) })
	return lines
}

// address returns the address of an instance, by its id.
func address(instance string) string {
	address, _, _ := strings.Cut(instance, separator)
	return address
}

// separator stands between the address and the rest of an instance's id, as in ElasticJob.
const separator = "@-@"

// isOn reports whether an instance is meant, by its id or its address.
func isOn(instance, meant string) bool { return instance == meant || address(instance) == meant }

// items returns a list of items, in one bounded line.
func items(list []int) string { return brief.Text(fmt.Sprint(list)) }

// shown returns the begin of the text of an error, in one line.
func shown(err error) string {
	if err == nil {
		return "no error"
	}
	begin := brief.Cut(err.Error(), 4*brief.MaxText)
	return brief.Cut(strings.Join(strings.Fields(begin), " "), 3*brief.MaxText) // the cause stands at the end
}
