package jobfile_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// page is a log that several goroutines write.
type page struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *page) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(text)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// fleet is a store in a bubble, with a program whose handler counts.
type fleet struct {
	t     *testing.T
	store *memory.Store
	reg   *memory.Registry
	log   page

	mu   sync.Mutex
	runs map[string][]string // parameters of item 0, by job
}

// pass lets time pass in the bubble. It panics outside of one, where a test must not sleep.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func inBubble(t *testing.T, test func(*testing.T, *fleet)) {
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{t: t, store: memory.NewStore(memory.Options{}), runs: map[string][]string{}}
		defer f.store.Close()
		f.reg = f.dial()
		test(t, f)
	})
}

func (f *fleet) dial() *memory.Registry {
	reg, err := f.store.Dial(f.t.Context(), memory.Config{Namespace: "test"})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = reg.Close(context.Background()) }) // the bubble is over
	return reg
}

func (f *fleet) options(reg coord.Registry) jobfile.Options {
	o := options(nil)
	o.Registry, o.Slog = reg, slog.New(slog.NewTextHandler(&f.log, nil))
	o.Handlers["settle"] = job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if sc.Item == 0 {
			f.runs[sc.JobName] = append(f.runs[sc.JobName], sc.JobParameter)
		}
		return nil
	})
	return o
}

// ran returns the parameters of the runs of a job since the last call.
func (f *fleet) ran(name string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	runs := f.runs[name]
	f.runs[name] = nil
	return runs
}

func (f *fleet) load(paths ...string) *jobfile.App {
	f.t.Helper()
	return f.loadWith(f.options(f.reg), paths...)
}

func (f *fleet) loadWith(o jobfile.Options, paths ...string) *jobfile.App {
	f.t.Helper()
	app, err := jobfile.Load(f.t.Context(), o, paths...)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = app.Shutdown(context.Background()) }) // it was shut down before, or the test has failed
	return app
}

