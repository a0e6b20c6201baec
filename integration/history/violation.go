package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Violation is a promise that was broken, and the smallest piece of history that shows it.
type Violation struct {
	// Promise is its number in the list of package job's comment.
	Promise int
	What    string
	Events  []*Event
}

// String tells the piece of history line by line, in time from its first event.
func (v Violation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "promise %d: %s\n", v.Promise, v.What)
	events := slices.Clone(v.Events)
	slices.SortStableFunc(events, func(a, b *Event) int { return cmp.Compare(a.Mono, b.Mono) })
	events = slices.Compact(events)
	for _, e := range events {
		fmt.Fprintf(&b, "  %s %+9.3fs %s\n", e.Wall.Format("15:04:05.000"), seconds(e.Mono-events[0].Mono), e)
	}
	return b.String()
}

func seconds(ns int64) float64 { return time.Duration(ns).Seconds() }

// String is the event in one line, without its time.
func (e *Event) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-6s %-9s", cmp.Or(e.Process, "store"), e.Kind)
	field := func(name, format string, value any) { fmt.Fprintf(&b, " "+name+format, value) }
	if e.Job != "" {
		field("", "%s", e.Job)
	}
	if e.Item >= 0 {
		fmt.Fprintf(&b, "/%d", e.Item)
	}
	if !e.Tick.IsZero() {
		field("tick ", "%s", e.Tick.UTC().Format("15:04:05.999"))
	}
	if e.Token != 0 {
		field("token ", "%d", e.Token)
	}
	if e.Kind == Fetch || e.Kind == Batch {
		field("row ", "%d", e.Row)
	}
	for _, text := range []string{e.Source, e.Request, e.Instance, string(e.Outcome), e.Name, e.Address} {
		if text != "" {
			field("", "%s", text)
		}
	}
	if e.Call != 0 {
		field("took ", "%.3fs", seconds(e.Mono-e.Call))
	}
	for _, c := range e.Claims {
		fmt.Fprintf(&b, " begins %d", c.Item)
		if c.Request != "" {
			fmt.Fprintf(&b, " for %s", c.Request)
		}
	}
	for _, i := range e.Ends {
		fmt.Fprintf(&b, " ends %d", i)
	}
	for _, i := range e.Waits {
		fmt.Fprintf(&b, " puts up %d", i)
	}
	for _, t := range e.Told {
		fmt.Fprintf(&b, " tells %d %s", t.Item, t.Outcome)
	}
	if len(e.Items) > 0 {
		field("items ", "%v", e.Items)
	}
	if e.Again {
		field("", "%s", "again")
	}
	for _, r := range e.Results {
		fmt.Fprintf(&b, " %d %s", r.Item, r.Outcome)
	}
	if e.Kind == Write {
		field("accepted ", "%t", e.Accepted)
	}
	if e.Rules != nil {
		field("", "%+v", *e.Rules)
	}
	for name, text := range map[string]string{"cause": e.Cause, "error": e.Err} {
		if text != "" {
			field(name+" ", "%q", text)
		}
	}
	return b.String()
}
