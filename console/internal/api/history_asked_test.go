package api_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/api"
	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
)

// ofSettle returns the path of a question about the past of the job settle until now.
func ofSettle(path, more string) string {
	q := url.Values{"job": {"settle"}, "from": {time.Now().Add(-time.Hour).Format(time.RFC3339Nano)}, "to": {time.Now().Format(time.RFC3339Nano)}}
	return orders + path + "?" + q.Encode() + more
}

// Columns are the executions of the list, the other way round.
func TestColumns(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		anna := apitest.May(access.Viewer, "settle")
		columns := func(more string) (c api.ColumnsInfo) {
			answer := ask(t, w, anna, ofSettle("/history/columns", more))
			if err := json.Unmarshal([]byte(answer.body), &c); err != nil || answer.status != http.StatusOK {
				t.Fatalf("%d %s, %v", answer.status, answer.body, err)
			}
			return c
		}
		var rows struct{ Rows []api.ExecutionInfo }
		if err := json.Unmarshal([]byte(ask(t, w, anna, ofSettle("/history/executions", "&limit=1000")).body), &rows); err != nil {
			t.Fatal(err)
		}
		all := columns("")
		if n := len(rows.Rows); n < 5 || len(all.IDs) != n || all.More {
			t.Fatalf("%d executions, more: %v; want %d", len(all.IDs), all.More, n)
		}
		for i := range all.IDs {
			x := rows.Rows[len(rows.Rows)-1-i]
			got := api.ExecutionInfo{
				ID: all.IDs[i], Item: all.Items[i], Outcome: all.Outcomes[all.Outcome[i]], Source: all.Sources[all.Source[i]], Instance: all.Instances[all.Instance[i]],
				Tick: all.Begin.Add(time.Duration(all.Ticks[i]) * time.Millisecond), Begun: all.Begin.Add(time.Duration(all.Begun[i]) * time.Millisecond),
			}
			want := api.ExecutionInfo{ID: x.ID, Item: x.Item, Outcome: x.Outcome, Source: x.Source, Instance: x.Instance, Tick: x.Tick.Truncate(time.Millisecond), Begun: x.Begun.Truncate(time.Millisecond)}
			if isRunning := x.Outcome == "RUNNING"; got != want || isRunning != (all.Duration[i] < 0) {
				t.Errorf("got %+v for %d ms, want %+v", got, all.Duration[i], want)
			}
		}
		if two := columns("&limit=2"); len(two.IDs) != 2 || !two.More || two.IDs[1] != rows.Rows[0].ID {
			t.Errorf("two of them: %+v", two)
		}
		for path, want := range map[string]struct {
			status int
			text   string
		}{
			orders + "/history/columns?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z":          {422, "query.job"},
			orders + "/history/columns?job=settle&to=2027-01-01T00:00:00Z":                         {422, "query.from"},
			orders + "/history/columns?job=settle&from=2026-01-01T00:00:00Z":                       {422, "query.to"},
			orders + "/history/columns?job=late&from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z": {403, `the past of job \"late\"`},
			ofSettle("/history/columns", "&limit=100001"):                                          {422, "query.limit"},
		} {
			if answer := ask(t, w, anna, path); answer.status != want.status || !strings.Contains(answer.body, want.text) {
				t.Errorf("%s: %d %s", path, answer.status, answer.body)
			}
		}
	})
}

// Lanes have the runs, failures and missed ticks of each job that the caller may see.
func TestLanes(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		answer := ask(t, w, apitest.May(access.Viewer, "settle"), strings.Replace(ofSettle("/history/lanes", ""), "job=settle&", "", 1))
		var lanes api.LanesInfo
		if err := json.Unmarshal([]byte(answer.body), &lanes); err != nil || answer.status != http.StatusOK || len(lanes.Jobs) != 1 {
			t.Fatalf("%d %s, %v", answer.status, answer.body, err)
		}
		l := lanes.Jobs[0]
		if l.Job != "settle" || l.Executions < 5 || l.Failed < 1 || l.Missed != 3 || strings.Trim(l.Cells, ".ofmx") != "" || len(l.Cells) != int(3600/lanes.Step) || !strings.ContainsAny(l.Cells, "fx") {
			t.Errorf("%+v", lanes)
		}
		if got := ask(t, w, apitest.May(access.Viewer, "settle"), orders+"/history/lanes?from=2026-01-01T00:00:00Z&to=2026-01-08T00:00:01Z"); got.status != 422 {
			t.Errorf("a time that is too long: %d %s", got.status, got.body)
		}
	})
}

// Ticks that were missed are counted in the day in which that was noticed.
func TestMissed(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		anna := apitest.May(access.Viewer, "settle")
		answer := ask(t, w, anna, ofSettle("/history/missed", "&step=day"))
		if rows, _ := answer.rows(t); len(rows) != 1 || answer.field(t, "madeUp") != "0" || answer.field(t, "skipped") != `{"too late":3}` {
			t.Errorf("%d %s", answer.status, answer.body)
		}
		if rows, _ := ask(t, w, anna, orders+"/history/missed?job=settle&to=1999-01-01T00:00:00Z").rows(t); len(rows) != 0 {
			t.Errorf("long ago: %s", rows)
		}
		for path, want := range map[string]int{"?job=late": 403, "": 403, "?job=settle&timeZone=Mars": 422, "?job=settle&from=1999-01-01T00:00:00Z": 422} {
			if answer := ask(t, w, anna, orders+"/history/missed"+path); answer.status != want {
				t.Errorf("%s: %d %s", path, answer.status, answer.body)
			}
		}
	})
}

// The file has what the list has.
func TestExecutionsFile(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		anna := apitest.May(access.Viewer, "settle")
		file := ask(t, w, anna, ofSettle("/history/executions.csv", "&items=0,1"))
		rows, err := csv.NewReader(strings.NewReader(file.body)).ReadAll()
		if err != nil || file.status != http.StatusOK || file.header.Get("Content-Disposition") != "attachment; filename=executions-settle.csv" {
			t.Fatalf("%d %v %s, %v", file.status, file.header, file.body, err)
		}
		var ids []string
		for _, row := range rows[1:] {
			ids = append(ids, row[0])
		}
		if want := ask(t, w, anna, ofSettle("/history/executions", "&limit=1000&items=0,1")).field(t, "id"); strings.Join(ids, " ") != want || len(ids) < 3 {
			t.Errorf("got %q, want %q", ids, want)
		}
		for path, want := range map[string]int{"": 403, "?job=late": 403, "?job=settle&limit=100001": 422, "?job=settle&after=x": 422, "?job=settle&outcomes=GOOD": 422} {
			if answer := ask(t, w, anna, orders+"/history/executions.csv"+path); answer.status != want {
				t.Errorf("%s: %d %s", path, answer.status, answer.body)
			}
		}
	})
}