// registry returns the configuration that the registry has.
func (f *fleet) registry(name string) job.Config {
	f.t.Helper()
	n, err := f.reg.Get(f.t.Context(), name+"/config")
	if err != nil {
		f.t.Fatal(err)
	}
	c, err := jobtype.DecodeConfig(n.Value)
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

func rewrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func reload(t *testing.T, app *jobfile.App) jobfile.Result {
	t.Helper()
	r, err := app.Reload(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// every is a file of jobs that run every second, each with a parameter and a revision.
func every(jobs ...string) string {
	text := "defaults: {implementation: settle, cron: '* * * * * ?', shardingTotalCount: 1}\njobs:\n"
	for _, j := range jobs {
		text += "  " + j + "\n"
	}
	return text
}

// What a file says runs, until the context ends.
func TestRun(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		ctx, cancel := context.WithCancel(t.Context())
		o := f.options(nil)
		o.Registry = nil
		app := f.loadWith(o, write(t, memoryFile+every("a: {jobParameter: x}", "b: {cron: null}"))...)
		done := make(chan error)
		go func() { done <- app.Run(ctx) }()
		pass(3500 * time.Millisecond)
		if r, err := app.Node().Job("b").Trigger(t.Context(), job.TriggerRequest{}); err != nil {
			t.Error(r, err)
		}
		synctest.Wait()
		pass(100 * time.Millisecond)
		if got := f.ran("a"); len(got) < 3 || got[0] != "x" {
			t.Errorf("a has run with %q", got)
		}
		if got := f.ran("b"); len(got) != 1 {
			t.Errorf("b has run with %q", got)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := app.Run(ctx); err != nil {
			t.Error("again:", err)
		}
		if _, err := app.Reload(t.Context()); !errors.Is(err, jobfile.ErrClosed) {
			t.Errorf("Reload afterwards: %v", err)
		}
	})
}

// Jobs come, go and change with the file; the others are not touched.
func TestReload(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		path := write(t, every("a: {jobParameter: one, revision: 1}", "b: {}", "c: {jobParameter: one}", "d: {jobParameter: one, overwrite: true}"))[0]
		app := f.load(path)
		first := map[string]*job.Scheduler{}
		for _, s := range app.Node().Jobs() {
			first[s.Name()] = s
		}
		if r := reload(t, app); r.String() != "nothing has changed" {
			t.Error("the same file:", r)
		}

		// A new job, one that has gone, and changes: with a larger revision, without one, and with
		// overwrite.
		rewrite(t, path, every("a: {jobParameter: two, revision: 2}", "c: {jobParameter: two}", "d: {jobParameter: two, overwrite: true}", "e: {}"))
		r := reload(t, app)
		if len(r.Refused) != 1 || r.Refused[0].Job != "c" || !errors.Is(r.Refused[0], jobfile.ErrNotNewer) {
			t.Errorf("refused: %v", r.Refused)
		}
		r.Refused = nil
		if diff := cmp.Diff(jobfile.Result{Started: []string{"e"}, Changed: []string{"a", "d"}, Stopped: []string{"b"}}, r); diff != "" {
			t.Error(diff)
		}
		if faults := app.Faults(); len(faults) != 1 || faults[0].Job != "c" || !strings.Contains(faults[0].Error(), path+":4:6: the change is not in force: ") ||
			!strings.Contains(faults[0].Error(), "raise revision above 0") {
			t.Errorf("faults: %v", faults)
		}
		pass(1500 * time.Millisecond)
		if f.registry("a").JobParameter != "two" || f.registry("c").JobParameter != "one" || f.registry("b").Name != "b" {
			t.Error("the registry has other configurations")
		}
		for _, name := range []string{"a", "c", "d"} {
			if app.Node().Job(name) != first[name] {
				t.Errorf("%s was started again", name)
			}
			if differs := first[name].Status().Differs; differs != (name == "c") {
				t.Errorf("%s differs from the registry's: %v", name, differs)
			}
		}
		if app.Node().Job("b") != nil || app.Node().Job("e") == nil {
			t.Error("b is still there, or e is not")
		}
		f.ran("a")
		f.ran("b")
		f.ran("c")
		pass(1500 * time.Millisecond)
		if a, b, c := f.ran("a"), f.ran("b"), f.ran("c"); a[0] != "two" || len(b) > 0 || c[0] != "one" {
			t.Errorf("runs of a, b and c: %q, %q and %q", a, b, c)
		}

		// With a revision the change comes, and b comes back.
		rewrite(t, path, every("a: {jobParameter: two, revision: 2}", "b: {}", "c: {jobParameter: two, revision: 1}", "d: {jobParameter: two, overwrite: true}", "e: {}"))
		if diff := cmp.Diff(jobfile.Result{Started: []string{"b"}, Changed: []string{"c"}}, reload(t, app)); diff != "" || len(app.Faults()) > 0 {
			t.Error(diff, app.Faults())
		}
		pass(time.Second)
		if first["c"].Status().Differs {
			t.Error("c differs from the registry's")
		}

		// What the file has had before is in force, so there is nothing to do.
		rewrite(t, path, every("a: {jobParameter: three, revision: 2}", "b: {}", "c: {jobParameter: two, revision: 1}", "d: {jobParameter: two, overwrite: true}", "e: {}"))
		if r := reload(t, app); len(r.Refused) != 1 {
			t.Error(r)
		}
		rewrite(t, path, every("a: {jobParameter: two, revision: 2}", "b: {}", "c: {jobParameter: two, revision: 1}", "d: {jobParameter: two, overwrite: true}", "e: {}"))
		if r := reload(t, app); r.String() != "nothing has changed" || len(app.Faults()) > 0 {
			t.Error(r, app.Faults())
		}
	})
}

// A wrong file changes nothing, and says why; so does a section that only a start reads.
func TestReloadRefuses(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		good := every("a: {jobParameter: one, revision: 1}")
		path := write(t, good)[0]
		app := f.load(path)
		for name, text := range map[string]string{
			"a slip":        strings.Replace(good, "jobParameter", "jobParametr", 1),
			"no YAML":       "{",
			"empty":         "",
			"no jobs":       "jobs: {}",
			"unknown cron":  every("a: {cron: x, revision: 2}"),
			"unknown type":  every("a: {implementation: null, type: X, revision: 2}"),
			"secret as key": every("a: {jobParameter: '${env:NONE}', revision: 2}"),
		} {
			rewrite(t, path, text)
			if r, err := app.Reload(t.Context()); !errors.Is(err, jobfile.ErrInvalid) {
				t.Errorf("%s: %v, %v", name, r, err)
			}
			if faults := app.Faults(); len(faults) != 1 || faults[0].Job != "" || !errors.Is(faults[0], jobfile.ErrInvalid) {
				t.Errorf("%s: faults %v", name, faults)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := app.Reload(t.Context()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("no file: %v", err)
		}
		if s := app.Node().Job("a"); s == nil || s.Err() != nil {
			t.Error("a does not run any more")
		}

		rewrite(t, path, good+"node: {threads: 3}\ntracing: {}\n")
		if r := reload(t, app); !cmp.Equal(r.Restart, []string{"node", "tracing"}) {
			t.Errorf("result %v", r)
		}
		if faults := app.Faults(); len(faults) != 1 || faults[0].Error() != "node, tracing: changed since the start, which needs a restart" {
			t.Errorf("faults %v", faults)
		}
		rewrite(t, path, good)
		if reload(t, app); len(app.Faults()) != 0 {
			t.Errorf("faults %v", app.Faults())
		}
	})
}

