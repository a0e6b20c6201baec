package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/access/oidc"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/console/legacy"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// What there is in a town: names that occur nowhere else, so that they can be looked for in answers.
const (
	ours      = "prod-ns8"      // the namespace that requests are about
	theirs    = "test-ns9"      // another one
	database  = "past-db7"      // has the history of ours; theirs has one of its own
	orders    = "zq-our-job"    // the job that requests are about
	hidden    = "zq-hidden-job" // another of the same namespace
	elsewhere = "zq-other-job"  // one of the other namespace
	hiddenIP  = "203.0.113.77"  // where hidden runs
	otherIP   = "203.0.113.99"  // where elsewhere runs
	ordersIP  = "203.0.113.55"
)

// props are those of a document that a JVM has written, with secrets in clear text.
var props = map[string]string{
	"email.password": "planted-email-0c2b", "dingtalk.secret": "planted-dingtalk-77aa",
	"wechat.webhook": "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=planted-wechat-58d1",
}

// town is a console over two namespaces with jobs that run, and with a history.
type town struct {
	*Console
	control    *access.Control
	usersFile  string
	token      string // of anna
	sessions   map[*access.Principal]access.Session
	registries map[string]coord.Registry
	log        *logged
}

// session returns the session of a principal, which is his own.
func (town *town) session(p *access.Principal) access.Session {
	session, ok := town.sessions[p]
	if ok {
		return session
	}
	var err error
	if p.User != "" {
		session, err = town.control.Login(context.Background(), p.User, password, netip.Addr{})
	} else {
		session, err = town.control.LoginAs("test:"+p.Name, p.Grants, netip.Addr{})
	}
	if err != nil {
		panic(err)
	}
	town.sessions[p] = session
	return session
}

func newTown(t testing.TB, change ...func(*Options, *connection.Options)) *town {
	t.Helper()
	town := &town{registries: map[string]coord.Registry{}, sessions: map[*access.Principal]access.Session{}, log: &logged{}}
	var given []connection.Given
	var databases []connection.GivenDatabase
	for namespace, jobs := range map[string]map[string]string{ours: {orders: ordersIP, hidden: hiddenIP}, theirs: {elsewhere: otherIP}} {
		store := memory.NewStore(memory.Options{})
		t.Cleanup(store.Close)
		dial := func() coord.Registry {
			reg, err := store.Dial(t.Context(), memory.Config{Namespace: namespace})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { must(t, reg.Close(context.Background())) })
			return reg
		}
		reg := dial()
		past, of := &past{}, map[string]string{ours: database, theirs: "past-db8"}[namespace]
		databases = append(databases, connection.GivenDatabase{
			Database: connection.Database{Name: of, Driver: "postgres", Address: "127.0.0.1:1", Schema: "jobs"},
			Open:     func() (connection.History, error) { return past, nil },
		})
		town.registries[namespace] = reg
		o := ops.New(reg, ops.WithHistory(past), ops.WithTrace(past, func(_ ops.Change, err error) { t.Error(err) })).By("setup")
		for name, ip := range jobs {
			cfg := job.Config{Name: name, Cron: "0 0 0 1 1 ? 2099", ShardingTotalCount: 2, Description: "of " + name, Props: maps.Clone(props)}
			scheduler, err := job.Schedule(t.Context(), dial(), cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }), job.WithIP(ip))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = scheduler.Shutdown(context.Background()) }) // an operator may have shut it down
			past.add(name, ip)
			must(t, o.Job(name).DisableItems(t.Context(), 1))
		}
		must(t, ignore(o.PutCalendar(t.Context(), ops.PutCalendarRequest{Name: "bank", Document: []byte("timeZone: UTC\ndates: [2099-12-25]\n")})))
		given = append(given, connection.Given{Namespace: connection.Namespace{Name: namespace, Kind: "etcd", Endpoints: []string{"127.0.0.1:1"}, Database: of}, Ops: o})
	}
	book := connection.Options{
		File: filepath.Join(t.TempDir(), "connections.yaml"), Given: given,
		GivenDatabases: databases,
		Dial: func(context.Context, connection.Namespace) (coord.Registry, error) {
			return nil, errors.New("no such store")
		},
		OpenHistory: func(connection.Database) (connection.History, error) { return nil, errors.New("no such database") },
	}
	o := Options{
		Slog: slog.New(slog.NewTextHandler(town.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Version: "test",
	}
	book.Slog = o.Slog
	town.logIn(t, &o)
	for _, c := range change {
		c(&o, &book)
	}
	var err error
	if o.Connections, err = connection.Open(book); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, o.Connections.Close(context.Background())) })
	old, err := legacy.New(legacy.Options{Connections: o.Connections, Access: o.Access, Slog: o.Slog})
	must(t, err)
	o.Mount = []Routes{old}
	if town.Console, err = New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, town.Close(context.Background())) })
	return town
}

