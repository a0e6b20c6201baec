package jobfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
)

// App runs the jobs of files. Its methods may be called from any goroutine.
type App struct {
	file *File // as it was at the start: its sections stay in force
	log  *slog.Logger
	node *job.Node
	// handlers do the work of the jobs, by the names of types and implementations.
	handlers map[string]job.Handler
	runner   *job.Runner // nil unless node.serve
	serving  sync.WaitGroup
	broken   chan error // has one if the runner cannot go on
	ops      *ops.Ops
	drain    time.Duration
	metrics  *meter
	// exporter is what the section metrics has instead, and recorder what the section tracing has.
	exporter Exporter
	recorder *trace.Recorder
	runs     *trace.Newest                 // for the section dump; nil if it is off, or the program has the lines
	started  atomic.Bool                   // each job was tried once
	close    []func(context.Context) error // what is to be closed at the end, the last one first

	jobsEnd context.Context // ends when the jobs are to end
	endJobs context.CancelFunc
	hurry   context.Context // ends when they have had their time
	noTime  context.CancelFunc
	gate    chan struct{} // has an element for each job that talks to the registry at its start or change
	ending  sync.Once
	err     error // of Shutdown, once ending is done

	watched   watched
	reloading sync.Mutex // held by Reload and Shutdown

	mu      sync.Mutex
	newest  *File // whose jobs are kept
	keepers map[string]*keeper
	leaving []*keeper // of jobs that the file has no more; those that have ended go at the next change
	faults  map[subject]Fault
}

// subject is what a fault is about: a job, or else a section, or else the files.
type subject struct{ job, section string }

// Fault is something in the files that is not in force.
type Fault struct {
	// Job is the job that it is about; empty if it is about the files, or a section of them.
	Job string
	// Err is what is wrong. Its text is bounded.
	Err   error
	Since time.Time
}

// Error says what it is about.
func (f Fault) Error() string {
	if f.Job == "" {
		return brief.Cut(f.Err.Error(), 4096)
	}
	return fmt.Sprintf("job %s: %v", brief.Text(f.Job), brief.Error(f.Err))
}

// Unwrap returns Err.
func (f Fault) Unwrap() error { return f.Err }

// Load is [Read] and [File.Start].
func Load(ctx context.Context, o Options, paths ...string) (*App, error) {
	f, err := Read(o, paths...)
	if err != nil {
		return nil, err
	}
	return f.Start(ctx)
}

const (
	// startsAtATime bounds how many jobs start, or change, at the same time.
	startsAtATime = 32
	// closeTime bounds how long things take to close.
	closeTime = 5 * time.Second
	// defaultDrain is the default of node.drain.
	defaultDrain = 30 * time.Second
)

// Start connects to the registry centre, opens what listens, and starts the jobs. It returns
// when it has tried to start each of them: one that does not start is a fault (see
// [App.Faults]), and is tried again. ctx bounds the start only.
//
// Errors: those of the registry; of a section node that the node refuses; of an address that
// cannot be listened on; the cause of ctx.
func (f *File) Start(ctx context.Context) (*App, error) {
	a := &App{
		file: f, newest: f, log: f.logger(os.Stderr), drain: cmp.Or(f.node.drain, defaultDrain), metrics: newMeter(), broken: make(chan error, 1),
		gate:    make(chan struct{}, startsAtATime),
		keepers: map[string]*keeper{}, faults: map[subject]Fault{},
	}
	a.watched.take(f.sources)
	a.jobsEnd, a.endJobs = context.WithCancel(context.Background())
	a.hurry, a.noTime = context.WithCancel(context.Background())
	if err := a.open(ctx, f); err != nil {
		return nil, errors.Join(err, a.closeAll(context.WithoutCancel(ctx)))
	}
	a.warnIdle()
	if len(f.calendars) > 0 {
		a.log.Warn(calendarsAreApplied, slog.Any("calendars", slices.Sorted(maps.Keys(f.calendars))))
	}
	var tried []<-chan reply
	for _, c := range f.Jobs() {
		tried = append(tried, a.keep(f.jobs[c.Name]))
	}
	for _, t := range tried {
		select {
		case <-t:
		case <-ctx.Done():
			leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
			defer cancel()
			return nil, errors.Join(fmt.Errorf("jobfile: start: %w", context.Cause(ctx)), a.Shutdown(leaving))
		}
	}
	if a.runner != nil { // after those of the files, so that they are set up as these say
		a.serving.Go(a.serve)
	}
	a.started.Store(true)
	return a, nil
}

