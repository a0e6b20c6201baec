package show

import (
	"fmt"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/moment"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/selection"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// event is something that has happened, for programs.
type event struct {
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	Kind     string    `json:"kind"`
	Job      string    `json:"job,omitempty"`
	Instance string    `json:"instance,omitempty"`
	Item     *int      `json:"item,omitempty"` // of the ticks that were made up or skipped
	Tick     time.Time `json:"scheduledTime,omitzero"`
	Count    int       `json:"count,omitempty"`
	Items    []int     `json:"items,omitempty"`
	What     string    `json:"what,omitempty"`
	Detail   string    `json:"detail,omitempty"`
	By       string    `json:"by,omitempty"`
	From     string    `json:"from,omitempty"`
	Why      string    `json:"why,omitempty"`
	Before   string    `json:"before,omitempty"`
	After    string    `json:"after,omitempty"`
	Error    string    `json:"error,omitempty"`
	Over     bool      `json:"over,omitempty"`
}

// events is a page of events for programs.
type events struct {
	Events []event `json:"events"`
	Next   string  `json:"next,omitempty"` // for --after
}

// Events shows a page of events. elsewhere says which jobs of them the namespace does not have.
func Events(page history.Page[trace.Event], elsewhere string) Result {
	list := events{Next: string(page.Next), Events: []event{}}
	for _, e := range page.Rows {
		x := event{
			ID: e.ID, Time: e.Time, Kind: e.Kind.String(), Job: e.Job, Instance: e.Instance, Items: e.Items, What: e.What, Detail: e.Detail,
			By: e.By, From: e.From, Why: e.Why, Before: e.Before, After: e.After, Error: e.Error, Over: e.Over, Tick: e.Execution.ScheduledTime, Count: e.Ticks,
		}
		if e.Kind == jobtype.EventMadeUp || e.Kind == jobtype.EventSkipped {
			x.Item = &e.Execution.Item
		}
		list.Events = append(list.Events, x)
	}
	return Result{
		Value: list, Names: func() []string { return each(list.Events, func(e event) string { return e.ID }) },
		Table: func() *Table {
			t := NewTable("TIME", "KIND", "JOB", "WHAT", "ITEMS", "TICK", "COUNT", "BY", "DETAIL", "(INSTANCE)", "(ID)")
			t.Empty = "No event."
			for _, e := range list.Events {
				kind := e.Kind
				if e.Over {
					kind += " is over"
				}
				var detail []string
				for _, text := range []string{e.Detail, e.Why, e.Error} {
					if text != "" {
						detail = append(detail, FirstLine(text))
					}
				}
				of, ticks := e.Items, ""
				if e.Item != nil {
					of, ticks = []int{*e.Item}, fmt.Sprint(e.Count)
				}
				t.Row(moment.Text(e.Time), kind, e.Job, e.What, selection.Ranges(of), moment.Text(e.Tick), ticks, e.By, strings.Join(detail, ": "), e.Instance, e.ID)
			}
			t.Foot = elsewhere
			if list.Next != "" {
				t.Foot = strings.TrimSpace(elsewhere + "\nThere are more: --after " + list.Next)
			}
			return t
		},
	}
}