// A change that a type would refuse does not come into the registry.
func TestReloadTriesTypesFirst(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		text := "jobs:\n  a:\n    type: HTTP\n    cron: 0 0 3 * * ?\n    shardingTotalCount: 1\n    revision: %d\n    props: {%s}\n"
		path := write(t, fmt.Sprintf(text, 1, "http.method: GET, http.uri: 'http://localhost/'"))[0]
		app := f.load(path)
		if len(app.Faults()) > 0 {
			t.Fatal(app.Faults())
		}
		for _, props := range []string{"http.method: GET, http.ur: x", "http.method: GET, http.uri: 'http://localhost/', slack.webhook: '${env:NONE}'}\n    jobErrorHandlerType: SLACK\n    retry: {attempts: 1"} {
			rewrite(t, path, fmt.Sprintf(text, 2, props))
			r := reload(t, app)
			if len(r.Refused) != 1 || !strings.Contains(r.Refused[0].Error(), path+":7:") {
				t.Errorf("%s: %v", props, r)
			}
			if f.registry("a").Revision != 1 || app.Node().Health() != nil {
				t.Errorf("%s: the registry has it: %v", props, app.Node().Health())
			}
		}
	})
}

// A job that does not start is a fault of its own, and is tried again.
func TestAJobThatDoesNotStart(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		// Somebody else has put a configuration there that is wrong.
		if _, err := f.reg.Commit(t.Context(), coord.Put("b/config", []byte("jobName: b\ncron: x\n"))); err != nil {
			t.Fatal(err)
		}
		path := write(t, every("a: {}", "b: {}", "c: {jobShardingStrategyType: NONE}"))[0]
		app := f.load(path)
		faults := app.Faults()
		if len(faults) != 2 || faults[0].Job != "b" || faults[1].Job != "c" || !errors.Is(faults[0], job.ErrInvalidConfig) {
			t.Fatalf("faults %v", faults)
		}
		pass(10 * time.Minute)
		if len(f.ran("a")) < 599 {
			t.Error("a does not run")
		}
		if again := app.Faults(); !cmp.Equal(faults, again, cmp.Comparer(func(a, b jobfile.Fault) bool { return a.Job == b.Job && a.Since.Equal(b.Since) })) {
			t.Errorf("faults %v", again)
		}
		if n := strings.Count(f.log.String(), "not as the configuration files say"); n != 2 {
			t.Errorf("%d lines in the log", n)
		}
		config, err := job.Config{Name: "b", Cron: "* * * * * ?", ShardingTotalCount: 1}.Encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.reg.Commit(t.Context(), coord.Put("b/config", config)); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute + time.Second)
		if len(app.Faults()) != 1 || app.Node().Job("b") == nil {
			t.Errorf("b was not tried again: %v", app.Faults())
		}
		rewrite(t, path, every("a: {}", "b: {}", "c: {}"))
		if r := reload(t, app); !cmp.Equal(r.Started, []string{"c"}) || len(app.Faults()) > 0 {
			t.Errorf("result %v, faults %v", r, app.Faults())
		}
	})
}

