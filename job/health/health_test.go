package health_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/health"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// process is a process with one job, and what may go wrong with it. Time is virtual.
type process struct {
	*testing.T
	store *memory.Store
	link  *memory.Link
	reg   *memory.Registry
	node  *job.Node
	log   *blocking
	pages http.Handler
}

// blocking is a log that does not return if a test wants that.
type blocking struct {
	zapcore.Core
	on  atomic.Bool
	end chan struct{}
}

func (b *blocking) Enabled(zapcore.Level) bool        { return true }
func (b *blocking) With([]zapcore.Field) zapcore.Core { return b }

func (b *blocking) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return ce.AddCore(e, b)
}

func (b *blocking) Write(zapcore.Entry, []zapcore.Field) error {
	if b.on.Load() {
		<-b.end
	}
	return nil
}

// inProcess runs a test with a process whose job has started.
func inProcess(t *testing.T, test func(*process)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &process{T: t, store: memory.NewStore(memory.Options{}), log: &blocking{Core: zapcore.NewNopCore(), end: make(chan struct{})}}
		defer p.store.Close()
		reg, err := p.store.Dial(t.Context(), memory.Config{Namespace: "health"})
		if err != nil {
			t.Fatal(err)
		}
		p.reg, p.link = reg, reg.Link()
		options := []job.Option{job.WithIP("10.0.0.1"), job.WithLogger(zap.New(p.log)), job.WithStartRetry()}
		if p.node, err = job.NewNode(p.reg, job.NodeConfig{Options: options}); err != nil {
			t.Fatal(err)
		}
		p.pages = health.Handler(p.node)
		if _, err := p.schedule("settle"); err != nil {
			t.Fatal(err)
		}
		go func() { _ = p.node.Run(t.Context()) }() // the test looks at the errors of jobs
		synctest.Wait()
		test(p)
		p.log.on.Store(false)
		close(p.log.end)
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = errors.Join(p.node.Shutdown(ended), reg.Close(ended)) // the test has looked at what is wrong
	})
}

func (p *process) schedule(name string) (*job.Scheduler, error) {
	handler := job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
		<-ctx.Done()
		return context.Cause(ctx)
	})
	return p.node.Schedule(p.Context(), job.Config{Name: name, Cron: "0 0 0 1 1 ?", ShardingTotalCount: 1}, handler)
}

func (p *process) commit(ops ...coord.Op) {
	p.Helper()
	if _, err := p.reg.Commit(p.Context(), ops...); err != nil {
		p.Fatal(err)
	}
}

func pass(d time.Duration) {
	time.Sleep(d) // virtual
	synctest.Wait()
}

// ask sends a request to a handler.
func ask(t *testing.T, h http.Handler, method, path string) (int, health.Report) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
	var r health.Report
	if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil {
		t.Fatalf("%s: %v in %q", path, err, w.Body)
	}
	if want := map[bool]health.Status{true: health.OK, false: health.Failing}[w.Code == http.StatusOK]; r.Status != want {
		t.Errorf("%s: status %d says %s", path, w.Code, r.Status)
	}
	return w.Code, r
}

