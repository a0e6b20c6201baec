package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/client"
	"github.com/elasticjob-go/elasticjob/ops"
)

// without are the operations that have no method, and why.
var without = map[string]string{
	"POST /api/v1/login":       "the client sends who it is with each request",
	"POST /api/v1/logout":      "it has no session",
	"GET /api/v1/openapi.yaml": "there is the same as JSON",
}

// noted notes the paths of requests.
type noted struct {
	http.RoundTripper
	mu    sync.Mutex
	paths map[string]bool // with their methods
}

func (n *noted) RoundTrip(r *http.Request) (*http.Response, error) {
	n.mu.Lock()
	n.paths[r.Method+" "+r.URL.EscapedPath()] = true
	n.mu.Unlock()
	return n.RoundTripper.RoundTrip(r)
}

// reaches reports whether a request was sent that fits the path of an operation, and no other one better.
func (n *noted) reaches(operation string, all []string) bool {
	for path := range n.paths {
		if fits(operation, path) && !slices.ContainsFunc(all, func(other string) bool {
			return other != operation && fits(other, path) && strings.Count(other, "{") < strings.Count(operation, "{")
		}) {
			return true
		}
	}
	return false
}

func fits(operation, path string) bool {
	want, got := strings.Split(operation, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && !strings.HasPrefix(want[i], "{") {
			return false
		}
	}
	return true
}

// drain goes over a list.
func drain[T any](list iter.Seq2[T, error]) error {
	_, err := client.Collect(list, 0)
	return err
}

// second returns the error of a call.
func second[T any](_ T, err error) error { return err }

// third returns the error of a call that returns an ETag, too.
func third[T any](_ T, _ string, err error) error { return err }

