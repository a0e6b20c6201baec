package declare

import (
	"context"

	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/ops"
)

// planCalendars decides what is to be done about the calendars of the files, and returns those that
// are to be written.
func planCalendars(ctx context.Context, o *ops.Ops, files []jobfile.Calendar) (steps []Step, written map[string]*calendar.Calendar, err error) {
	list, err := o.Calendars(ctx)
	if err != nil {
		return nil, nil, err
	}
	there := map[string]*ops.Calendar{}
	for _, one := range list {
		there[one.Name] = one
	}
	written = map[string]*calendar.Calendar{}
	for _, want := range files {
		s := Step{
			Kind: Calendar, Name: want.Name, Place: want.Place(),
			calendar: ops.PutCalendarRequest{Name: want.Name, Document: []byte(want.Document)},
		}
		parsed, err := calendar.Parse([]byte(want.Document))
		if err != nil {
			return nil, nil, err
		}
		switch has := there[want.Name]; {
		case has == nil:
			s.Action, s.calendar.New = Create, true
		case string(has.Document) == want.Document:
			s.Action = Unchanged
		default:
			s.Action, s.calendar.Version = Update, &has.Version
			before, after := string(has.Document), want.Document
			s.Differences = []jobfile.Difference{{Key: "document", Before: &before, After: &after}}
		}
		if s.Action.Writes() {
			written[want.Name] = parsed
		}
		steps = append(steps, s)
	}
	return steps, written, nil
}