// When an operator ends a job here, or removes it, that stays so, and is a fault.
func TestOperatorsEndJobs(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		path := write(t, every("a: {}", "b: {}", "c: {}"))[0]
		app := f.load(path)
		id := app.Node().Job("a").Status().InstanceID
		if _, err := f.reg.Commit(t.Context(), coord.Delete("a/instances/"+id)); err != nil {
			t.Fatal(err)
		}
		if _, err := f.reg.Commit(t.Context(), coord.DeleteTree("b")); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Minute)
		faults := app.Faults()
		if len(faults) != 2 || !errors.Is(faults[0], job.ErrInstanceRemoved) || !errors.Is(faults[1], job.ErrJobRemoved) {
			t.Fatalf("faults %v", faults)
		}
		rewrite(t, path, every("a: {description: again}", "b: {revision: 1}", "c: {}"))
		if r := reload(t, app); !cmp.Equal(r.Started, []string{"a", "b"}) || len(app.Faults()) > 0 {
			t.Errorf("result %v, faults %v", r, app.Faults())
		}
	})
}

// A store that was put back to a state without a job, or replaced, is no operator's wish: the job is set up again.
func TestForgottenJob(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		empty := f.store.Save()
		app := f.load(write(t, every("a: {jobParameter: x}"))...)
		f.store.Restore(empty)
		pass(time.Minute)
		f.ran("a")
		pass(3 * time.Second)
		if live, got := app.Node().Live(), f.ran("a"); live != nil || len(app.Faults()) > 0 || len(got) < 3 || f.registry("a").JobParameter != "x" {
			t.Errorf("live: %v, faults: %v, runs: %q", live, app.Faults(), got)
		}
	})
}

// A job whose work is another one now ends, and starts with the other, which the registry has to
// know.
func TestAnotherImplementation(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		o := f.options(f.reg)
		o.Handlers["other"] = o.Handlers["settle"]
		path := write(t, every("a: {}"))[0]
		app := f.loadWith(o, path)
		rewrite(t, path, every("a: {implementation: other}"))
		if r := reload(t, app); len(r.Refused) != 1 || !errors.Is(r.Refused[0], job.ErrImplementationConflict) {
			t.Errorf("result %v", r)
		}
		if _, err := f.reg.Commit(t.Context(), coord.DeleteTree("a")); err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Minute)
		if len(app.Faults()) > 0 || app.Node().Job("a") == nil {
			t.Errorf("faults %v", app.Faults())
		}
	})
}

// Processes with the same files reload at the same time: one writes, the others find it there.
func TestTwoProcessesReload(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		path := write(t, every("a: {jobParameter: one, revision: 1}"))[0]
		apps := []*jobfile.App{f.load(path), f.loadWith(f.options(f.dial()), path)}
		rewrite(t, path, every("a: {jobParameter: two, revision: 2}"))
		var wg sync.WaitGroup
		for _, app := range apps {
			wg.Go(func() { reload(t, app) })
		}
		wg.Wait()
		pass(10 * time.Second) // one may have met the other
		for i, app := range apps {
			if len(app.Faults()) > 0 {
				t.Errorf("%d: %v", i, app.Faults())
			}
		}
		if f.registry("a").JobParameter != "two" {
			t.Error("the registry has the old one")
		}
	})
}

// While the store is away a change waits.
func TestReloadWhileTheStoreIsAway(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		path := write(t, every("a: {jobParameter: one, revision: 1}"))[0]
		app := f.load(path)
		f.store.Down()
		rewrite(t, path, every("a: {jobParameter: two, revision: 2}"))
		if r := reload(t, app); len(r.Refused) != 1 || !errors.Is(r.Refused[0], coord.ErrUnavailable) {
			t.Errorf("result %v", r)
		}
		pass(5 * time.Second)
		f.store.Up()
		pass(time.Minute)
		if f.registry("a").JobParameter != "two" || len(app.Faults()) > 0 {
			t.Errorf("faults %v", app.Faults())
		}
	})
}

