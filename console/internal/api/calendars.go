package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
)

// InCalendar says which calendar is meant.
type InCalendar struct {
	InNamespace
	Calendar string `path:"calendar" maxLength:"255" doc:"Name of the calendar." example:"holidays"`
}

// CalendarInfo is a calendar: days on which jobs do not run.
type CalendarInfo struct {
	Name    string `json:"name" doc:"Name of the calendar."`
	Version int64  `json:"version" doc:"Its version; the ETag of the calendar has it, too."`
	Error   string `json:"error,omitempty" doc:"Why it cannot be read. Jobs that name it have no ticks then."`
}

// CalendarDetail is a calendar with its document.
type CalendarDetail struct {
	CalendarInfo
	Document string   `json:"document" doc:"YAML."`
	Jobs     []string `json:"jobs" nullable:"false" doc:"Jobs that name it, of those that you may see."`
}

func (a *API) addCalendars() {
	register(a, viewer(route.SomeJobs), huma.Operation{
		OperationID: "list-calendars", Method: http.MethodGet, Path: namespacePath + "/calendars", Tags: tagNamespaces, Summary: "Calendars, by name",
	}, pages(a, "calendars", calendars, func(c CalendarInfo) string { return c.Name }))
	register(a, viewer(route.SomeJobs), huma.Operation{
		OperationID: "get-calendar", Method: http.MethodGet, Path: namespacePath + "/calendars/{calendar}", Tags: tagNamespaces, Summary: "Calendar, and jobs that name it",
	}, a.calendar)
	a.addCalendarPlans()
}

func infoOf(c *ops.Calendar) CalendarInfo {
	return CalendarInfo{Name: c.Name, Version: c.Version, Error: textOf(c.Err)}
}

func calendars(o *ops.Ops, ctx context.Context) ([]CalendarInfo, error) {
	list, err := o.Calendars(ctx)
	rows := make([]CalendarInfo, len(list))
	for i, c := range list {
		rows[i] = infoOf(c)
	}
	return rows, err
}

func (a *API) calendar(ctx context.Context, in *InCalendar) (*versioned[CalendarDetail], error) {
	o, err := a.ops(ctx)
	if err != nil {
		return nil, err
	}
	c, err := o.Calendar(ctx, in.Calendar)
	if c == nil {
		return nil, err
	}
	jobs := []string{}
	for s, err := range o.AllSettings(ctx) {
		if err != nil {
			return nil, err
		}
		if slices.Contains(s.Config.Calendars, c.Name) {
			jobs = append(jobs, s.Job)
		}
	}
	return &versioned[CalendarDetail]{etag(c.Version), CalendarDetail{infoOf(c), string(c.Document), jobs}}, nil
}
