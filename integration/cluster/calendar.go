package cluster

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/ops"
)

// calendars are those that were written.
type calendars struct {
	mu     sync.Mutex
	bySum  map[string][]history.Window // all that there ever were
	byName map[string][]history.Window // as they are
}

func newCalendars() *calendars {
	return &calendars{bySum: map[string][]history.Window{}, byName: map[string][]history.Window{}}
}

// PutCalendar writes a calendar, as an operator would: it leaves out some windows. Jobs that name
// it go by it a moment later.
func (c *Cluster) PutCalendar(ctx context.Context, name string, windows []history.Window) error {
	const layout = "20060102T150405Z"
	file := "BEGIN:VCALENDAR\n"
	for n, w := range windows {
		file += fmt.Sprintf("BEGIN:VEVENT\nUID:%d\nDTSTART:%s\nDTEND:%s\nEND:VEVENT\n", n, w.From.UTC().Format(layout), w.To.UTC().Format(layout))
	}
	document, err := calendar.FromICalendar("UTC", []byte(file+"END:VCALENDAR\n"))
	if err != nil {
		return fmt.Errorf("cluster: calendar %s: %w", name, err)
	}
	c.calendars.mu.Lock()
	c.calendars.bySum[document.Sum()] = windows
	c.calendars.mu.Unlock()
	call := history.Mono()
	if err := persist(ctx, func() error {
		_, err := ops.New(c.reg).PutCalendar(ctx, ops.PutCalendarRequest{Name: name, Document: document.Document()})
		return err
	}); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	c.calendars.mu.Lock()
	c.calendars.byName[name] = windows
	c.calendars.mu.Unlock()
	for _, j := range c.current() {
		if j.Calendar == name {
			c.configured(j, call)
		}
	}
	return nil
}

// out returns what a job leaves out.
func (c *Cluster) out(j Job) []history.Window {
	c.calendars.mu.Lock()
	defer c.calendars.mu.Unlock()
	return c.calendars.byName[j.Calendar]
}

// recordedOut notes what the calendars of a schedule, as they are recorded, leave out.
func (c *Cluster) recordedOut(e *history.Event, recorded string) error {
	c.calendars.mu.Lock()
	defer c.calendars.mu.Unlock()
	for part := range strings.SplitSeq(recorded, ",") {
		_, sum, named := strings.Cut(part, "=")
		windows, known := c.calendars.bySum[sum]
		if named && !known {
			return fmt.Errorf("cluster: schedule of %s: nobody has written calendar %s", e.Job, part)
		}
		e.Out = append(e.Out, windows...)
	}
	return nil
}

// Blinks returns windows from a time on: of each cycle of ticks the first ones are left out.
func Blinks(from time.Time, every time.Duration, out, cycle, n int) []history.Window {
	from = from.Truncate(every)
	var windows []history.Window
	for i := range n {
		at := from.Add(time.Duration(i*cycle) * every)
		windows = append(windows, history.Window{From: at, To: at.Add(time.Duration(out) * every)})
	}
	return windows
}
