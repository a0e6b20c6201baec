package jobfile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

// ErrNotNewer: a job has changed in the files, and its revision is not larger than that in the
// registry. So the registry's configuration stays in force.
var ErrNotNewer = errors.New("the revision is not larger than the registry's")

// ErrClosed: the App has been shut down.
var ErrClosed = errors.New("jobfile: the program is shutting down")

// Result is what a reload has done. The names are sorted.
type Result struct {
	// Started are jobs that run here now, and Changed those whose configuration was written to
	// the registry. Stopped are those that the files have no more: they end here as soon as
	// their handlers have returned, and stay in the registry.
	Started, Changed, Stopped []string
	// Refused are the jobs that are not as the files say, and why; see [ErrNotNewer]. The other
	// ones are tried again.
	Refused []Fault
	// Restart are the sections that have changed, and count only when the process starts anew.
	Restart []string
}

// String returns the result in one line.
func (r Result) String() string {
	var parts []string
	for _, p := range []struct {
		what  string
		names []string
	}{{"started", r.Started}, {"changed", r.Changed}, {"stopped", r.Stopped}, {"needs a restart", r.Restart}} {
		if len(p.names) > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s", p.what, shortList(p.names)))
		}
	}
	for _, f := range r.Refused {
		parts = append(parts, f.Error())
	}
	if parts == nil {
		return "nothing has changed"
	}
	return brief.Cut(strings.Join(parts, "; "), 4096)
}

// Reload reads the files again, and puts in force what has changed: see the comment of this
// package. A file that cannot be read, or has mistakes, changes nothing. What a reload could
// not do is also a fault, until it is done.
//
// Errors: those of [Read]; ErrClosed; the cause of ctx, if it ends before all jobs that have
// changed were tried once; what is left goes on.
func (a *App) Reload(ctx context.Context) (Result, error) {
	sources, err := readAll(a.file.paths)
	if err != nil {
		a.watched.take(nil)
		a.setFault(subject{}, err)
		return Result{}, err
	}
	return a.reload(ctx, sources)
}

func (a *App) reload(ctx context.Context, sources [][]byte) (Result, error) {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	if a.jobsEnd.Err() != nil {
		return Result{}, ErrClosed
	}
	a.watched.take(sources)
	f, err := read(a.file.options, a.file.paths, sources)
	if err != nil {
		a.setFault(subject{}, err)
		return Result{}, err
	}
	var r Result
	asked := a.apply(f, &r)
	if r.Restart = a.file.differences(f); r.Restart != nil {
		err = fmt.Errorf("%s: changed since the start, which needs a restart", strings.Join(r.Restart, ", "))
	}
	a.setFault(subject{}, err)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		select {
		case answer := <-asked[name]:
			r.add(name, answer)
		case <-ctx.Done():
			return r, fmt.Errorf("jobfile: reload: job %s: %w", name, context.Cause(ctx))
		case <-a.jobsEnd.Done():
			return r, ErrClosed
		}
	}
	a.log.Info("the configuration files were read again", slog.String("result", r.String()))
	return r, nil
}

// apply begins to bring the jobs to what a file says, and returns the answers to come.
func (a *App) apply(f *File, r *Result) map[string]<-chan reply {
	a.mu.Lock()
	before := a.newest.jobs
	a.newest = f
	keepers := maps.Clone(a.keepers)
	a.leaving = slices.DeleteFunc(a.leaving, (*keeper).isDone)
	for name, k := range keepers {
		if d := f.jobs[name]; d == nil || d.disabled {
			k.stop()
			delete(a.keepers, name)
			a.leaving = append(a.leaving, k)
			r.Stopped = append(r.Stopped, name)
		}
	}
	faulty := maps.Clone(a.faults)
	a.mu.Unlock()
	slices.Sort(r.Stopped)

	asked := map[string]<-chan reply{}
	for name, d := range f.jobs {
		k := keepers[name]
		_, again := faulty[subject{job: name}]
		switch {
		case d.disabled:
		case k == nil:
			asked[name] = a.keep(d)
		case again || !d.is(before[name]):
			answer := make(chan reply, 1)
			asked[name] = answer
			k.ask(ask{d, answer})
		}
	}
	return asked
}

// ask hands what the files have now to the keeper. One that it has not taken yet is dropped:
// nobody waits for that any more.
func (k *keeper) ask(next ask) {
	select {
	case <-k.asks:
	default:
	}
	k.asks <- next
}

func (k *keeper) isDone() bool {
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}

func (r *Result) add(name string, answer reply) {
	switch {
	case answer.err != nil:
		r.Refused = append(r.Refused, Fault{name, answer.err, clocks.Wall()})
	case answer.did == started:
		r.Started = append(r.Started, name)
	case answer.did == changed:
		r.Changed = append(r.Changed, name)
	}
}

// differences are the sections that another file has otherwise.
func (f *File) differences(o *File) []string {
	var names []string
	for _, s := range []struct {
		name string
		a, b any
	}{
		{keyRegistry, f.registry, o.registry}, {keyNode, f.node, o.node}, {keyAllow, f.document.allow, o.document.allow}, {keyLog, f.log, o.log},
		{keyTracing, f.tracing, o.tracing}, {keyMetrics, f.metrics, o.metrics}, {keyDump, f.dump, o.dump}, {keyHealth, f.health, o.health},
	} {
		if !reflect.DeepEqual(s.a, s.b) {
			names = append(names, s.name)
		}
	}
	return names
}

func shortList(names []string) string {
	const most = 20
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}
