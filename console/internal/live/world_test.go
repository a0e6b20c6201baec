package live_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/live"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/ops"
)

// world is a console with one namespace, shop, in which nothing but the streams is served.
type world struct {
	t      testing.TB
	store  *memory.Store
	reg    *memory.Registry
	live   *live.Live
	client *http.Client

	mu   sync.Mutex
	who  map[string]*access.Principal
	opse func(context.Context) error // what Ops does before it answers
	next chan struct{}               // closed when rights have changed
}

// given runs a test in virtual time, also of the network.
func given(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(t, live.Options{})) })
}

func newWorld(t *testing.T, o live.Options) *world {
	t.Helper()
	w := &world{t: t, store: memory.NewStore(memory.Options{}), who: map[string]*access.Principal{}, next: make(chan struct{})}
	t.Cleanup(w.store.Close)
	w.reg = w.dial()
	w.serve(t, o, ops.New(w.reg))
	w.may("anna", access.Grant{Role: access.Viewer})
	return w
}

func (w *world) dial() *memory.Registry {
	w.t.Helper()
	reg, err := w.store.Dial(w.t.Context(), memory.Config{Namespace: "shop"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := reg.Close(ctx); err != nil {
			w.t.Errorf("close: %v", err)
		}
	})
	return reg
}

// serve starts the server, and a client of it, over pipes.
func (w *world) serve(t *testing.T, o live.Options, shop *ops.Ops) {
	t.Helper()
	o.Ops = func(ctx context.Context, name string) (*ops.Ops, error) {
		if name != "shop" {
			return nil, connection.ErrNoNamespace
		}
		w.mu.Lock()
		wait := w.opse
		w.mu.Unlock()
		if wait != nil {
			if err := wait(ctx); err != nil {
				return nil, err
			}
		}
		return shop, nil
	}
	o.Who = func(r *http.Request) (*access.Principal, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.who[r.Header.Get("User")], nil
	}
	o.Fail, o.Changed = fail, w.changed
	var err error
	if w.live, err = live.New(o); err != nil {
		t.Fatal(err)
	}
	table := &route.Table{Who: o.Who, Fail: fail}
	if err := w.live.Add(frame{table}); err != nil {
		t.Fatal(err)
	}
	pipes := &pipes{made: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: table}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(pipes); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	transport := &http.Transport{DialContext: pipes.dial}
	w.client = &http.Client{Transport: transport}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := w.live.Close(ctx); err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		<-served
	})
}

// frame adds operations without a document.
type frame struct{ *route.Table }

func (f frame) Handle(need route.Need, op huma.Operation, stream bool, h http.Handler) error {
	return f.Add(route.Route{Method: op.Method, Pattern: op.Path, Need: need, Stream: stream, Handler: h})
}

// fail answers with the error's text, as console.go does.
func fail(w http.ResponseWriter, _ *http.Request, err error) {
	status := route.Status(err)
	if errors.Is(err, ops.ErrNoJob) || errors.Is(err, connection.ErrNoNamespace) {
		status = http.StatusNotFound
	}
	http.Error(w, err.Error(), cmp.Or(status, http.StatusInternalServerError))
}

// pipes is a network inside of the process.
type pipes struct {
	made   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.made <- there:
		return here, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func (w *world) changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.next
}

// recheck says that rights have changed.
func (w *world) recheck() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.next)
	w.next = make(chan struct{})
}

// may says who somebody is from now on; nobody, without grants.
func (w *world) may(name string, grants ...access.Grant) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if delete(w.who, name); len(grants) > 0 {
		w.who[name] = &access.Principal{Name: name, Grants: grants}
	}
}

// isNow makes the one who was known by a name somebody else, who may do all.
func (w *world) isNow(was, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.who[was] = &access.Principal{Name: name, Grants: []access.Grant{{Role: access.Admin}}}
}

// put writes jobs; those of a name that begins with - are removed.
func (w *world) put(jobs ...string) {
	w.t.Helper()
	for _, j := range jobs {
		name, description, _ := strings.Cut(j, "=")
		op := coord.Put(name+"/config", fmt.Appendf(nil, "cron: 0 0 3 * * ?\njobName: %s\nshardingTotalCount: 2\ndescription: %s\n", name, description))
		if gone, ok := strings.CutPrefix(name, "-"); ok {
			op = coord.DeleteTree(gone)
		}
		if _, err := w.reg.Commit(context.Background(), op); err != nil {
			w.t.Fatal(err)
		}
	}
}