// Run notices that a file has changed, also behind a link, when it stays as it is.
func TestRunLooks(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		paths := write(t, every("a: {}"), every("a: {}", "b: {}"))
		link := paths[0] + ".link"
		if err := os.Symlink(paths[0], link); err != nil {
			t.Fatal(err)
		}
		app := f.load(link)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- app.Run(ctx) }()

		has := func(want ...string) {
			t.Helper()
			var names []string
			for _, s := range app.Node().Jobs() {
				names = append(names, s.Name())
			}
			if !cmp.Equal(names, want) {
				t.Errorf("jobs %q, want %q; faults %v", names, want, app.Faults())
			}
		}
		if err := errors.Join(os.Symlink(paths[1], link+"2"), os.Rename(link+"2", link)); err != nil {
			t.Fatal(err)
		}
		pass(3 * time.Second)
		has("a")
		pass(2 * time.Second)
		has("a", "b")

		// It is away, wrong, and back. Each is said once.
		if err := os.Rename(paths[1], paths[1]+".away"); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		if faults := app.Faults(); len(faults) != 1 || !errors.Is(faults[0], os.ErrNotExist) {
			t.Errorf("faults %v", faults)
		}
		rewrite(t, paths[1], "{")
		pass(time.Minute)
		if faults := app.Faults(); len(faults) != 1 || !errors.Is(faults[0], jobfile.ErrInvalid) {
			t.Errorf("faults %v", faults)
		}
		has("a", "b")
		rewrite(t, paths[1], every("c: {}"))
		pass(time.Minute)
		has("c")
		if len(app.Faults()) > 0 || strings.Count(f.log.String(), "level=ERROR") != 2 {
			t.Errorf("faults %v, log:\n%s", app.Faults(), f.log.String())
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// With a drain of 0s nobody waits for handlers.
func TestNoDrain(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		o := f.options(f.reg)
		o.Handlers["settle"] = job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
			<-ctx.Done()
			return ctx.Err()
		})
		app := f.loadWith(o, write(t, "node: {drain: 0s}\n"+every("a: {}"))...)
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		if err := app.Run(ctx); err != nil {
			t.Error(err)
		}
		if late := time.Since(begin) - 3500*time.Millisecond; late > time.Second {
			t.Errorf("it has waited %v for a handler", late)
		}
	})
}

// Run notices that a file is again what it was before somebody called Reload.
func TestRunNoticesWhatIsTakenBack(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		before, after := every("a: {}"), every("a: {}", "b: {}")
		path := write(t, before)[0]
		app := f.load(path)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- app.Run(ctx) }()
		pass(time.Minute)
		rewrite(t, path, after)
		reload(t, app)
		rewrite(t, path, before)
		pass(time.Minute)
		if n := len(app.Node().Jobs()); n != 1 {
			t.Errorf("%d jobs run, want 1", n)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// What cannot be opened at the start is an error, and nothing stays open.
func TestStartFails(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"etcd":   {"registry: {etcd: {endpoints: ['x:1'], namespace: a//b}}\n", "1:11: registry.etcd: "},
		"zk":     {"registry: {zookeeper: {servers: [x], namespace: a//b}}\n", "1:11: registry.zookeeper: "},
		"memory": {"registry: {memory: {namespace: ''}}\n", "1:11: registry.memory: "},
		"node":   {memoryFile + "node: {labels: ['a,b']}\n", "2:7: node: job: "},
		"listen": {memoryFile + "dump: {listen: '127.0.0.1:x'}\n", "2:7: dump: listen "},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(nil)
			o.Slog = slog.New(slog.NewTextHandler(io.Discard, nil))
			path := write(t, tc.text+every("a: {}"))[0]
			_, err := jobfile.Load(t.Context(), o, path)
			if err == nil || !strings.HasPrefix(err.Error(), "jobfile: "+path+":"+tc.want) {
				t.Errorf("%v, want %s…", err, tc.want)
			}
		})
	}
}

// A job that has expired, and is removed then, is no fault, also when a process starts afterwards.
func TestExpiry(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		path := write(t, every("a: {expiry: {ticks: 3, remove: true}}", "b: {}"))[0]
		app := f.load(path)
		pass(5 * time.Minute)
		if got := f.ran("a"); len(got) != 3 || len(app.Faults()) > 0 {
			t.Errorf("%d runs, faults %v", len(got), app.Faults())
		}
		later := f.loadWith(f.options(f.dial()), path)
		pass(time.Minute)
		if got := f.ran("a"); len(got) != 0 || len(later.Faults()) > 0 || later.Node().Job("a") != nil {
			t.Errorf("%d runs, faults %v", len(got), later.Faults())
		}
		rewrite(t, path, every("a: {expiry: {ticks: 3, remove: true}, revision: 1}", "b: {}"))
		if r := reload(t, later); !cmp.Equal(r.Started, []string{"a"}) {
			t.Error(r)
		}
		pass(5 * time.Minute)
		if got := f.ran("a"); len(got) != 3 || len(later.Faults()) > 0 {
			t.Errorf("%d runs, faults %v", len(got), later.Faults())
		}
	})
}

