package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
)

// PutCalendarInput says what a calendar is to say.
type PutCalendarInput struct {
	InCalendar
	InDryRun
	InVersion
	Body CalendarBody
}

// CalendarBody is a calendar.
type CalendarBody struct {
	Document string `json:"document" minLength:"1" maxLength:"524288" doc:"YAML."`
}

// CalendarChanged is the answer to a change of a calendar.
type CalendarChanged struct {
	Changed
	Jobs []string `json:"jobs" nullable:"false" doc:"Jobs that name it."`
	Idle []string `json:"idle" nullable:"false" doc:"Those of them that have no tick to come by it."`
}

// RemoveCalendarInput says which calendar is to go.
type RemoveCalendarInput struct {
	InCalendar
	InDryRun
	InIfMatch
	Force bool `query:"force" default:"false" doc:"Also while jobs name it: they go by what they know of it, with a fault."`
}

func (a *API) addCalendarChanges() {
	register(a, admin(route.AllJobs), huma.Operation{
		OperationID: "put-calendar", Method: http.MethodPut, Path: namespacePath + "/calendars/{calendar}", Tags: tagNamespaces, Summary: "Write a calendar",
		Description: "If-None-Match: * creates, If-Match replaces; one of them is needed.", DefaultStatus: http.StatusOK,
		Errors: []int{http.StatusConflict, http.StatusPreconditionFailed, http.StatusPreconditionRequired},
	}, a.putCalendar)
	register(a, admin(route.AllJobs), huma.Operation{
		OperationID: "remove-calendar", Method: http.MethodDelete, Path: namespacePath + "/calendars/{calendar}", Tags: tagNamespaces, Summary: "Remove a calendar",
		Description: "If-Match is needed.", DefaultStatus: http.StatusOK,
		Errors: []int{http.StatusConflict, http.StatusPreconditionFailed, http.StatusPreconditionRequired},
	}, a.removeCalendar)
}

func (a *API) putCalendar(ctx context.Context, in *PutCalendarInput) (*answer[CalendarChanged], error) {
	want, err := in.precondition()
	if err != nil {
		return nil, err
	}
	r := ops.PutCalendarRequest{Name: in.Calendar, Document: []byte(in.Body.Document), New: want.isNew, Version: want.one()}
	out := &answer[CalendarChanged]{}
	out.Body.Changed, err = a.change(ctx, in.InDryRun, func(o *ops.Ops) error {
		if want.isAny { // RFC 9110: of any version, but there
			if _, err := o.Calendar(ctx, in.Calendar); err != nil {
				return err
			}
		}
		result, err := o.PutCalendar(ctx, r)
		out.Body.Jobs, out.Body.Idle = notNil(result.Jobs), notNil(result.Idle)
		return err
	})
	return out, err
}

func (a *API) removeCalendar(ctx context.Context, in *RemoveCalendarInput) (*answer[Changed], error) {
	want, err := in.precondition()
	if err != nil {
		return nil, err
	}
	r := ops.RemoveCalendarRequest{Name: in.Calendar, Version: want.one(), Force: in.Force}
	return a.plainly(ctx, in.InDryRun, func(o *ops.Ops) error { return o.RemoveCalendar(ctx, r) })
}
