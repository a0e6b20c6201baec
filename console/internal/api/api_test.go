package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
)

const orders = "/api/v1/namespaces/orders"

// questions has for each GET route of the table a question that everything answers. {execution} stands for
// the id of a failed execution of the job settle.
var questions = map[string]string{
	"/api/v1":              "/api/v1",
	"/api/v1/openapi.json": "/api/v1/openapi.json",
	"/api/v1/openapi.yaml": "/api/v1/openapi.yaml",
	"/api/v1/cron":         "/api/v1/cron?expression=0+0+3+?+*+MON-FRI&timeZone=Asia/Shanghai&language=zh&count=3",
	"/api/v1/me":           "/api/v1/me",
	"/api/v1/namespaces":   "/api/v1/namespaces",

	"/api/v1/namespaces/{namespace}/audit":                     orders + "/audit",
	"/api/v1/namespaces/{namespace}/calendars":                 orders + "/calendars",
	"/api/v1/namespaces/{namespace}/calendars/{calendar}":      orders + "/calendars/holidays",
	"/api/v1/namespaces/{namespace}/calendars/{calendar}/plan": orders + "/calendars/holidays/plan?from=2027-01-01",
	"/api/v1/namespaces/{namespace}/findings":                  orders + "/findings",
	"/api/v1/namespaces/{namespace}/instances":                 orders + "/instances",
	"/api/v1/namespaces/{namespace}/processes":                 orders + "/processes",
	"/api/v1/namespaces/{namespace}/removed":                   orders + "/removed",
	"/api/v1/namespaces/{namespace}/servers":                   orders + "/servers",
	"/api/v1/namespaces/{namespace}/servers/{address}/jobs":    orders + "/servers/10.0.0.2/jobs",

	"/api/v1/namespaces/{namespace}/jobs":                          orders + "/jobs",
	"/api/v1/namespaces/{namespace}/jobs/{job}":                    orders + "/jobs/settle",
	"/api/v1/namespaces/{namespace}/jobs/{job}/dump":               orders + "/jobs/settle/dump",
	"/api/v1/namespaces/{namespace}/jobs/{job}/info":               orders + "/jobs/settle/info",
	"/api/v1/namespaces/{namespace}/jobs/{job}/instances":          orders + "/jobs/settle/instances",
	"/api/v1/namespaces/{namespace}/jobs/{job}/items":              orders + "/jobs/settle/items",
	"/api/v1/namespaces/{namespace}/jobs/{job}/latest":             orders + "/jobs/settle/latest",
	"/api/v1/namespaces/{namespace}/jobs/{job}/requests":           orders + "/jobs/settle/requests",
	"/api/v1/namespaces/{namespace}/jobs/{job}/requests/{request}": orders + "/jobs/settle/requests/{request}",
	"/api/v1/namespaces/{namespace}/jobs/{job}/servers":            orders + "/jobs/settle/servers",
	"/api/v1/namespaces/{namespace}/jobs/{job}/settings":           orders + "/jobs/settle/settings",
	"/api/v1/namespaces/{namespace}/jobs/{job}/ticks":              orders + "/jobs/settle/ticks",
	"/api/v1/namespaces/{namespace}/jobs/{job}/causes":             orders + "/jobs/settle/causes?from=1999-12-31T00:00:00Z",
	"/api/v1/namespaces/{namespace}/jobs/{job}/why":                orders + "/jobs/settle/why?item=1",

	"/api/v1/namespaces/{namespace}/history/addresses":                    orders + "/history/addresses?prefix=10.0.",
	"/api/v1/namespaces/{namespace}/history/columns":                      orders + "/history/columns?job=settle&from=1999-12-31T00:00:00Z&to=2000-01-02T00:00:00Z",
	"/api/v1/namespaces/{namespace}/history/counts":                       orders + "/history/counts?job=settle",
	"/api/v1/namespaces/{namespace}/history/durations":                    orders + "/history/durations?job=settle",
	"/api/v1/namespaces/{namespace}/history/events":                       orders + "/history/events?job=settle",
	"/api/v1/namespaces/{namespace}/history/executions":                   orders + "/history/executions?job=settle",
	"/api/v1/namespaces/{namespace}/history/executions/{execution}":       orders + "/history/executions/{execution}",
	"/api/v1/namespaces/{namespace}/history/executions/{execution}/chain": orders + "/history/executions/{execution}/chain",
	"/api/v1/namespaces/{namespace}/history/executions/{execution}/lines": orders + "/history/executions/{execution}/lines",
	"/api/v1/namespaces/{namespace}/failures":                             orders + "/failures?from=1999-01-01T00:00:00Z",
	"/api/v1/namespaces/{namespace}/history/jobs":                         orders + "/history/jobs",
	"/api/v1/namespaces/{namespace}/history/lanes":                        orders + "/history/lanes?from=1999-12-31T23:30:00Z&to=2000-01-01T00:30:00Z",
	"/api/v1/namespaces/{namespace}/history/missed":                       orders + "/history/missed?job=settle",
	"/api/v1/namespaces/{namespace}/history/statuses":                     orders + "/history/statuses?job=settle",
}