// A job that an operator has removed is not set up again, until its revision is larger, or the
// operator allows it.
func TestRemovedJobs(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		path := write(t, every("a: {}", "b: {}"))[0]
		app := f.load(path)
		steer := ops.New(f.reg).By("Ann")
		for _, name := range []string{"a", "b"} {
			if err := steer.Job(name).Remove(t.Context(), ops.RemoveRequest{Why: "enough"}); err != nil {
				t.Fatal(err)
			}
		}
		pass(time.Minute)
		if faults := app.Faults(); len(faults) != 2 || !errors.Is(faults[1], job.ErrJobRemoved) {
			t.Errorf("faults %v", faults)
		}
		if err := app.Shutdown(t.Context()); err != nil {
			t.Log(err) // the schedulers had stopped before
		}
		app = f.load(path)
		if faults := app.Faults(); len(faults) != 2 || !errors.Is(faults[1], job.ErrJobRemoved) || !strings.Contains(faults[1].Error(), "Ann") {
			t.Errorf("faults %v", faults)
		}
		if err := steer.Readmit(t.Context(), "a", ops.ReadmitRequest{}); err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Minute)
		if faults := app.Faults(); len(faults) != 1 || app.Node().Job("a") == nil {
			t.Errorf("faults %v", faults)
		}
		rewrite(t, path, every("a: {}", "b: {revision: 1}"))
		if r := reload(t, app); !cmp.Equal(r.Started, []string{"b"}) || len(app.Faults()) > 0 {
			t.Errorf("result %v, faults %v", r, app.Faults())
		}
	})
}

// fragile is a registry whose view of a job ends each time that the job begins an item.
type fragile struct {
	coord.Registry
	job   string
	view  atomic.Pointer[endedView]
	times atomic.Int32
}

func (f *fragile) View(ctx context.Context, prefix string, depth int, bounds ...coord.Bounds) (coord.View, error) {
	v, err := f.Registry.View(ctx, prefix, depth, bounds...)
	if err != nil || prefix != f.job {
		return v, err
	}
	ends := &endedView{View: v}
	f.view.Store(ends)
	return ends, nil
}

func (f *fragile) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	for _, op := range ops {
		if op.Kind != coord.OpAbsent && op.Path == f.job+"/sharding/0/running" && !f.view.Load().isOver.Swap(true) {
			f.times.Add(1)
		}
	}
	return f.Registry.Commit(ctx, ops...)
}

// endedView is a view that ends when a test wants that.
type endedView struct {
	coord.View
	isOver atomic.Bool
}

func (v *endedView) Err() error {
	if v.isOver.Load() {
		return errors.New("broken")
	}
	return v.View.Err()
}

// A job that has never run, and goes, was not put right.
func TestAFaultGoesWithItsJob(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		path := write(t, every("a: {}", "b: {jobErrorHandlerType: NONE}"))[0]
		app := f.load(path)
		if faults := app.Faults(); len(faults) != 1 || faults[0].Job != "b" {
			t.Fatal(faults)
		}
		rewrite(t, path, every("a: {}"))
		reload(t, app)
		synctest.Wait()
		if faults := app.Faults(); len(faults) > 0 || strings.Contains(f.log.String(), "as the configuration files say again") {
			t.Errorf("%v\n%s", faults, &f.log)
		}
	})
}

// A job whose scheduler stops again and again is started less and less often.
func TestAJobThatStopsAgainAndAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		reg := &fragile{Registry: f.reg, job: "a"}
		app := f.loadWith(f.options(reg), write(t, every("a: {}", "b: {}"))...)
		pass(10 * time.Minute)
		if n := reg.times.Load(); n < 5 || n > 25 {
			t.Errorf("it was started %d times in 10 minutes", n)
		}
		if len(f.ran("b")) < 590 || app.Node().Live() != nil {
			t.Errorf("b does not run as it should, or the process is not live: %v", app.Node().Live())
		}
	})
}