// The table of the package comment.
func TestStates(t *testing.T) {
	const ok, failing = http.StatusOK, http.StatusServiceUnavailable
	for _, test := range []struct {
		name                string
		happens             func(*process)
		live, ready, faults int
		kind, says          string // of the fault, if there is one
	}{
		{"Run was not called", func(p *process) {
			n, err := job.NewNode(p.reg, job.NodeConfig{})
			if err != nil {
				p.Fatal(err)
			}
			p.pages = health.Handler(n)
		}, ok, failing, ok, "", ""},
		{"works", func(*process) {}, ok, ok, ok, "", ""},
		{"jobs start", func(p *process) {
			p.store.Inject(memory.Fault{Method: memory.OpenView, Path: "late", Before: coord.ErrUnavailable})
			go func() { _, _ = p.schedule("late") }() // the test ends meanwhile
		}, ok, failing, ok, "", ""},
		{"the store is away", func(p *process) { p.store.Down() }, ok, ok, failing, "store", "there is no session"},
		{"cut off", func(p *process) { p.link.BlackHole() }, ok, ok, failing, "store", "there is no session"},
		{"a configuration is wrong", func(p *process) { p.commit(coord.Set("settle/config", []byte("a: ["))) }, ok, ok, failing, "configuration", "refused"},
		{"the instance was removed", func(p *process) {
			p.commit(coord.Delete("settle/instances/" + p.node.Job("settle").Status().InstanceID))
		}, ok, ok, failing, "stopped", "instance removed by an operator"},
		{"the job was removed", func(p *process) { p.commit(coord.DeleteTree("settle")) }, ok, ok, failing, "stopped", "job removed"},
		{"its view ends", func(p *process) { p.link.EndViews(errors.New("broken")) }, failing, ok, failing, "stopped", "broken"},
		{"the registry was closed", func(p *process) {
			if err := p.reg.Close(p.Context()); err != nil {
				p.Fatal(err)
			}
		}, failing, ok, failing, "stopped", "closed"},
		{"a logger blocks", func(p *process) { p.log.on.Store(true); p.commit(coord.Set("settle/config", []byte("a: ["))) }, failing, ok, failing, "starvation", "got no further"},
		{"it shuts down", func(p *process) {
			p.commit(coord.Put("settle/instances/"+p.node.Job("settle").Status().InstanceID, []byte("TRIGGER")))
			pass(time.Second)
			go func() { _ = p.node.Shutdown(context.Background()) }() // inProcess ends it
		}, ok, failing, ok, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			inProcess(t, func(p *process) {
				test.happens(p)
				pass(2 * time.Minute)
				live, why := ask(t, p.pages, "GET", "/live")
				if live != test.live || (why.Error != "") != (live == failing) || len(why.Faults) > 0 {
					t.Errorf("live: %d, %+v", live, why)
				}
				ready, why := ask(t, p.pages, "GET", "/ready")
				if ready != test.ready || (why.Error != "") != (ready == failing) {
					t.Errorf("ready: %d, %+v", ready, why)
				}
				faults, all := ask(t, p.pages, "GET", "/faults")
				if faults != test.faults || (test.kind == "") != (len(all.Faults) == 0) {
					t.Errorf("faults: %d, %+v", faults, all)
				}
				if test.kind != "" && !slices.ContainsFunc(all.Faults, func(f health.Fault) bool {
					return f.Job == "settle" && f.Kind == test.kind && strings.Contains(f.Error, test.says) && f.Since.IsZero() == (f.Kind == "stopped")
				}) {
					t.Errorf("want %s: %s; got %+v", test.kind, test.says, all.Faults)
				}
			})
		})
	}
}

// still is a node that does not change.
type still struct {
	live, ready error
	faults      int
	err         error
}

func (s still) Live() error  { return s.live }
func (s still) Ready() error { return s.ready }

func (s still) Faults() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for i := range s.faults {
			if !yield(fmt.Sprintf("job%04d", i), s.err) {
				return
			}
		}
	}
}

// Whatever there is to tell, answers are small, and say how much they leave out.
func TestAnswersAreBounded(t *testing.T) {
	long := errors.New(strings.Repeat("ü", 1<<20))
	n := still{live: long, faults: 5000, err: job.Fault{Kind: jobtype.FaultStore, Err: long, Since: time.Now()}}
	for path, most := range map[string]int{"/live": 1000, "/faults": 100_000} {
		w := httptest.NewRecorder()
		health.Handler(n).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		if w.Body.Len() > most {
			t.Errorf("%s: %d bytes", path, w.Body.Len())
		}
	}
	if _, r := ask(t, health.Handler(n), "GET", "/faults"); len(r.Faults) != 100 || r.More != 4900 || r.Faults[0].Job != "job0000" {
		t.Errorf("%d faults and %d more", len(r.Faults), r.More)
	}
}

// Over a connection, and below another path, as in a program.
func TestOverHTTP(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/health/", http.StripPrefix("/health", health.Handler(still{ready: job.ErrNodeClosed})))
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, test := range []struct {
		method, path string
		want         int
		body         string
	}{
		{"GET", "/health/live", http.StatusOK, `{"status":"ok"}` + "\n"},
		{"GET", "/health/ready", http.StatusServiceUnavailable, `{"status":"failing","error":"job: node shut down"}` + "\n"},
		{"GET", "/health/faults", http.StatusOK, `{"status":"ok"}` + "\n"},
		{"HEAD", "/health/live", http.StatusOK, ""},
		{"HEAD", "/health/ready", http.StatusServiceUnavailable, ""},
		{"POST", "/health/live", http.StatusMethodNotAllowed, "Method Not Allowed\n"},
		{"GET", "/health/", http.StatusNotFound, "404 page not found\n"},
		{"GET", "/live", http.StatusNotFound, "404 page not found\n"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), test.method, server.URL+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err := errors.Join(err, res.Body.Close()); err != nil {
			t.Error(err)
		}
		if res.StatusCode != test.want || string(body) != test.body {
			t.Errorf("%s %s: %d %q", test.method, test.path, res.StatusCode, body)
		}
		if test.want != http.StatusNotFound && test.want != http.StatusMethodNotAllowed && (res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("Content-Type") != "application/json") {
			t.Errorf("%s %s: %v", test.method, test.path, res.Header)
		}
	}
}