// said is an answer.
type said struct {
	status int
	header http.Header
	body   string
}

func ask(t *testing.T, w *apitest.World, p *access.Principal, path string, header ...string) said {
	t.Helper()
	return heard(t, w.Do(p, http.MethodGet, path, "", header...))
}

func heard(t *testing.T, answer *http.Response) said {
	t.Helper()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return said{answer.StatusCode, answer.Header, string(body)}
}

// rows returns the rows of a list, and the cursor of the next page.
func (s said) rows(t *testing.T) ([]json.RawMessage, string) {
	t.Helper()
	var page struct {
		Rows []json.RawMessage
		Next string
	}
	if err := json.Unmarshal([]byte(s.body), &page); err != nil || s.status != http.StatusOK {
		t.Fatalf("%d %v: %s", s.status, err, s.body)
	}
	return page.Rows, page.Next
}

// field returns a field of each row, with blanks between them.
func (s said) field(t *testing.T, name string) string {
	t.Helper()
	var values []string
	rows, _ := s.rows(t)
	for _, row := range rows {
		var fields map[string]any
		if err := json.Unmarshal(row, &fields); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(fields[name])
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, strings.Trim(string(text), `"`))
	}
	return strings.Join(values, " ")
}

// failedRun returns the id of a failed execution of the job settle.
func failedRun(t *testing.T, w *apitest.World) string {
	t.Helper()
	ids := strings.Fields(ask(t, w, apitest.May(access.Viewer), orders+"/history/executions?job=settle&outcomes=FAILED").field(t, "id"))
	if len(ids) == 0 {
		t.Fatal("no execution has failed")
	}
	return ids[0]
}

// waiting returns the id of a request of the job settle that has not ended.
func waiting(t *testing.T, w *apitest.World) string {
	t.Helper()
	ids := strings.Fields(ask(t, w, apitest.May(access.Viewer), orders+"/jobs/settle/requests").field(t, "id"))
	if len(ids) == 0 {
		t.Fatal("no request waits")
	}
	return ids[0]
}

// Every route that reads answers with something, as the document says: that is checked of each answer of all
// tests.
func TestEveryQuestion(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		execution := failedRun(t, w)
		asked := map[string]bool{}
		for _, r := range w.Table.Routes() {
			if r.Method != http.MethodGet || r.Stream {
				continue
			}
			question := questions[r.Pattern]
			asked[r.Pattern] = true
			if question == "" {
				t.Errorf("no question is asked of %s", r.Pattern)
				continue
			}
			question = strings.NewReplacer("{execution}", execution, "{request}", waiting(t, w)).Replace(question)
			answer := ask(t, w, apitest.May(access.Viewer), question)
			if answer.status != http.StatusOK || strings.HasPrefix(answer.body, `{"rows":[]`) {
				t.Errorf("%s: %d %s", question, answer.status, answer.body)
			}
		}
		for pattern := range questions {
			if !asked[pattern] {
				t.Errorf("there is no route %s", pattern)
			}
		}
	})
}

// The document has all routes, and no others, each with what it needs.
func TestDocumentHasAllRoutes(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		for _, err := range w.Check.Compare(w.Table.Routes()) {
			t.Error(err)
		}
	})
}

// An answer that is not as the document says is found.
func TestCheckerFinds(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		for body, isRight := range map[string]bool{
			`{"rows":[]}`: true, `{"rows":null}`: false, `{}`: false, `{"rows":[],"more":1}`: false, `{"rows":[{"name":"a","allJobs":"yes"}]}`: false,
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/namespaces", nil)
			if err != nil {
				t.Fatal(err)
			}
			answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
			if err := w.Check.Check(r, "/api/v1/namespaces", answer); (err == nil) != isRight {
				t.Errorf("%s: %v", body, err)
			}
		}
	})
}