// The section node holds for all jobs.
func TestNode(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		text := "node: {address: a-host, labels: [gpu, big], weight: 3, threads: 5, drain: 1s, cancelGrace: 0s, earlyClaims: 100ms, listenerTimeout: 2s}\n"
		app := f.load(write(t, text+every("a: {label: gpu}", "b: {label: small}", "c: {label: big, shardingTotalCount: 5}"))...)
		pass(time.Minute)
		if !strings.HasPrefix(app.Node().Job("a").Status().InstanceID, "a-host@-@") {
			t.Errorf("instance %s", app.Node().Job("a").Status().InstanceID)
		}
		if a, b, c := len(f.ran("a")), len(f.ran("b")), len(f.ran("c")); a+c < 50 || b > 0 {
			t.Error("labels do not count")
		}
	})
	o := options(nil)
	o.Slog = slog.New(slog.DiscardHandler)
	if _, err := jobfile.Load(t.Context(), o, write(t, memoryFile+"node: {network: 203.0.113.0/24}\n"+every("a: {}"))...); err == nil || !strings.Contains(err.Error(), "203.0.113.0/24") {
		t.Errorf("a network that is not there: %v", err)
	}
}

// node.drain bounds how long handlers run on, when a job goes from the file and at the end.
func TestDrain(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		o := f.options(f.reg)
		var mu sync.Mutex
		ended := map[string]error{}
		o.Handlers["slow"] = job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			<-ctx.Done()
			mu.Lock()
			defer mu.Unlock()
			ended[sc.JobName] = context.Cause(ctx)
			return ctx.Err()
		})
		text := "node: {drain: 20s}\n" + every("a: {implementation: slow}", "b: {implementation: slow}")
		path := write(t, text)[0]
		app := f.loadWith(o, path)
		pass(2 * time.Second)
		rewrite(t, path, "node: {drain: 20s}\n"+every("b: {implementation: slow}"))
		began := time.Now()
		if r := reload(t, app); !cmp.Equal(r.Stopped, []string{"a"}) || time.Since(began) > time.Second {
			t.Errorf("%v after %v", r, time.Since(began))
		}
		causes := func() string {
			mu.Lock()
			defer mu.Unlock()
			return fmt.Sprint(errors.Is(ended["a"], job.ErrShutdown), errors.Is(ended["b"], job.ErrShutdown))
		}
		pass(19 * time.Second)
		if got := causes(); got != "false false" {
			t.Errorf("ended after 19 s: %s", got)
		}
		pass(2 * time.Second)
		if got := causes(); got != "true false" {
			t.Errorf("ended after 21 s: %s", got)
		}

		// A second call may have less time.
		done := make(chan error)
		go func() { done <- app.Shutdown(context.Background()) }()
		pass(time.Minute)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		_ = app.Shutdown(short) // as the other call
		<-done                  // it may say that a handler was cut short
		if took := time.Since(began); took > 5*time.Second || causes() != "true true" {
			t.Errorf("after %v: %s", took, causes())
		}
	})
}

// A handler that shuts the program down does not wait for itself.
func TestShutdownInAHandler(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		o := f.options(f.reg)
		var app *jobfile.App
		ready, asked := make(chan struct{}), make(chan error, 10)
		o.Handlers["last"] = job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
			<-ready
			asked <- app.Shutdown(ctx)
			return nil
		})
		app = f.loadWith(o, write(t, every("a: {implementation: last}"))...)
		close(ready)
		if err := app.Run(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-asked; !errors.Is(err, job.ErrInHandler) {
			t.Errorf("Shutdown in the handler: %v", err)
		}
	})
}

// The section log says what is logged, and how.
func TestLog(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "level=INFO msg=i\nlevel=WARN msg=w\n",
		"log: {}":                          "level=INFO msg=i\nlevel=WARN msg=w\n",
		"log: {level: WARN}":               "level=WARN msg=w\n",
		"log: {format: json}":              `{"level":"INFO","msg":"i"}` + "\n" + `{"level":"WARN","msg":"w"}` + "\n",
		"log: {level: '${env:LEVEL}'}":     "level=DEBUG msg=d\nlevel=INFO msg=i\nlevel=WARN msg=w\n",
		"log: {format: null, level: INFO}": "level=INFO msg=i\nlevel=WARN msg=w\n",
	} {
		var out strings.Builder
		f := read(t, options(map[string]string{"LEVEL": "DEBUG"}), memoryFile+every("a: {}")+text)
		log := f.LoggerTo(&out)
		log.Debug("d")
		log.Info("i")
		log.Warn("w")
		if got := regexp.MustCompile(`"?time"?[=:][^ ,]*[ ,]`).ReplaceAllString(out.String(), ""); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
