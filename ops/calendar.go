package ops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// errBadCalendar: the document of a calendar cannot be read.
var errBadCalendar = errors.New("its document cannot be read")

// CalendarUsedError lists the jobs that name a calendar.
type CalendarUsedError struct {
	Jobs []string // ascending
}

func (e *CalendarUsedError) Error() string {
	var list brief.List
	for _, name := range e.Jobs {
		list.Add(name)
	}
	return fmt.Sprintf("%v: %v", ErrCalendarUsed, &list)
}

// Unwrap returns ErrCalendarUsed.
func (e *CalendarUsedError) Unwrap() error { return ErrCalendarUsed }

// Calendar is a calendar of the namespace.
type Calendar struct {
	Name     string
	Document []byte
	// Version is that of the node, for PutCalendarRequest.
	Version int64
	// Calendar is what the document says; nil if it cannot be read, and Err says why.
	Calendar *calendar.Calendar
	Err      error
}

// PutCalendarRequest says what calendar is to be written.
type PutCalendarRequest struct {
	// Name has 1 to 200 characters, as the name of a job.
	Name string
	// Document is read by [calendar.Parse]. [calendar.FromICalendar] makes one of an iCalendar file.
	Document []byte
	// Version is the version that the calendar has to have; nil is any, or none.
	Version *int64
	// New is whether there has to be no such calendar. Then Version does not count.
	New bool
}

// PutCalendarResult says what a calendar that was written does.
type PutCalendarResult struct {
	// Jobs are those that name it, ascending.
	Jobs []string
	// Idle are those of them that have no tick to come by it.
	Idle []string
}

// PutCalendar writes a calendar. The jobs that name it go by it a moment later: for each that is
// a change of its schedule, unless it means the same: what had come before by the calendar as it was stays due, and
// no other earlier tick does. If only the result cannot be told, the error comes with the calendar written.
//
// Errors: ErrCalendarChanged; those of calendar.Parse, of a read and of a commit.
func (o *Ops) PutCalendar(ctx context.Context, r PutCalendarRequest) (PutCalendarResult, error) {
	var result PutCalendarResult
	failed := func(err error) (PutCalendarResult, error) {
		return result, fmt.Errorf("calendar %s: put: %w", brief.Text(r.Name), err)
	}
	if !jobtree.IsName(r.Name) {
		return failed(wrong("name", "no calendar can have this name"))
	}
	if _, err := calendar.Parse(r.Document); err != nil {
		return failed(wrong("document", "%w", err))
	}
	if err := again(ctx, func() error { return o.putCalendar(ctx, r) }); err != nil {
		return failed(err)
	}
	jobs, err := o.naming(ctx, r.Name)
	if err != nil {
		return failed(fmt.Errorf("written, but: %w", err))
	}
	for _, c := range jobs {
		result.Jobs = append(result.Jobs, c.Name)
		// A calendar that cannot be read is a fault of the job already.
		if ticks, err := o.ticks(ctx, c, nil); err == nil && ticks != nil && ticks.Next(o.now()).IsZero() {
			result.Idle = append(result.Idle, c.Name)
		}
	}
	return result, nil
}

func (o *Ops) putCalendar(ctx context.Context, r PutCalendarRequest) error {
	nodes, err := o.nodes(ctx, jobtree.Calendar(r.Name))
	if err != nil {
		return err
	}
	before, isThere := nodes[0], nodes[0].Path != ""
	switch {
	case r.New && isThere, r.Version != nil && (!isThere || before.Version != *r.Version):
		return ErrCalendarChanged
	case isThere && bytes.Equal(before.Value, r.Document):
		return nil
	}
	write := coord.Create(jobtree.Calendar(r.Name), r.Document)
	if isThere {
		write = coord.SetAt(before.Path, r.Document, before.Version)
	}
	act, err := o.act("", ActionPutCalendar)
	if err != nil {
		return err
	}
	_, err = act.says("calendar "+r.Name, string(before.Value), string(r.Document)).commit(ctx, write)
	return err
}

// Calendar reads a calendar.
//
// Errors: ErrNoCalendar; those of a read.
func (o *Ops) Calendar(ctx context.Context, name string) (*Calendar, error) {
	var n coord.Node
	err := coord.ErrNoNode
	if jobtree.IsName(name) {
		n, err = o.reg.Get(ctx, jobtree.Calendar(name))
	}
	if errors.Is(err, coord.ErrNoNode) {
		err = ErrNoCalendar
	}
	if err != nil {
		return nil, fmt.Errorf("calendar %s: %w", brief.Text(name), err)
	}
	return calendarOf(n), nil
}

// Calendars reads all calendars of the namespace, by name.
//
// Errors: those of a read.
func (o *Ops) Calendars(ctx context.Context) ([]*Calendar, error) {
	nodes, err := o.reg.List(ctx, jobtree.Calendars)
	if err != nil && !errors.Is(err, coord.ErrNoNode) {
		return nil, fmt.Errorf("calendars: %w", err)
	}
	var list []*Calendar
	for _, n := range nodes {
		list = append(list, calendarOf(n))
	}
	return list, nil
}