const jobs = "/api/v1/namespaces/shop/watch"

func detail(job string) string { return "/api/v1/namespaces/shop/jobs/" + job + "/watch" }

// get asks for a stream.
func (w *world) get(ctx context.Context, user, path, lastID string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://console"+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("User", user)
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	answer, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer
}

// event is what a listener is told.
type event struct{ name, id, data string }

// listener is one stream, and what has been told by it, and by those that it goes on from.
type listener struct {
	t      testing.TB
	cancel context.CancelFunc
	lines  *bufio.Reader
	body   io.Closer
	known  map[string]ops.JobInfo
	lastID string
	beats  int
}

// listen opens a stream; lastID is empty at first.
func (w *world) listen(user, path, lastID string) *listener {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	answer := w.get(ctx, user, path, lastID)
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		w.t.Fatalf("%s: %s, %v", path, answer.Status, answer.Header)
	}
	l := &listener{t: w.t, cancel: cancel, lines: bufio.NewReader(answer.Body), body: answer.Body, known: map[string]ops.JobInfo{}, lastID: lastID}
	w.t.Cleanup(l.close)
	return l
}

func (l *listener) close() {
	l.cancel()
	_ = l.body.Close() // it ends by that, whatever is said
}

// next returns the next event; an empty one at the end.
func (l *listener) next() (e event) {
	for {
		line, err := l.lines.ReadString('\n')
		if err != nil {
			return event{}
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch field {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			e.data = value
		case "":
			if e.name == "beat" {
				l.beats++
				e = event{}
			}
			if e.data != "" {
				l.take(e)
				return e
			}
		}
	}
}

// told is the data of all events.
type told struct {
	Jobs    []ops.JobInfo
	Removed []string
	More    bool
	Fault   string
	Since   time.Time
	Code    string
}

func (e event) told(t testing.TB) (d told) {
	t.Helper()
	if err := json.Unmarshal([]byte(e.data), &d); e.data != "" && err != nil {
		t.Errorf("%v: %v", e, err)
	}
	return d
}

// take does what a listener has to do with an event.
func (l *listener) take(e event) {
	d := e.told(l.t)
	if e.id != "" {
		l.lastID = e.id
	}
	if e.name == "reset" {
		clear(l.known)
	}
	if e.name == "reset" || e.name == "update" {
		for _, i := range d.Jobs {
			l.known[i.Name] = i
		}
		for _, name := range d.Removed {
			delete(l.known, name)
		}
	}
}

// brief writes an event in one line: reset a=1 b=2 -c …
func (l *listener) brief() string {
	l.t.Helper()
	e := l.next()
	d := e.told(l.t)
	b := []string{e.name}
	for _, i := range d.Jobs {
		b = append(b, i.Name+"="+i.Description)
	}
	for _, name := range d.Removed {
		b = append(b, "-"+name)
	}
	if d.More {
		b = append(b, "…")
	}
	if d.Fault != "" {
		b = append(b, d.Fault)
	}
	if d.Code != "" {
		b = append(b, d.Code)
	}
	return strings.Join(b, " ")
}

// wants fails the test if the next event is another one.
func (l *listener) wants(want string) {
	l.t.Helper()
	if got := l.brief(); got != want {
		l.t.Errorf("told %q, want %q", got, want)
	}
}

// until reads until all jobs are as they are to be, and returns how many events that took.
func (l *listener) until(want string) (events int) {
	l.t.Helper()
	for l.descriptions() != want {
		if e := l.next(); e.name == "" {
			l.t.Fatalf("the stream ends with %q, want %q", l.descriptions(), want)
		}
		events++
	}
	return events
}

// descriptions is what a listener knows, in short.
func (l *listener) descriptions() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(l.known)) {
		list = append(list, name+"="+l.known[name].Description)
	}
	return strings.Join(list, " ")
}

// pass lets time pass in the bubble. It panics outside of one, where a test must not sleep.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
