package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/job/calendar"
)

// InDays says which days are meant.
type InDays struct {
	From string `query:"from" format:"date" doc:"First day, by the clock of the calendar's zone, from 1970 to 2099. Default: today." example:"2026-12-01"`
	Days int    `query:"days" minimum:"1" maximum:"366" default:"31" doc:"How many days."`
}

// CalendarPlanInput says of which calendar and which days it is to be told what it leaves out.
type CalendarPlanInput struct {
	InCalendar
	InDays
}

// PlanCalendarInput is a calendar that need not be there.
type PlanCalendarInput struct {
	InNamespace
	InDays
	Body CalendarBody
}

// CalendarPlan is what a calendar leaves out of some days.
type CalendarPlan struct {
	TimeZone string         `json:"timeZone,omitempty" doc:"Zone of the calendar: an IANA name, or an offset such as GMT+08:00. All times here are by its clock."`
	From     time.Time      `json:"from,omitzero" doc:"Beginning of the first day."`
	To       time.Time      `json:"to,omitzero" doc:"End of the last day."`
	Rows     []CalendarSpan `json:"rows" nullable:"false" doc:"What is left out, in its order: 10,000 spans at most. None touches the next."`
	More     bool           `json:"more" doc:"Whether there are more."`
	Error    string         `json:"error,omitempty" doc:"Why the calendar cannot be read. Jobs that name it have no ticks then."`
}

// CalendarSpan is a time in which jobs have no ticks.
type CalendarSpan struct {
	From time.Time `json:"from" doc:"When it begins, or the days do."`
	To   time.Time `json:"to" doc:"When it ends, or the days do: then there are ticks again."`
}

// maxSpans bounds a CalendarPlan.
const maxSpans = 10_000

func (a *API) addCalendarPlans() {
	register(a, viewer(route.SomeJobs), huma.Operation{
		OperationID: "get-calendar-plan", Method: http.MethodGet, Path: namespacePath + "/calendars/{calendar}/plan", Tags: tagNamespaces, Summary: "What a calendar leaves out",
	}, a.calendarPlan)
	// Whoever sees calendars may: it tells what follows from his own input.
	register(a, viewer(route.SomeJobs), huma.Operation{
		OperationID: "plan-calendar", Method: http.MethodPost, Path: namespacePath + "/calendars:plan", Tags: tagNamespaces, Summary: "What a calendar would leave out",
		Description: "Nothing is changed: it is for who writes one.", DefaultStatus: http.StatusOK,
	}, planCalendar)
}

func (a *API) calendarPlan(ctx context.Context, in *CalendarPlanInput) (*answer[CalendarPlan], error) {
	o, err := a.ops(ctx)
	if err != nil {
		return nil, err
	}
	c, err := o.Calendar(ctx, in.Calendar)
	if err != nil {
		return nil, err
	}
	if c.Err != nil {
		return &answer[CalendarPlan]{CalendarPlan{Rows: []CalendarSpan{}, Error: textOf(c.Err)}}, nil
	}
	return in.plan(c.Calendar)
}

func planCalendar(_ context.Context, in *PlanCalendarInput) (*answer[CalendarPlan], error) {
	c, err := calendar.Parse([]byte(in.Body.Document))
	if err != nil {
		return nil, refuse("body.document", "%v", err)
	}
	return in.plan(c)
}

func (in *InDays) plan(c *calendar.Calendar) (*answer[CalendarPlan], error) {
	zone := c.Location()
	from := time.Now().In(zone)
	if in.From != "" {
		var err error
		if from, err = time.ParseInLocation(time.DateOnly, in.From, zone); err != nil || from.Year() < 1970 || from.Year() > 2099 {
			return nil, refuse("query.from", "a day from 1970-01-01 to 2099-12-31 is allowed")
		}
	}
	y, m, d := from.Date()
	day := func(n int) time.Time { return time.Date(y, m, d+n, 0, 0, 0, 0, zone) }
	p := CalendarPlan{TimeZone: zone.String(), From: day(0), To: day(in.Days), Rows: []CalendarSpan{}}
	for s := range c.Spans(p.From, p.To) {
		if p.More = len(p.Rows) == maxSpans; p.More {
			break
		}
		p.Rows = append(p.Rows, CalendarSpan{s.From, s.To})
	}
	return &answer[CalendarPlan]{p}, nil
}
