package client_test

import (
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
		for x, err := range n.Executions(ctx, client.ExecutionsQuery{Job: "settle", Items: []int{0, 1}, Outcomes: nil, Limit: 2}) {
			must(t, err)
			if execution = x.ID; x.Outcome == "FAILED" {
				break
			}
		}
		made, err := settle.Trigger(ctx, client.Trigger{Items: []int{0}})
		must(t, err)
		document := "jobName: fresh\ncron: 0 0 3 * * ?\nshardingTotalCount: 2\n"
		grants := []access.Grant{{Role: access.Operator, Jobs: []string{"pay-*"}}}
		for _, do := range []struct {
			what string
			do   func() error
		}{
			{"version", func() error { return second(c.Version(ctx)) }},
			{"openapi", func() error { return second(c.OpenAPI(ctx)) }},
			{"namespaces", func() error { return second(c.Namespaces(ctx)) }},
			{"cron", func() error {
				return second(c.Cron(ctx, client.CronQuery{Expression: "0 0 3 * * ?", Language: "zh", Count: 2}))
			}},
			{"jobs", func() error { return drain(n.Jobs(ctx, client.JobsQuery{Sort: ops.SortByEnded, Limit: 2})) }},
			{"instances", func() error { return drain(n.Instances(ctx)) }},
			{"servers", func() error { return drain(n.Servers(ctx)) }},
			{"jobs on a server", func() error { return second(n.Server("10.0.0.1").Jobs(ctx)) }},
			{"processes", func() error { return drain(n.Processes(ctx)) }},
			{"removed", func() error { return drain(n.Removed(ctx)) }},
			{"audit", func() error { return drain(n.Audit(ctx, client.AuditQuery{By: "anna", Limit: 3})) }},
			{"findings", func() error { return second(n.Findings(ctx)) }},
			{"calendars", func() error { return drain(n.Calendars(ctx)) }},
			{"calendar", func() error { return second(n.Calendar(ctx, "holidays")) }},
			{"plan of a calendar", func() error {
				return second(n.CalendarPlan(ctx, "holidays", client.Days{From: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), Days: 7}))
			}},
			{"plan of another calendar", func() error { return second(n.PlanCalendar(ctx, "timeZone: UTC\nweekly: [SUN]\n", client.Days{})) }},
			{"describe", func() error { return second(settle.Describe(ctx)) }},
			{"info", func() error { return second(settle.Info(ctx)) }},
			{"items", func() error { return drain(settle.Items(ctx)) }},
			{"job's instances", func() error { return drain(settle.Instances(ctx)) }},
			{"job's servers", func() error { return drain(settle.Servers(ctx)) }},
			{"requests", func() error { return drain(settle.Requests(ctx)) }},
			{"request", func() error { return second(settle.Request(ctx, made.ID)) }},
			{"await", func() error { return second(settle.Await(ctx, made.ID)) }},
			{"dump", func() error { return second(settle.Dump(ctx, true)) }},
			{"settings", func() error { return second(settle.Settings(ctx)) }},
			{"settings that cannot be read", func() error { return second(n.Job("broken").Settings(ctx)) }},
			{"ticks", func() error { _, _, err := settle.Ticks(ctx, 3); return err }},
			{"plan", func() error { return second(n.Job("fresh").Plan(ctx, client.PlanQuery{Document: document})) }},
			{"execution", func() error { return second(n.Execution(ctx, execution)) }},
			{"lines", func() error { return second(n.Lines(ctx, execution, 0, 10)) }},
			{"chain", func() error { return second(n.Chain(ctx, execution)) }},
			{"latest", func() error { return second(settle.Latest(ctx, 0, 10)) }},
			{"statuses", func() error { return drain(n.Statuses(ctx, client.StatusesQuery{Job: "settle", Limit: 500})) }},
			{"events", func() error { return drain(n.Events(ctx, client.EventsQuery{Job: "settle"})) }},
			{"executions as a file", func() error { return n.WriteExecutions(ctx, io.Discard, client.ExecutionsQuery{Job: "settle"}) }},
			{"columns", func() error {
				return second(n.Columns(ctx, client.ColumnsQuery{Job: "settle", From: time.Now().Add(-time.Hour), To: time.Now()}))
			}},
			{"counts", func() error { return second(n.Counts(ctx, client.CountsQuery{Job: "settle", Step: "day"})) }},
			{"missed", func() error { return second(n.Missed(ctx, client.CountsQuery{Job: "settle"})) }},
			{"durations", func() error { return second(n.Durations(ctx, "settle", time.Time{}, time.Time{})) }},
			{"history's jobs", func() error { return second(n.HistoryJobs(ctx, "s", 10)) }},
			{"history's addresses", func() error { return second(n.HistoryAddresses(ctx, "", 10)) }},

			{"create", func() error { return second(n.Job("fresh").Create(ctx, client.Configuration{Document: document})) }},
			{"update", func() error {
				return second(n.Job("fresh").Update(ctx, client.Configuration{Config: json.RawMessage(`{"cron":"0 0 4 * * ?","shardingTotalCount":1}`)}, client.Any))
			}},
			{"patch", func() error {
				s, err := late.Settings(ctx)
				if err != nil {
					return err
				}
				return second(late.Patch(ctx, json.RawMessage(`{"description":"comes late"}`), s.ETag))
			}},
			{"implement", func() error { return second(late.Implement(ctx, "com.example.Late", "com.example.Later", "")) }},
			{"retry", func() error { return second(settle.Retry(ctx, client.Retry{})) }},
			{"backfill", func() error {
				from := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
				return second(settle.Backfill(ctx, client.Backfill{From: from, To: from.Add(time.Minute), Items: []int{0}}))
			}},
			{"cancel", func() error { return second(settle.Cancel(ctx, made.ID)) }},
			{"kill", func() error { return second(settle.Kill(ctx, client.Kill{Items: []int{2}})) }},
			{"pause", func() error { return second(settle.Pause(ctx, client.Pause{Why: "it is late"})) }},
			{"resume", func() error { return second(settle.Resume(ctx)) }},
			{"reshard", func() error { return second(settle.Reshard(ctx)) }},
			{"disable items", func() error { return second(settle.DisableItems(ctx, 0, 1)) }},
			{"enable items", func() error { return second(settle.EnableItems(ctx, 0, 1)) }},
			{"disable item", func() error { return second(settle.DisableItems(ctx, 0)) }},
			{"enable item", func() error { return second(settle.EnableItems(ctx, 0)) }},
			{"pin", func() error { return second(settle.Pin(ctx, 0, client.Pin{Address: "10.0.0.1"})) }},
			{"unpin", func() error { return second(settle.Unpin(ctx, 0)) }},
			{"disable servers", func() error { return second(settle.DisableServers(ctx)) }},
			{"disable servers ahead", func() error { return second(settle.DisableServersAhead(ctx, "10.0.0.8")) }},
			{"enable servers", func() error { return second(settle.EnableServers(ctx, "10.0.0.1")) }},
			{"remove servers", func() error { return second(settle.RemoveServers(ctx, "10.0.0.8")) }},
			{"clear misfires", func() error { return second(settle.ClearMisfires(ctx)) }},
			{"clear failovers", func() error { _, _, err := settle.ClearFailovers(ctx); return err }},
			{"clear servers", func() error { _, _, err := payOut.ClearServers(ctx, true); return err }},
			{"clear stale", func() error { _, _, err := settle.ClearStale(ctx); return err }},
			{"put calendar", func() error {
				return second(n.PutCalendar(ctx, "more", "timeZone: UTC\ndates: [2028-01-01]\n", ""))
			}},
			{"remove calendar", func() error { return second(n.RemoveCalendar(ctx, "more", client.Any, false)) }},
			{"batch", func() error {
				return second(n.Batch(ctx, client.Batch{Action: client.BatchTrigger, Jobs: []string{"settle", "nothing"}}))
			}},
			{"disable server", func() error { return second(n.Server("10.0.0.1").Disable(ctx)) }},
			{"enable server", func() error { return second(n.Server("10.0.0.1").Enable(ctx)) }},
			{"shut server down", func() error { return second(n.DryRun().Server("10.0.0.1").Shutdown(ctx, "it is old")) }},
			{"remove server", func() error { return second(n.DryRun().Server("10.0.0.1").Remove(ctx)) }},
			{"shut down", func() error {
				return second(n.DryRun().Job("settle").Shutdown(ctx, client.Shutdown{All: true, Why: "it is old"}))
			}},
			{"remove", func() error { return second(late.Remove(ctx, "nobody needs it", client.Any)) }},
			{"readmit", func() error { return second(n.Job("old").Readmit(ctx)) }},

			{"me", func() error { return second(c.Me(ctx)) }},
			{"my sessions", func() error { return second(anna.MySessions(ctx)) }},
			{"sessions", func() error { return second(c.Sessions(ctx, "ben")) }},
			{"end my session", func() error { return unless(anna.EndMySession(ctx, "nothing"), 404) }},
			{"end session", func() error { return unless(c.EndSession(ctx, "nothing"), 404) }},
			{"my tokens", func() error { return second(anna.MyTokens(ctx)) }},
			{"users", func() error { return second(c.Users(ctx)) }},
			{"add user", func() error {
				return second(c.AddUser(ctx, client.NewUser{Name: "carl", Password: password, Grants: grants}))
			}},
			{"set user", func() error {
				u, err := c.User(ctx, "carl")
				if err != nil {
					return err
				}
				return second(c.SetUser(ctx, "carl", grants, false, u.ETag))
			}},
			{"set password", func() error { return c.SetPassword(ctx, "carl", password+"!") }},
			{"user", func() error { return second(c.User(ctx, "carl")) }},
			{"add token", func() error { return second(anna.AddToken(ctx, "carl", client.NewToken{Name: "x", Days: 1})) }},
			{"tokens", func() error { return second(c.Tokens(ctx, "carl")) }},
			{"revoke token", func() error { return c.RevokeToken(ctx, "carl", "x") }},
			{"remove user", func() error { return c.RemoveUser(ctx, "carl") }},
			{"change password", func() error { return anna.ChangePassword(ctx, password, password+"!") }},
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
			{"connections to namespaces", func() error { return second(c.NamespaceConnections(ctx)) }},
			{"connection to a namespace", func() error { return second(c.NamespaceConnection(ctx, "orders")) }},
			{"put a connection to a namespace", func() error {
				a := client.NamespaceAccess{Kind: "etcd", Endpoints: []string{"127.0.0.1:1"}, Path: "jobs"}
				return second(c.PutNamespaceConnection(ctx, "more", a, ""))
			}},
			{"test a connection to a namespace", func() error { return second(c.TestNamespaceConnection(ctx, "more", nil)) }},
			{"remove a connection to a namespace", func() error {
				there, err := c.NamespaceConnection(ctx, "more")
				if err != nil {
					return err
				}
				return c.RemoveNamespaceConnection(ctx, "more", there.ETag)
			}},
			{"connections to databases", func() error { return second(c.DatabaseConnections(ctx)) }},
			{"put a connection to a database", func() error {
				a := client.DatabaseAccess{Driver: "mysql", Address: "127.0.0.1:1", Schema: "jobs", User: "console"}
				return second(c.PutDatabaseConnection(ctx, "more", a, ""))
			}},
			{"connection to a database", func() error { return second(c.DatabaseConnection(ctx, "more")) }},
			{"test a connection to a database", func() error {
				return second(c.TestDatabaseConnection(ctx, "more", &client.DatabaseAccess{Driver: "mysql", Address: "127.0.0.1:1", Schema: "jobs", User: "console"}))
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
	text, err := w.as(t, "ben").OpenAPI(t.Context())
	must(t, err)
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	must(t, json.Unmarshal(text, &document))
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