// open opens all but the jobs.
func (a *App) open(ctx context.Context, f *File) error {
	reg, closeRegistry, err := f.dial(ctx, a.log)
	if err != nil {
		return err
	}
	a.close = append(a.close, closeRegistry)
	if err := a.openExporter(); err != nil {
		return err
	}
	if a.exporter != nil {
		reg = a.exporter.Registry(reg)
	}
	a.ops = ops.New(reg)
	p, err := f.program()
	if err != nil {
		return err
	}
	a.close = append(a.close, func(context.Context) error { p.end(); return nil })
	options, err := a.nodeOptions(f, p)
	if err != nil {
		return err
	}
	if a.handlers, err = f.handlersOf(p); err != nil {
		return err
	}
	c := job.NodeConfig{Threads: f.node.threads, Drain: a.drain, Options: options}
	if f.node.serve {
		a.runner, err = job.NewRunner(reg, job.RunnerConfig{NodeConfig: c, Handlers: a.handlers})
		if err == nil {
			a.node = a.runner.Node
		}
	} else {
		a.node, err = job.NewNode(reg, c)
	}
	if err != nil {
		return fmt.Errorf("jobfile: %s: %s: %w", f.at(keyNode), keyNode, err)
	}
	if a.exporter != nil {
		a.exporter.Watch(a.node, a.recorder)
	}
	closePages, err := a.listen(ctx, reg)
	if err != nil {
		return err
	}
	a.close = append(a.close, closePages)
	return nil
}

// dial connects to the registry centre. close closes what was opened.
func (f *File) dial(ctx context.Context, log *slog.Logger) (reg coord.Registry, close func(context.Context) error, err error) {
	if f.options.Registry != nil {
		return f.options.Registry, func(context.Context) error { return nil }, nil
	}
	kind, reg, err := f.registry.dial(ctx, log)
	if err != nil {
		return nil, nil, fmt.Errorf("jobfile: %s: %s.%s: %w", f.at(keyRegistry), keyRegistry, kind, err)
	}
	return reg, reg.Close, nil
}

// keep starts to keep a job. What it returns has an answer when the job has been tried once.
func (a *App) keep(d *declared) <-chan reply {
	k := &keeper{app: a, name: d.config.Name, done: make(chan struct{}), asks: make(chan ask, 1)}
	ctx, stop := context.WithCancel(a.jobsEnd)
	k.stop = stop
	first := ask{want: d, reply: make(chan reply, 1)}
	a.mu.Lock()
	for _, other := range a.leaving {
		if other.name == k.name {
			k.after = other.done
		}
	}
	a.keepers[k.name] = k
	a.mu.Unlock()
	go k.run(ctx, first)
	return first.reply
}

// serve runs what others have put into the namespace, until the node is shut down.
func (a *App) serve() {
	if err := a.runner.Run(context.Background()); a.jobsEnd.Err() == nil {
		a.setFault(subject{section: keyNode}, fmt.Errorf("%s.serve: %w", keyNode, err))
		a.broken <- err
	}
}

// Node returns the node of the jobs: to trigger a one-off job (Node.Job), or to start others
// that stand in no file.
func (a *App) Node() *job.Node { return a.node }

// Faults returns what of the files is not in force, by name; first what is about the files
// themselves. What keeps a job from running that has started is in [job.Node.Faults].
func (a *App) Faults() []Fault {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.SortedFunc(maps.Values(a.faults), func(a, b Fault) int { return cmp.Compare(a.Job, b.Job) })
}

// setFault says what is wrong with something; nil if nothing is. It logs when that changes.
func (a *App) setFault(about subject, err error) {
	a.mu.Lock()
	fault, was := a.faults[about]
	isNew := err != nil && (!was || fault.Err.Error() != err.Error())
	switch {
	case err == nil:
		delete(a.faults, about)
	case isNew:
		fault = Fault{about.job, err, clocks.Wall()}
		a.faults[about] = fault
	}
	a.mu.Unlock()
	switch {
	case isNew:
		a.log.Error("not as the configuration files say", slog.Any("error", fault))
	case err == nil && was:
		a.log.Info("as the configuration files say again", slog.Any("was", fault))
	}
}

// forget takes back what is wrong with something that the process has no more.
func (a *App) forget(about subject) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.faults, about)
}

// Shutdown ends all jobs as [job.Node.Shutdown] does, and then closes what Start has opened. It
// may be called again, also while [App.Run] waits: the context that ends first counts. A handler
// must not wait for its own end: see [job.Scheduler.Shutdown].
func (a *App) Shutdown(ctx context.Context) error {
	a.endJobs()
	err := a.node.Shutdown(ctx)
	if errors.Is(err, job.ErrInHandler) {
		return err // Run closes the rest, or another call
	}
	a.noTime()
	a.ending.Do(func() {
		a.reloading.Lock() // it starts no more jobs
		defer a.reloading.Unlock()
		a.serving.Wait()
		for _, k := range append(slices.Collect(maps.Values(a.keepers)), a.leaving...) {
			<-k.done // its job has ended
		}
		a.err = errors.Join(err, a.closeAll(context.WithoutCancel(ctx)))
	})
	return a.err
}

// closeAll closes what was opened.
func (a *App) closeAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	var errs []error
	for _, f := range slices.Backward(a.close) {
		errs = append(errs, f(ctx))
	}
	return errors.Join(errs...)
}
