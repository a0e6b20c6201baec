package jobfile_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
)

// With serve the process runs what others create, too; a job that comes into the file goes on, and
// then goes by the file.
func TestServe(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		const serve = "node: {serve: true}\n"
		path := write(t, serve+every("a: {}"))[0]
		o := f.options(f.reg)
		var told []string
		o.Tracing = map[string]jobfile.Tracer{"MINE": tracer(func(e job.Event) {
			if e.Kind != jobtype.EventFinished {
				return
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			told = append(told, e.JobName)
		})}
		rewrite(t, path, serve+every("a: {}")+"tracing: {type: MINE, include: [o*]}\n")
		app := f.loadWith(o, path)
		create := func(name, implementation string) {
			t.Helper()
			c := job.Config{Name: name, Cron: "* * * * * ?", ShardingTotalCount: 1, JobParameter: "theirs"}
			if err := ops.New(f.reg).Create(t.Context(), ops.CreateRequest{Config: c, Implementation: implementation}); err != nil {
				t.Fatal(err)
			}
		}
		create("other", "settle")
		create("strange", "com.example.Job")
		pass(5 * time.Second)
		if len(f.ran("other")) == 0 || len(f.ran("strange")) > 0 || len(f.ran("a")) == 0 {
			t.Error("it does not run what it should")
		}
		other := app.Node().Job("other")
		if err := app.Health().Ready(); err != nil {
			t.Error(err)
		}

		rewrite(t, path, serve+every("a: {}", "other: {jobParameter: ours, revision: 1}")+"tracing: {type: MINE, include: [o*]}\n")
		if r := reload(t, app); !cmp.Equal(r.Changed, []string{"other"}) || len(r.Refused) > 0 {
			t.Error(r)
		}
		pass(2 * time.Second)
		f.ran("other")
		pass(2 * time.Second)
		if runs := f.ran("other"); len(runs) == 0 || runs[0] != "ours" || app.Node().Job("other") != other {
			t.Errorf("other has run with %q", runs)
		}

		// It goes from the file, and with that from this process.
		rewrite(t, path, serve+every("a: {}")+"tracing: {type: MINE, include: [o*]}\n")
		if r := reload(t, app); !cmp.Equal(r.Stopped, []string{"other"}) {
			t.Error(r)
		}
		pass(time.Minute)
		if app.Node().Job("other") != nil || len(app.Faults()) > 0 || app.Node().Health() != nil {
			t.Error(app.Faults(), app.Node().Health())
		}
		if err := app.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := app.Health().Ready(); !errors.Is(err, jobfile.ErrClosed) || app.Health().Live() != nil {
			t.Errorf("after the end: ready is %v, live %v", err, app.Health().Live())
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, name := range told {
			if name != "other" {
				t.Errorf("MINE was told of %s", name)
			}
		}
		if len(told) == 0 {
			t.Error("MINE was told of nothing")
		}
	})
}

// A job that the registry has with another implementation is not changed, although the runner
// serves it.
func TestServeAnotherImplementation(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		o := f.options(f.reg)
		o.Handlers["other"] = o.Handlers["settle"]
		c := job.Config{Name: "x", Cron: "* * * * * ?", ShardingTotalCount: 1, JobParameter: "theirs"}
		if err := ops.New(f.reg).Create(t.Context(), ops.CreateRequest{Config: c, Implementation: "other"}); err != nil {
			t.Fatal(err)
		}
		app := f.loadWith(o, write(t, "node: {serve: true}\n"+every("x: {jobParameter: ours, revision: 5}"))...)
		pass(10 * time.Minute)
		if runs := f.ran("x"); len(runs) == 0 || runs[len(runs)-1] != "theirs" || f.registry("x").JobParameter != "theirs" {
			t.Errorf("the registry has %q, and %d runs", f.registry("x").JobParameter, len(runs))
		}
		if faults := app.Faults(); len(faults) != 1 || !errors.Is(faults[0], job.ErrImplementationConflict) {
			t.Errorf("faults %v", faults)
		}
	})
}

// With serve no file needs to have a job.
func TestServeAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.load(write(t, "node: {serve: true}\n")...)
		c := job.Config{Name: "other", Cron: "* * * * * ?", ShardingTotalCount: 1}
		if err := ops.New(f.reg).Create(t.Context(), ops.CreateRequest{Config: c, Implementation: "settle"}); err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Second)
		if len(f.ran("other")) == 0 {
			t.Error("it does not run what it should")
		}
	})
}

// If the runner cannot go on, the program ends, and says why.
func TestServeEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		app := f.load(write(t, "node: {serve: true}\n"+every("a: {}"))...)
		done := make(chan error)
		go func() { done <- app.Run(t.Context()) }()
		pass(time.Second)
		if err := f.reg.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err == nil {
			t.Error("Run returned nil")
		}
	})
}

// tracer makes an observer one.
type tracer job.Observer

func (o tracer) Only(f trace.Filter) job.Option {
	return job.WithObserver(trace.Only(f, job.Observer(o)))
}

// Members of elastic-job 2.1 read no document but their own, so no file replaces it as long as one lives: neither with a
// start nor with a change, as of a job that the runner has started.
func TestFilesLeaveMembersOf2Alone(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		const member = "old/instances/10.0.0.9@-@7"
		const document = `{"jobName":"old","jobClass":"settle","jobType":"SIMPLE","cron":"* * * * * ?","shardingTotalCount":1}`
		for _, name := range []string{"old", "served"} {
			root := map[string]string{"served": "settle"}[name]
			text := strings.Replace(document, `"old"`, `"`+name+`"`, 1)
			if _, err := f.reg.Commit(t.Context(), coord.Put(name, []byte(root)), coord.Put(name+"/config", []byte(text)),
				coord.CreateEphemeral(strings.Replace(member, "old", name, 1), nil)); err != nil {
				t.Fatal(err)
			}
		}
		path := write(t, "node: {serve: true}\n"+every("a: {}"))[0]
		app := f.load(path)
		pass(5 * time.Second) // the runner starts what it can
		if app.Node().Job("served") == nil {
			t.Fatal("the runner has not started the job")
		}
		rewrite(t, path, "node: {serve: true}\n"+every("a: {}", "old: {overwrite: true}", "served: {overwrite: true}"))
		if r := reload(t, app); len(r.Refused) != 2 || !errors.Is(r.Refused[0], job.ErrOldMembers) || !errors.Is(r.Refused[1], job.ErrOldMembers) {
			t.Errorf("refused: %v", r.Refused)
		}
		for _, name := range []string{"old", "served"} {
			if n, err := f.reg.Get(t.Context(), name+"/config"); err != nil || !strings.HasPrefix(string(n.Value), "{") {
				t.Errorf("%s: %s, %v", name, n.Value, err)
			}
			if _, err := f.reg.Commit(t.Context(), coord.Delete(strings.Replace(member, "old", name, 1))); err != nil {
				t.Fatal(err)
			}
		}
		pass(3 * time.Minute) // it tries again by itself
		if len(app.Faults()) > 0 || f.registry("old").Overwrite == false || f.registry("served").Overwrite == false {
			t.Error(app.Faults())
		}
	})
}