// Every operation of the API has a method, which sends what the API takes, and has a type with all that it answers: the
// clients of tests refuse fields that they do not know.
func TestEveryRoute(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		notes := &noted{RoundTripper: w.transport, paths: map[string]bool{}}
		by := func(o client.Options) *client.Client {
			o.HTTP = &http.Client{Transport: notes}
			c, err := client.New("http://127.0.0.1", o)
			must(t, err)
			c.Strict()
			return c
		}
		anna := by(client.Options{Name: "anna", Password: password})
		token, err := anna.AddMyToken(ctx, client.NewToken{Name: "test"})
		must(t, err)
		c := by(client.Options{Token: token.Token})
		n := c.Namespace("orders")
		settle, payOut, late := n.Job("settle"), n.Job("pay-out"), n.Job("late")
		execution := ""
		for x, err := range n.ListExecutions(ctx, client.ListExecutionsParams{Job: "settle", Items: []int{0, 1}, Outcomes: nil, Limit: 2}) {
			must(t, err)
			if execution = x.ID; x.Outcome == "FAILED" {
				break
			}
		}
		made, err := settle.Trigger(ctx, client.TriggerBody{Items: []int{0}}, "")
		must(t, err)
		document := "jobName: fresh\ncron: 0 0 3 * * ?\nshardingTotalCount: 2\n"
		grants := []access.Grant{{Role: access.Operator, Jobs: []string{"pay-*"}, Namespaces: []string{"*"}}}
		for _, do := range []struct {
			what string
			do   func() error
		}{
			{"root", func() error { return second(c.GetRoot(ctx)) }},
			{"openapi", func() error { return c.GetOpenAPI(ctx, io.Discard) }},
			{"namespaces", func() error { return second(c.ListNamespaces(ctx)) }},
			{"cron", func() error {
				return second(c.ExplainCron(ctx, client.ExplainCronParams{Expression: "0 0 3 * * ?", Language: "zh", Count: 2}))
			}},
			{"jobs", func() error { return drain(n.ListJobs(ctx, client.ListJobsParams{Sort: ops.SortByEnded, Limit: 2})) }},
			{"instances", func() error { return drain(n.ListInstances(ctx)) }},
			{"servers", func() error { return drain(n.ListServers(ctx)) }},
			{"jobs on a server", func() error { return second(n.ListJobsOnServer(ctx, "10.0.0.1")) }},
			{"processes", func() error { return drain(n.ListProcesses(ctx)) }},
			{"removed", func() error { return drain(n.ListRemoved(ctx)) }},
			{"audit", func() error { return drain(n.ListAudit(ctx, client.ListAuditParams{By: "anna", Limit: 3})) }},
			{"failures", func() error { return second(n.ListFailures(ctx, client.ListFailuresParams{From: time.Unix(0, 0)})) }},
			{"retry failures", func() error {
				return second(n.DryRun().RetryFailures(ctx, client.RetryFailuresBody{From: time.Unix(0, 0)}))
			}},
			{"findings", func() error { return second(n.ListFindings(ctx, client.ListFindingsParams{})) }},
			{"calendars", func() error { return drain(n.ListCalendars(ctx)) }},
			{"calendar", func() error { return third(n.GetCalendar(ctx, "holidays")) }},
			{"plan of a calendar", func() error {
				return second(n.GetCalendarPlan(ctx, "holidays", client.GetCalendarPlanParams{From: "2027-01-01", Days: 7}))
			}},
			{"plan of another calendar", func() error {
				return second(n.PlanCalendar(ctx, client.CalendarBody{Document: "timeZone: UTC\nweekly: [SUN]\n"}, client.PlanCalendarParams{}))
			}},
			{"describe", func() error { return second(settle.Get(ctx)) }},
			{"info", func() error { return second(settle.GetInfo(ctx)) }},
			{"items", func() error { return drain(settle.ListItems(ctx)) }},
			{"job's instances", func() error { return drain(settle.ListInstances(ctx)) }},
			{"job's servers", func() error { return drain(settle.ListServers(ctx)) }},
			{"requests", func() error { return drain(settle.ListRequests(ctx)) }},
			{"request", func() error { return second(settle.GetRequest(ctx, made.ID, client.GetRequestParams{})) }},
			{"await", func() error { return second(settle.Await(ctx, made.ID)) }},
			{"dump", func() error { return second(settle.GetDump(ctx, client.GetDumpParams{Mask: new(false)})) }},
			{"settings", func() error { return third(settle.GetSettings(ctx)) }},
			{"settings that cannot be read", func() error { return third(n.Job("broken").GetSettings(ctx)) }},
			{"ticks", func() error { return second(settle.ListTicks(ctx, client.ListTicksParams{Count: 3})) }},
			{"why", func() error {
				return second(settle.Explain(ctx, client.ExplainJobParams{At: time.Now(), Item: new(0)}))
			}},
			{"causes", func() error {
				return second(settle.ListCauses(ctx, client.ListCausesParams{From: time.Now().Add(-time.Hour)}))
			}},
			{"plan", func() error { return second(n.Job("fresh").Plan(ctx, client.PlanRequest{Document: document})) }},
			{"execution", func() error { return second(n.GetExecution(ctx, execution)) }},
			{"lines", func() error { return second(n.ListLines(ctx, execution, client.ListLinesParams{Limit: 10})) }},
			{"chain", func() error { return second(n.GetChain(ctx, execution)) }},
			{"latest", func() error { return second(settle.ListLatest(ctx, client.ListLatestParams{After: new(0), Limit: 10})) }},
			{"statuses", func() error { return drain(n.ListStatuses(ctx, client.ListStatusesParams{Job: "settle", Limit: 500})) }},
			{"events", func() error { return drain(n.ListEvents(ctx, client.ListEventsParams{Job: "settle"})) }},
			{"executions as a file", func() error { return n.ExportExecutions(ctx, io.Discard, client.ExportExecutionsParams{Job: "settle"}) }},
			{"columns", func() error {
				return second(n.GetColumns(ctx, client.GetColumnsParams{Job: "settle", From: time.Now().Add(-time.Hour), To: time.Now()}))
			}},
			{"lanes", func() error {
				return second(n.ListLanes(ctx, client.ListLanesParams{From: time.Now().Add(-time.Hour), To: time.Now()}))
			}},
			{"counts", func() error {
				return second(n.CountExecutions(ctx, client.CountExecutionsParams{Job: "settle", Step: "day"}))
			}},
			{"missed", func() error { return second(n.CountMissed(ctx, client.CountMissedParams{Job: "settle"})) }},
			{"durations", func() error { return second(n.GetDurations(ctx, client.GetDurationsParams{Job: "settle"})) }},
			{"history's jobs", func() error {
				return second(n.ListHistoryJobs(ctx, client.ListHistoryJobsParams{Prefix: "s", Limit: 10}))
			}},
			{"history's addresses", func() error { return second(n.ListHistoryAddresses(ctx, client.ListHistoryAddressesParams{Limit: 10})) }},

			{"create", func() error {
				return second(n.Job("fresh").PutSettings(ctx, client.SettingsBody{Document: document}, ""))
			}},
			{"update", func() error {
				return second(n.Job("fresh").PutSettings(ctx, client.SettingsBody{Config: json.RawMessage(`{"cron":"0 0 4 * * ?","shardingTotalCount":1}`)}, client.Any))
			}},
			{"patch", func() error {
				_, etag, err := late.GetSettings(ctx)
				if err != nil {
					return err
				}
				return second(late.PatchSettings(ctx, json.RawMessage(`{"description":"comes late"}`), etag))
			}},
			{"implement", func() error {
				return second(late.Implement(ctx, client.ImplementBody{From: "com.example.Late", To: "com.example.Later"}, ""))
			}},
			{"retry", func() error { return second(settle.Retry(ctx, client.RetryBody{}, "")) }},
			{"backfill", func() error {
				from := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
				return second(settle.Backfill(ctx, client.BackfillBody{From: from, To: from.Add(time.Minute), Items: []int{0}}, ""))
			}},
			{"cancel", func() error { return second(settle.CancelRequest(ctx, made.ID)) }},
			{"kill", func() error { return second(settle.KillExecutions(ctx, client.KillBody{Items: []int{2}})) }},
			{"pause", func() error { return second(settle.Pause(ctx, client.PauseBody{Why: "it is late"})) }},
			{"resume", func() error { return second(settle.Resume(ctx, client.ResumeBody{})) }},
			{"reshard", func() error { return second(settle.ReshardItems(ctx)) }},
			{"disable items", func() error { return second(settle.DisableItems(ctx, client.ItemsBody{Items: []int{0, 1}})) }},
			{"enable items", func() error { return second(settle.EnableItems(ctx, client.ItemsBody{Items: []int{0, 1}})) }},
			{"disable item", func() error { return second(settle.DisableItem(ctx, 0)) }},
			{"enable item", func() error { return second(settle.EnableItem(ctx, 0)) }},
			{"pin", func() error { return second(settle.PinItem(ctx, 0, client.PinBody{Address: "10.0.0.1"})) }},
			{"unpin", func() error { return second(settle.UnpinItem(ctx, 0)) }},
			{"disable servers", func() error { return second(settle.DisableServers(ctx, client.DisableServersBody{All: true})) }},
			{"disable servers ahead", func() error {
				return second(settle.DisableServers(ctx, client.DisableServersBody{Servers: []string{"10.0.0.8"}, Ahead: true}))
			}},
			{"enable servers", func() error {
				return second(settle.EnableServers(ctx, client.ServersBody{Servers: []string{"10.0.0.1"}}))
			}},
			{"remove servers", func() error {
				return second(settle.RemoveServers(ctx, client.ServersBody{Servers: []string{"10.0.0.8"}}))
			}},
			{"clear misfires", func() error { return second(settle.ClearMisfires(ctx)) }},
			{"clear failovers", func() error { return second(settle.ClearFailovers(ctx, client.ClearFailoversBody{})) }},
			{"clear servers", func() error { return second(payOut.ClearServers(ctx, client.ClearServersBody{Disabled: true})) }},
			{"clear stale", func() error { return second(settle.ClearStale(ctx)) }},
			{"put calendar", func() error {
				return second(n.PutCalendar(ctx, "more", client.CalendarBody{Document: "timeZone: UTC\ndates: [2028-01-01]\n"}, ""))
			}},
			{"remove calendar", func() error { return second(n.RemoveCalendar(ctx, "more", client.Any, client.RemoveCalendarParams{})) }},
			{"batch", func() error {
				return second(n.ChangeJobs(ctx, client.BatchBody{Action: client.BatchBodyActionTrigger, Jobs: []string{"settle", "nothing"}}, ""))
			}},
			{"disable server", func() error { return second(n.DisableServer(ctx, "10.0.0.1", client.DisableServerParams{})) }},
			{"enable server", func() error { return second(n.EnableServer(ctx, "10.0.0.1", client.EnableServerParams{})) }},
			{"shut server down", func() error {
				return second(n.DryRun().ShutdownServer(ctx, "10.0.0.1", client.ShutdownServerParams{Why: "it is old"}))
			}},
			{"remove server", func() error { return second(n.DryRun().RemoveServer(ctx, "10.0.0.1", client.RemoveServerParams{})) }},
			{"shut down", func() error {
				return second(n.DryRun().Job("settle").ShutDownInstances(ctx, client.ShutdownBody{All: true, Why: "it is old"}))
			}},
			{"remove", func() error {
				return second(late.Remove(ctx, client.Any, client.RemoveJobParams{Why: "nobody needs it"}))
			}},
			{"readmit", func() error { return second(n.Job("old").Readmit(ctx, client.Readmit{})) }},

			{"me", func() error { return second(c.GetMe(ctx)) }},
			{"my sessions", func() error { return second(anna.ListMySessions(ctx)) }},
			{"sessions", func() error { return second(c.ListSessions(ctx, client.ListSessionsParams{User: "ben"})) }},
			{"end my session", func() error { return unless(anna.EndMySession(ctx, "nothing"), 404) }},
			{"end session", func() error { return unless(c.EndSession(ctx, "nothing"), 404) }},
			{"my tokens", func() error { return second(anna.ListMyTokens(ctx)) }},
			{"users", func() error { return second(c.ListUsers(ctx)) }},
			{"add user", func() error {
				return third(c.AddUser(ctx, client.NewUser{Name: "carl", Password: password, Grants: grants}))
			}},
			{"set user", func() error {
				_, etag, err := c.GetUser(ctx, "carl")
				if err != nil {
					return err
				}
				return third(c.SetUser(ctx, "carl", client.UserRights{Grants: grants}, etag))
			}},
			{"set password", func() error { return c.SetPassword(ctx, "carl", client.SetPasswordBody{New: password + "!"}) }},
			{"user", func() error { return third(c.GetUser(ctx, "carl")) }},
			{"add token", func() error { return second(anna.AddToken(ctx, "carl", client.NewToken{Name: "x", Days: 1})) }},
			{"tokens", func() error { return second(c.ListTokens(ctx, "carl")) }},
			{"revoke token", func() error { return c.RevokeToken(ctx, "carl", "x") }},
			{"remove user", func() error { return c.RemoveUser(ctx, "carl") }},
			{"change password", func() error {
				return anna.ChangeMyPassword(ctx, client.PasswordChange{Old: password, New: password + "!"})
			}},
			{"watch a job", func() error {
				for u, err := range settle.Watch(ctx) {
					if err != nil || u.Job != nil {
						return err
					}
				}
				return errors.New("nothing has come")
			}},
			{"watch", func() error {
				for u, err := range n.Watch(ctx) {
					if err != nil || u.Reset {
						return err
					}
				}
				return errors.New("nothing has come")
			}},
			{"connections to namespaces", func() error { return second(c.ListNamespaceConnections(ctx)) }},
			{"connection to a namespace", func() error { return third(c.GetNamespaceConnection(ctx, "orders")) }},
			{"put a connection to a namespace", func() error {
				a := client.NamespaceConnectionBody{Kind: "etcd", Endpoints: []string{"127.0.0.1:1"}, Namespace: "jobs"}
				return third(c.PutNamespaceConnection(ctx, "more", a, ""))
			}},
			{"test a connection to a namespace", func() error { return second(c.TestNamespaceConnection(ctx, "more", nil)) }},
			{"remove a connection to a namespace", func() error {
				_, etag, err := c.GetNamespaceConnection(ctx, "more")
				if err != nil {
					return err
				}
				return c.RemoveNamespaceConnection(ctx, "more", etag)
			}},
			{"connections to databases", func() error { return second(c.ListDatabaseConnections(ctx)) }},
			{"put a connection to a database", func() error {
				a := client.DatabaseConnectionBody{Driver: "mysql", Address: "127.0.0.1:1", Database: "jobs", User: "console"}
				return third(c.PutDatabaseConnection(ctx, "more", a, ""))
			}},
			{"connection to a database", func() error { return third(c.GetDatabaseConnection(ctx, "more")) }},
			{"test a connection to a database", func() error {
				return second(c.TestDatabaseConnection(ctx, "more", &client.DatabaseConnectionBody{Driver: "mysql", Address: "127.0.0.1:1", Database: "jobs", User: "console"}))
			}},
			{"remove a connection to a database", func() error { return c.RemoveDatabaseConnection(ctx, "more", client.Any) }},
			{"revoke my token", func() error {
				return by(client.Options{Name: "anna", Password: password + "!"}).RevokeMyToken(ctx, "test")
			}},
		} {
			if err := do.do(); err != nil {
				t.Errorf("%s: %v", do.what, err)
			}
		}

		var all []string
		for path, item := range operations(t, w) {
			for method := range item {
				all = append(all, strings.ToUpper(method)+" "+path)
			}
		}
		if len(all) < 80 {
			t.Errorf("only %d operations: %v", len(all), all)
		}
		for _, operation := range all {
			if _, isLeftOut := without[operation]; !isLeftOut && !notes.reaches(operation, all) {
				t.Errorf("no method has sent %s", operation)
			}
		}
	})
}

// operations are those of the document, by path and method.
func operations(t *testing.T, w *world) map[string]map[string]json.RawMessage {
	t.Helper()
	var text bytes.Buffer
	must(t, w.as(t, "ben").GetOpenAPI(t.Context(), &text))
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	must(t, json.Unmarshal(text.Bytes(), &document))
	return document.Paths
}

// unless returns an error that is not an answer of a status.
func unless(err error, status int) error {
	if e, ok := errors.AsType[*client.Error](err); ok && e.Status == status {
		return nil
	}
	if err == nil {
		return errors.New("no error")
	}
	return err
}
