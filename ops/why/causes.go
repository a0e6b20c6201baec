package why

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// MaxCauses bounds what [Causes] returns.
const MaxCauses = 1000

// Causes returns what has kept a job from running in the time from a moment up to q.At, or may have: pauses, disabled
// servers and items, calendars, times without an instance, times in which instances were replaced; and, as moments whose
// Until is Since, changes of the configuration and kills. They ascend by Since. The answer of [Explain] has those of its
// tick. unseen says what could not be looked at. q.Item does not count.
//
// Errors: ops.ErrNoJob; those of a read of the store or the history.
func Causes(ctx context.Context, o *ops.Ops, q Query, from time.Time) (list []Cause, unseen []string, err error) {
	f := &facts{at: q.At, now: clocks.Wall()}
	if f.at.IsZero() {
		f.at = f.now
	}
	p, calendars, err := f.know(ctx, o, q, from)
	if err == nil {
		f.unseen = append(f.unseen, q.Unseen...)
		if q.History == nil {
			f.unseen = append(f.unseen, "No history was looked at: when instances were there is not known.")
		} else if err = p.follow(from); err == nil {
			list = f.absences()
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("job %s: causes from %s to %s: %w", brief.Text(q.Job), from.UTC().Format(time.RFC3339), f.at.UTC().Format(time.RFC3339), err)
	}
	list = f.during(list, from, calendars)
	if len(list) > MaxCauses {
		list = list[len(list)-MaxCauses:]
		f.unseen = append(f.unseen, fmt.Sprintf("Only the last %d causes are told.", MaxCauses))
	}
	return list, f.unseen, nil
}

// during returns all causes of the time from a moment on, with those that are given.
func (f *facts) during(list []Cause, from time.Time, calendars []*ops.Calendar) []Cause {
	for _, h := range f.held {
		list = append(list, h.Cause)
	}
	list = slices.Concat(list, f.kills(), f.configured(), f.replaced(), f.leftOut(from, calendars))
	list = slices.DeleteFunc(list, func(c Cause) bool {
		return !c.Since.Before(f.at) || !c.Until.IsZero() && c.Until.Before(from)
	})
	slices.SortStableFunc(list, func(a, b Cause) int { return a.Since.Compare(b.Since) })
	return list
}

// leftOut returns what calendars have left out from a moment on: by the configuration and the calendars of each time.
func (f *facts) leftOut(from time.Time, today []*ops.Calendar) (list []Cause) {
	all := versions(f.job.Config, f.job.Since, f.changes)
	begins := []time.Time{from}
	for _, v := range all {
		begins = append(begins, v.from)
	}
	for _, c := range f.changes {
		if c.Job == "" { // of a calendar
			begins = append(begins, c.At)
		}
	}
	begins = slices.DeleteFunc(begins, func(at time.Time) bool { return at.Before(from) || !at.Before(f.at) })
	slices.SortFunc(begins, time.Time.Compare)
	last := map[string]int{} // by calendar: the place of the last time
	for n, begin := range begins {
		isLast, end := n+1 == len(begins), f.at
		if !isLast {
			end = begins[n+1]
		}
		v := all[slices.IndexFunc(all, func(v version) bool { return !v.from.After(begin) })]
		if !v.isThere || len(v.config.Calendars) == 0 || !end.After(begin) {
			continue
		}
		d := due{config: v.config}
		d.read(f.changes, begin, today)
		for name, c := range outs(d.calendars, begin, end) {
			if !isLast && c.Until.After(end) {
				c.Until = end
			}
			if c.Since.IsZero() && n > 0 {
				c.Since = begin
			}
			if at, isThere := last[name]; isThere && list[at].Until.Equal(c.Since) {
				list[at].Until = c.Until
				continue
			}
			last[name] = len(list)
			list = append(list, c)
		}
	}
	return list
}

// outs are the times that calendars leave out between two moments, by the names of the calendars. Since is zero for what
// had begun before, and Until is the end also if it is later.
func outs(calendars map[string]*calendar.Calendar, from, to time.Time) iter.Seq2[string, Cause] {
	return func(yield func(string, Cause) bool) {
		for _, name := range slices.Sorted(maps.Keys(calendars)) {
			for s := range calendars[name].Spans(from, to) {
				until, _ := calendars[name].Excluded(s.From)
				c := Cause{Kind: Calendar, Since: s.From.UTC(), Until: until.UTC(), Text: fmt.Sprintf("calendar %s leaves it out", brief.Quote(name)), Command: "elasticjob calendar get " + brief.Text(name)}
				if !s.From.After(from) {
					c.Since = time.Time{}
				}
				if !yield(name, c) {
					return
				}
			}
		}
	}
}

// maxAbsences is of how many times without an instance executions are asked for.
const maxAbsences = 50

// beyond is for how long before and after a time it is looked which instances were there.
const beyond = time.Hour

// follow reads what has happened to instances from a moment on, and the last execution of each time in which nothing is heard of any.
func (p *past) follow(from time.Time) error {
	to := p.at.Add(beyond)
	kinds := []jobtype.EventKind{jobtype.EventJoined, jobtype.EventLeft, jobtype.EventItems, jobtype.EventLeads, jobtype.EventConfigured}
	later, isMore := p.happened(from.Add(-beyond), to, history.MaxLimit, kinds...)
	earlier, _ := p.happened(time.Time{}, from.Add(-beyond), before, kinds...)
	if isMore {
		earlier = nil
		p.unseen = append(p.unseen, fmt.Sprintf("So much has happened that it was looked at only from %s on.", later[len(later)-1].Time.UTC().Format(time.RFC3339)))
	}
	p.events = slices.Concat(later, earlier)
	slices.SortStableFunc(p.events, func(a, b trace.Event) int { return a.Time.Compare(b.Time) })
	p.isCut = !to.After(p.now)
	found := p.absences()
	for _, c := range found[max(len(found)-maxAbsences, 0):] {
		end := c.Until
		if end.IsZero() {
			end = p.now
		}
		if end.After(from) && end.After(c.Since) {
			rows, _ := p.ran(c.Since, end, 1)
			p.runs = append(p.runs, rows...)
		}
	}
	return p.err
}
