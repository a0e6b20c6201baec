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

// maxLines bounds the history that is shown.
const maxLines = 300

// line is one line of a history.
type line struct {
	at       time.Time
	number   int
	mark     bool
	instance string
	text     string
}

// String returns the history: executions, faults and all else, one line each. If it is longer
// than 300 lines it is the last ones.
func (r *Recorder) String() string { return r.history(nil) }

// history returns the history, with a mark at some executions.
func (r *Recorder) history(marked map[string]bool) string {
	r.mu.Lock()
	var lines []line
	for _, e := range r.executions {
		lines = append(lines, line{e.Began, e.number, marked[e.TaskID], e.InstanceID, e.Execution.String()})
	}
	for _, f := range r.faults {
		lines = append(lines, line{f.Began, f.number, false, f.InstanceID, f.Fault.String()})
	}
	for _, e := range r.events {
		lines = append(lines, line{e.at, e.number, false, e.instance, strings.TrimSpace(e.job + " " + e.text)})
	}
	r.mu.Unlock()
	slices.SortFunc(lines, func(a, b line) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.number, b.number)) })

	if len(lines) == 0 {
		return "history: nothing has happened\n"
	}
	var b strings.Builder
	b.WriteString("history:\n")
	if more := len(lines) - maxLines; more > 0 {
		fmt.Fprintf(&b, "  … %d lines before these\n", more)
		lines = lines[more:]
	}
	for _, l := range lines {
		mark := " "
		if l.mark {
			mark = ">"
		}
		fmt.Fprintf(&b, "%s %s  %-10s %s\n", mark, l.at.Format(layout), brief.Text(address(l.instance)), l.text)
	}
	return b.String()
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
	return brief.Text(strings.Join(strings.Fields(begin), " "))
}