// logIn lets users log in: anna of the users file, who may do everything, and whoever a provider knows.
func (town *town) logIn(t testing.TB, o *Options) {
	t.Helper()
	town.usersFile = filepath.Join(t.TempDir(), "users.yaml")
	must(t, os.WriteFile(town.usersFile, usersFile(), 0o600))
	var err error
	if town.control, err = access.Open(access.Options{File: access.File(town.usersFile), Trail: access.TrailOf(town.usersFile)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, town.control.Close()) })
	if town.token, _, err = town.control.AddToken(t.Context(), access.Actor{Name: "setup"}, "anna", "deploy", nil, time.Hour); err != nil {
		t.Fatal(err)
	}
	if o.OIDC, err = oidc.New(oidc.Options{
		Issuer: "https://provider.example", ClientID: "console", ClientSecret: clientSecret, Sessions: town.control, Slog: o.Slog,
		RedirectURL: "https://console.example" + oidc.CallbackPath, Groups: map[string][]access.Grant{"staff": {{Role: access.Viewer}}}, Transport: nowhere{},
	}); err != nil {
		t.Fatal(err)
	}
	o.Access = town.control
}

// usersFile returns a users file with anna. Her password is hashed once: that takes long.
var usersFile = sync.OnceValue(func() []byte {
	folder, err := os.MkdirTemp("", "console")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	file := access.File(filepath.Join(folder, "users.yaml"))
	if err := file.Change(context.Background(), func(u *access.Users) error { return u.Add("anna", password, []access.Grant{{Role: access.Admin}}) }); err != nil {
		panic(err)
	}
	text, err := os.ReadFile(string(file))
	if err != nil {
		panic(err)
	}
	return text
})

const password = "planted password of anna, 7f3a"

const clientSecret = "planted-client-22d7"

// nowhere is a network without anybody.
type nowhere struct{}

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no route to host")
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func ignore[T any](_ T, err error) error { return err }

// ask sends a request, and returns its answer. A stream ends with its first bytes.
func (town *town) ask(p *access.Principal, r *http.Request) *httptest.ResponseRecorder {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	w := &recorder{httptest.NewRecorder(), cancel}
	if r = r.WithContext(ctx); p != nil {
		r.AddCookie(town.control.Cookie(r, town.session(p)))
	}
	town.ServeHTTP(w, r)
	return w.ResponseRecorder
}

// choose has a principal choose our namespace and its database, for routes without a namespace.
func (town *town) choose(t testing.TB, r route.Route, p *access.Principal) {
	t.Helper()
	if !byCaller(r) {
		return
	}
	for path, name := range map[string]string{"/api/registry-center/connect": ours, "/api/data-source/connect": database} {
		chosen := httptest.NewRequest(http.MethodPost, path, strings.NewReader(`{"name":"`+name+`"}`))
		chosen.Header.Set("Content-Type", "application/json")
		if got := town.ask(p, chosen); got.Code != http.StatusOK && got.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
}

// recorder records an answer, and goes away when something of a stream has come.
type recorder struct {
	*httptest.ResponseRecorder
	leave context.CancelFunc
}

func (w *recorder) Write(text []byte) (int, error) {
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") && strings.Contains(string(text), "data:") {
		w.leave()
	}
	return w.ResponseRecorder.Write(text)
}

func (w *recorder) SetReadDeadline(time.Time) error  { return nil }
func (w *recorder) SetWriteDeadline(time.Time) error { return nil }

// state returns all that stands in the registries, but for what processes renew.
func (town *town) state(t testing.TB) string {
	t.Helper()
	var all strings.Builder
	for _, namespace := range []string{ours, theirs} {
		for node, err := range town.registries[namespace].Walk(context.Background(), "") {
			must(t, err)
			fmt.Fprintf(&all, "%s %s %s\n", namespace, node.Path, node.Value)
		}
	}
	return all.String()
}

// logged is a log.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// past is a history in memory.
type past struct {
	mu         sync.Mutex
	executions []history.Execution
	statuses   []history.Status
	events     []trace.Event
}

func (p *past) add(name, ip string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := "exec-" + name
	p.executions = append(p.executions, history.Execution{
		ID: id, TaskID: name + "@-@0@-@READY@-@" + ip + "@-@1", Job: name, IP: ip, Instance: ip + "@-@1", Hostname: "host-" + name,
		Source: job.SourceNormal, StartTime: time.Now(), CompleteTime: time.Now(), Outcome: history.OutcomeOf(job.OutcomeFailed),
		Error: "no " + name, Output: "output of " + name,
	})
	p.statuses = append(p.statuses, history.Status{ID: id, Job: name, TaskID: id, IP: ip, Source: "LITE_EXECUTOR", ExecutionType: "READY", Items: "[0]", State: "TASK_ERROR", Message: "no " + name, CreationTime: time.Now()})
	p.events = append(p.events, trace.Event{ID: "event-" + name, Time: time.Now(), Kind: jobtype.EventFault, Job: name, Instance: ip + "@-@1", Error: "no " + name})
}

