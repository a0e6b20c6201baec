package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Columns have what each execution has, the newest last, and count from the earliest time that there is.
func TestColumnsOf(t *testing.T) {
	from := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return from.Add(time.Duration(seconds * float64(time.Second))) }
	got := columnsOf(history.Outlines{More: true, Rows: []history.Outline{
		{ID: "d", Item: 3, Instance: "x", Source: job.SourceBackfill, ScheduledTime: at(-3600), StartTime: at(5), Duration: 1500 * time.Microsecond, Outcome: "OK"},
		{ID: "c", StartTime: at(4), Duration: -1, Outcome: "RUNNING"},
		{ID: "b", Item: 1, Instance: "y", Source: job.SourceNormal, ScheduledTime: at(2), StartTime: at(2.25), Duration: time.Minute, Outcome: "FAILED"},
		{ID: "a", Instance: "x", Source: job.SourceBackfill, ScheduledTime: at(1), StartTime: at(1), Outcome: "OK"},
	}}, from)
	want := `{"begin":"2026-01-02T02:00:00Z","ids":["a","b","c","d"],"items":[0,1,0,3],"ticks":[3601000,3602000,-1,0],"begun":[3601000,3602250,3604000,3605000],` +
		`"duration":[0,60000,-1,1],"outcome":[0,2,1,0],"source":[0,2,1,0],"instance":[0,2,1,0],` +
		`"outcomes":["OK","RUNNING","FAILED"],"sources":["BACKFILL","","NORMAL_TRIGGER"],"instances":["x","","y"],"more":true}`
	if text, err := json.Marshal(got); err != nil || string(text) != want {
		t.Errorf("got %s, %v\nwant %s", text, err, want)
	}
	if text, err := json.Marshal(columnsOf(history.Outlines{}, from)); err != nil || strings.Contains(string(text), "null") || !strings.HasPrefix(string(text), `{"begin":"2026-01-02T03:00:00Z","ids":[],`) {
		t.Errorf("of none: %s, %v", text, err)
	}
}