func calendarOf(n coord.Node) *Calendar {
	c := &Calendar{Name: coord.Base(n.Path), Document: n.Value, Version: n.Version}
	c.Calendar, c.Err = calendar.Parse(n.Value)
	return c
}

// RemoveCalendarRequest says which calendar is to be removed.
type RemoveCalendarRequest struct {
	Name string
	// Version is the version that the calendar has to have; nil is any.
	Version *int64
	// Force removes it also while jobs name it.
	Force bool
}

// RemoveCalendar removes a calendar. It is refused while a job names it, unless it is forced:
// then processes that know the calendar go on by it, with a fault, until they end. A job that is
// configured at the same moment may be missed.
//
// Errors: ErrNoCalendar; ErrCalendarChanged; a *CalendarUsedError; those of a read and of a commit.
func (o *Ops) RemoveCalendar(ctx context.Context, r RemoveCalendarRequest) error {
	err := ErrNoCalendar
	if jobtree.IsName(r.Name) {
		err = again(ctx, func() error { return o.removeCalendar(ctx, r) })
	}
	if err != nil {
		return fmt.Errorf("calendar %s: remove: %w", brief.Text(r.Name), err)
	}
	return nil
}

func (o *Ops) removeCalendar(ctx context.Context, r RemoveCalendarRequest) error {
	before, err := o.reg.Get(ctx, jobtree.Calendar(r.Name))
	switch {
	case errors.Is(err, coord.ErrNoNode):
		return ErrNoCalendar
	case err != nil:
		return err
	case r.Version != nil && before.Version != *r.Version:
		return ErrCalendarChanged
	}
	if !r.Force {
		jobs, err := o.naming(ctx, r.Name)
		if err != nil {
			return err
		}
		used := &CalendarUsedError{}
		for _, c := range jobs {
			used.Jobs = append(used.Jobs, c.Name)
		}
		if len(used.Jobs) > 0 {
			return used
		}
	}
	act, err := o.act("", ActionRemoveCalendar)
	if err != nil {
		return err
	}
	_, err = act.says("calendar "+r.Name, string(before.Value), "").commit(ctx, coord.AtVersion(before.Path, before.Version), coord.DeleteTree(before.Path))
	return err
}

// naming returns the configurations that name a calendar, by the names of their jobs. One that
// cannot be read names none.
func (o *Ops) naming(ctx context.Context, name string) ([]jobtype.Config, error) {
	var list []jobtype.Config
	for s, err := range o.settings(ctx, func(string) bool { return true }) {
		if err != nil {
			return nil, err
		}
		if s.Err == nil && slices.Contains(s.Config.Calendars, name) {
			list = append(list, s.Config)
		}
	}
	return list, nil
}

// ticks returns the ticks of a job, without those that its calendars leave out, and without those
// after its end; nil for a one-off job. recorded is what the leader has recorded of that; nil if it
// is not known.
func (o *Ops) ticks(ctx context.Context, c jobtype.Config, recorded *jobtree.Schedule) (calendar.Schedule, error) {
	return ticksOf(c, recorded, func(name string) (*Calendar, error) { return o.Calendar(ctx, name) })
}

// ticksOf is [Ops.ticks] for who knows the calendars.
func ticksOf(c jobtype.Config, recorded *jobtree.Schedule, find func(name string) (*Calendar, error)) (calendar.Schedule, error) {
	all, err := c.Ticks()
	if err != nil || all == nil {
		return nil, err
	}
	var calendars []*calendar.Calendar
	for _, name := range c.Calendars {
		named, err := find(name)
		if err != nil {
			return nil, err
		}
		if named.Err != nil {
			return nil, fmt.Errorf("calendar %s: %w: %w", brief.Text(name), errBadCalendar, named.Err)
		}
		calendars = append(calendars, named.Calendar)
	}
	end := c.Expiry.At
	if recorded != nil && !recorded.Until.IsZero() {
		end = recorded.Until
	}
	return decide.UpTo(end, calendar.Without(all, calendars...)), nil
}

// lastDue returns the last tick, up to a time, that was due by a schedule that is in force, or by the one before;
// zero if there is none.
func lastDue(ticks calendar.Schedule, s *jobtree.Schedule, upTo time.Time) time.Time {
	if last := ticks.Prev(upTo); last.After(s.Since) {
		return last
	}
	if s.LastBefore.After(upTo) {
		return time.Time{}
	}
	return s.LastBefore
}

// isTick reports whether a time is a tick of a job.
func isTick(ticks calendar.Schedule, at time.Time) bool {
	return ticks != nil && !at.IsZero() && ticks.Prev(at).Equal(at)
}