func (p *past) Write(_ context.Context, b trace.Batch) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, b.Events...)
	return nil
}

func (p *past) Ping(context.Context) error { return nil }
func (p *past) Close() error               { return nil }

// some returns those of rows that are wanted.
func some[T any](p *past, rows *[]T, wanted func(T) bool) []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(*rows), func(row T) bool { return !wanted(row) })
}

func is(filter, value string) bool { return filter == "" || filter == value }

func (p *past) Executions(_ context.Context, f history.ExecutionFilter) (history.Page[history.Execution], error) {
	return history.Page[history.Execution]{Rows: some(p, &p.executions, func(x history.Execution) bool { return is(f.Job, x.Job) })}, nil
}

func (p *past) Execution(_ context.Context, id string) (history.Execution, error) {
	for _, x := range some(p, &p.executions, func(x history.Execution) bool { return x.ID == id }) {
		return x, nil
	}
	return history.Execution{}, history.ErrNotFound
}

func (p *past) Chain(_ context.Context, x history.Execution) ([]history.Execution, error) {
	return []history.Execution{x}, nil
}

func (p *past) Latest(_ context.Context, name string, _, _ int) ([]history.Execution, error) {
	return some(p, &p.executions, func(x history.Execution) bool { return x.Job == name }), nil
}

func (p *past) Outlines(_ context.Context, q history.OutlineQuery) (history.Outlines, error) {
	var found history.Outlines
	for _, x := range some(p, &p.executions, func(x history.Execution) bool { return x.Job == q.Job }) {
		found.Rows = append(found.Rows, history.Outline{ID: x.ID, Item: x.Item, StartTime: x.StartTime, Outcome: x.Outcome})
	}
	return found, nil
}

func (p *past) Lines(_ context.Context, id string, _, _ int) ([]trace.Line, error) {
	return []trace.Line{{Text: "line of " + id}}, nil
}

func (p *past) Statuses(_ context.Context, f history.StatusFilter) (history.Page[history.Status], error) {
	return history.Page[history.Status]{Rows: some(p, &p.statuses, func(s history.Status) bool { return is(f.Job, s.Job) })}, nil
}

func (p *past) Events(_ context.Context, f history.EventFilter) (history.Page[trace.Event], error) {
	return history.Page[trace.Event]{Rows: some(p, &p.events, func(e trace.Event) bool { return is(f.Job, e.Job) })}, nil
}

func (p *past) Counts(_ context.Context, q history.CountQuery) ([]history.Count, error) {
	return []history.Count{{Start: q.From, Executions: map[history.Outcome]int64{history.OutcomeOf(job.OutcomeFailed): 1}}}, nil
}

func (p *past) Missed(_ context.Context, q history.CountQuery) ([]history.Missed, error) {
	return []history.Missed{{Start: q.From, MadeUp: 1, Skipped: map[string]int64{jobtype.SkipTooLate.String(): 1}}}, nil
}

func (p *past) Lanes(_ context.Context, from, _ time.Time) (history.Lanes, error) {
	found := history.Lanes{From: from, Step: time.Minute, Cells: map[string][]history.Cell{}}
	for _, x := range some(p, &p.executions, func(history.Execution) bool { return true }) {
		found.Cells[x.Job] = []history.Cell{{Executions: 1}}
	}
	return found, nil
}

func (p *past) Durations(context.Context, string, time.Time, time.Time) (history.Durations, error) {
	return history.Durations{}, nil
}

func (p *past) JobNames(_ context.Context, prefix string, _ int) ([]string, error) {
	var names []string
	for _, x := range some(p, &p.executions, func(x history.Execution) bool { return strings.HasPrefix(x.Job, prefix) }) {
		names = append(names, x.Job)
	}
	return names, nil
}

func (p *past) StatusJobNames(ctx context.Context, prefix string, limit int) ([]string, error) {
	return p.JobNames(ctx, prefix, limit)
}

func (p *past) Addresses(_ context.Context, prefix string, _ int) ([]string, error) {
	var names []string
	for _, x := range some(p, &p.executions, func(x history.Execution) bool { return strings.HasPrefix(x.IP, prefix) }) {
		names = append(names, x.IP)
	}
	return names, nil
}

func (p *past) SearchExecutions(_ context.Context, s history.ExecutionSearch) (history.Found[history.Execution], error) {
	rows := some(p, &p.executions, func(x history.Execution) bool { return is(s.Job, x.Job) })
	return history.Found[history.Execution]{Rows: rows, Total: int64(len(rows))}, nil
}

func (p *past) SearchStatuses(_ context.Context, s history.StatusSearch) (history.Found[history.Status], error) {
	rows := some(p, &p.statuses, func(x history.Status) bool { return is(s.Job, x.Job) })
	return history.Found[history.Status]{Rows: rows, Total: int64(len(rows))}, nil
}

var _ io.Writer = (*logged)(nil)
