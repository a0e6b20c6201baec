package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// maxTasks bounds how many jobs of a Runner start at a time.
const maxTasks = 32

// Config is what a Server serves jobs with.
type Config struct {
	Registry coord.Registry
	Process  *pool.Announcement // names the process to operators
	Offers   Offers
	Drain    time.Duration // for the handlers of a scheduler that leaves
	Log      *zap.Logger
}

// Host starts schedulers. Its methods may be called by any goroutine.
type Host interface {
	// Start starts a job by the configuration that the registry has. offer is the name of a handler of the Runner. Start
	// may call what the program has given, which may end the goroutine. After an error the Scheduler counts for nothing.
	Start(ctx context.Context, job, offer string) (Scheduler, error)
	// Running returns the scheduler that the program itself has started under a name that Start has found in use; nil
	// if it has ended.
	Running(job string) Scheduler
	// KindOf returns the kind of fault that an error of Start or of a scheduler is.
	KindOf(error) jobtype.FaultKind
}

// Scheduler is a scheduler that runs a job.
type Scheduler interface {
	// Ended reports whether it is out of the tree.
	Ended() bool
	// Err returns why it has ended; nil after a shutdown.
	Err() error
	// BeginShutdown asks it to leave. EndDrain ends the time that its handlers have until their contexts end.
	BeginShutdown()
	EndDrain()
	// Configuration is the number of the commit that has written the configuration by which it runs.
	Configuration() int64
	// Forget lets its name be used again.
	Forget()
}

// ErrInUse is in the error of a start whose name is in use, by a scheduler that the program has started itself.
var ErrInUse = errors.New("job: the node runs this job already")

// Server serves jobs. One goroutine, that of Serve, owns what is not exported, but for inbox and status. It is
// level-triggered, like a scheduler: whatever wakes it, it reads the newest snapshot, and decides anew about the jobs
// of which something has changed.
type Server struct {
	Config
	host      Host
	inbox     inbox
	status    status
	view      coord.View
	shown     coord.Snapshot     // the last one that look has read
	viewFault error              // that of the view then
	session   coord.Session      // nil if there was none yet
	jobs      map[string]*served // by name
	dirty     map[string]bool    // the jobs to decide about in this round
	queue     []*task
	underWay  int // tasks that run, but for starts that hang
	tasks     sync.WaitGroup
}

// New returns a server that does not serve yet.
func New(c Config, h Host) *Server {
	s := &Server{Config: c, host: h, inbox: inbox{wake: make(chan struct{}, 1)}, jobs: map[string]*served{}, dirty: map[string]bool{}}
	s.status.refused, s.status.unread = map[string]jobtype.Fault{}, errNotRun
	return s
}

// Serve serves jobs by a view of the namespace, until ctx ends, or the registry is closed: then it returns an error. Close
// comes after it.
func (r *Server) Serve(ctx context.Context, view coord.View) error {
	r.view = view
	for first := true; ; first = false {
		changed := r.view.Changed()
		if err := r.view.Err(); err != nil {
			return fmt.Errorf("job: runner: view of the namespace: %w", err)
		}
		r.look()
		r.readInbox(ctx)
		for name := range r.dirty {
			r.decide(name)
		}
		clear(r.dirty)
		if first {
			r.status.setRead(r.queue)
		}
		r.send(ctx)
		select {
		case <-changed:
		case <-r.inbox.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// SchedulerEnded tells that the scheduler of a job is out of the tree.
func (r *Server) SchedulerEnded(name string) { r.inbox.lookAt(name) }

// SessionBegan tells of the session of the registry, in which operators are told of faults.
func (r *Server) SessionBegan(session coord.Session) {
	r.inbox.write(func(n *news) { n.session = session })
}

// look marks the jobs dirty that the namespace shows otherwise than before.
func (r *Server) look() {
	now := r.view.Snapshot()
	for node := range now.Diff(r.shown) {
		if name := jobAt(node.Path); name != "" {
			r.dirty[name] = true
		}
	}
	r.shown = now
	r.followFault()
}

// followFault notes whether the view of the namespace is at fault. When it is not any more, the starts
// that the store has kept from succeeding are tried again at once.
func (r *Server) followFault() {
	doubt := r.view.Fault()
	if (doubt == nil) == (r.viewFault == nil) {
		return
	}
	r.viewFault = doubt
	r.status.setViewFault(doubt)
	if doubt != nil {
		r.Log.Error("the runner cannot follow the namespace", zap.Error(brief.Error(doubt)), zap.String("do", health.Remedy(jobtype.FaultStore)))
		return
	}
	r.Log.Info("the runner follows the namespace again")
	for name, j := range r.jobs {
		if r.dirty[name] = true; j.fault.Kind == jobtype.FaultStore {
			j.due = clocks.Moment{}
		}
	}
}

// readInbox takes in what others have told. When ctx has ended, tasks fail for that only.
func (r *Server) readInbox(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	news := r.inbox.read()
	for _, name := range news.names {
		r.dirty[name] = true
	}
	for _, e := range news.stuck {
		r.dirty[e.job.name] = true
		r.startHangs(e)
	}
	for _, a := range news.answers {
		r.dirty[a.job.name] = true
		r.taskDone(a)
	}
	if news.session == nil {
		return
	}
	r.session = news.session
	for name := range r.jobs {
		r.dirty[name] = true // what they have told has gone with the session
	}
}

// startHangs takes in that a start does not return. It must not keep other jobs from starting, so it does
// not count as under way any more; its job is not started again before it returns.
func (r *Server) startHangs(e *task) {
	if e.isDone {
		return
	}
	j := e.job
	e.isStuck, j.isStuck, j.isBusy = true, true, false
	r.underWay--
	r.status.setTried(j.name)
	r.refuse(j, ErrStuck)
}

// taskDone takes in the result of a task.
func (r *Server) taskDone(a result) {
	j, now := a.job, clocks.Now()
	if a.isDone = true; a.isStuck {
		j.isStuck = false
	} else {
		j.isBusy = false
		r.underWay--
	}
	if a.do == report {
		j.reported = a.node
		if a.err != nil {
			r.Log.Debug("operators are not told what is wrong with a job", zap.String("job", j.name), zap.Error(brief.Error(a.err)))
		}
		return
	}
	r.status.setTried(j.name)
	switch {
	case a.err == nil:
		r.setScheduler(j, a.scheduler, false)
	case errors.Is(a.err, ErrInUse):
		if s := r.host.Running(j.name); s != nil && !s.Ended() {
			r.setScheduler(j, s, true)
		} else {
			j.putOff(now)
		}
	case j.listing != j.from: // the error is of what was there before
		j.due, j.tried = j.tried.Add(firstRestart), now
	case errors.Is(a.err, jobtype.ErrJobRemoved): // the view will show that, or that the job is there again
		j.putOff(now)
	default:
		r.refuse(j, a.err)
	}
}

// setScheduler notes that a job has a scheduler now, and so no fault.
func (r *Server) setScheduler(j *served, s Scheduler, isOwn bool) {
	j.scheduler, j.isOwn, j.since, j.over = s, isOwn, clocks.Now(), generations{}
	r.endFault(j)
}

// refuse notes that a job cannot be served, and why. The log says so once.
func (r *Server) refuse(j *served, err error) {
	wasSound := j.fault.Err == nil
	j.refuse(r.host.KindOf(err), brief.Error(err), clocks.Now())
	r.status.setRefused(j.name, j.fault)
	if wasSound {
		r.Log.Error("the runner cannot serve a job; it tries again", append(health.Advice(j.fault.Kind, err), zap.String("job", j.name))...)
	}
}

// endFault notes that a job is served, or need not be: what was wrong with it is over.
func (r *Server) endFault(j *served) {
	if j.fault.Err == nil {
		return
	}
	r.Log.Info("what kept the runner from serving a job is over", zap.String("job", j.name), zap.Stringer("kind", j.fault.Kind),
		zap.Duration("after", clocks.Since(j.failing).Round(time.Millisecond)))
	j.fault = jobtype.Fault{}
	r.status.clearRefused(j.name)
}

// decide does what there is to do about a job.
func (r *Server) decide(name string) {
	listing := r.Offers.listingOf(r.shown, name)
	j := r.jobs[name]
	if j == nil {
		if !listing.isServed() {
			return
		}
		j = &served{name: name, backoff: sleep.Backoff{Min: firstRestart, Max: lastRestart}}
		r.jobs[name] = j
	}
	j.setListing(listing)
	if j.scheduler != nil && j.scheduler.Ended() {
		r.schedulerEnded(j)
	}
	var session coord.SessionID
	if r.session != nil && r.session.Context().Err() == nil {
		session = r.session.ID()
	}
	do, wait := j.next(clocks.Now(), session, r.viewFault != nil)
	switch do {
	case start, report:
		if do == start {
			j.from = j.listing
		}
		j.isBusy = true
		r.queue = append(r.queue, &task{job: j, do: do, offer: j.listing.offer, fault: j.faultToReport(), node: j.reported, session: r.session})
	case leave:
		r.leave(j)
	case forget:
		r.forget(j)
	case nothing:
		r.wakeFor(j, wait)
	}
}

// wakeFor makes the loop look at a job again after a while; 0 is never.
func (r *Server) wakeFor(j *served, wait time.Duration) {
	switch {
	case wait == 0:
	case j.timer == nil:
		j.timer = time.AfterFunc(wait, func() { r.inbox.lookAt(j.name) })
	default:
		j.timer.Reset(wait)
	}
}

// leave asks the scheduler of a job to leave, which has another implementation now, or was
// created anew. It is gone after NodeConfig.Drain and what Shutdown then takes.
func (r *Server) leave(j *served) {
	s := j.scheduler
	r.Log.Info("a job was created anew or has another implementation; its scheduler leaves", zap.String("job", j.name), zap.String("was", brief.Text(j.from.offer)), zap.String("is", brief.Text(j.listing.offer)))
	s.BeginShutdown()
	j.leaving = time.AfterFunc(r.Drain, s.EndDrain)
}

// schedulerEnded takes in that the scheduler of a job is out of the tree.
func (r *Server) schedulerEnded(j *served) {
	s, wasAsked := j.scheduler, j.leaving != nil
	if wasAsked {
		j.leaving.Stop()
	}
	j.scheduler, j.leaving = nil, nil
	if !j.isOwn {
		s.Forget()
	}
	// It has ended in the life of the last configuration that it has obeyed, or an earlier one.
	life := generations{j.from.life, max(j.from.life, s.Configuration())}
	if clocks.Since(j.since) >= stableAfter {
		j.backoff.Reset()
	}
	switch err := s.Err(); {
	case errors.Is(err, jobtype.ErrInstanceRemoved), err == nil && !wasAsked:
		j.over = life
		r.Log.Info("a scheduler was shut down; it comes back when this process is started again", zap.String("job", j.name), zap.Error(err))
	case errors.Is(err, jobtype.ErrJobRemoved):
		j.over = life
	case !wasAsked:
		r.refuse(j, err)
	}
}

// forget drops all that the Runner knows about a job.
func (r *Server) forget(j *served) {
	r.endFault(j)
	r.status.setTried(j.name)
	if j.timer != nil {
		j.timer.Stop()
	}
	delete(r.jobs, j.name)
}

// send sends tasks out. A job that has gone meanwhile is not started.
func (r *Server) send(ctx context.Context) {
	for len(r.queue) > 0 && r.underWay < maxTasks {
		e := r.queue[0]
		r.queue[0] = nil
		r.queue = r.queue[1:]
		if e.do == start && !e.job.listing.isServed() {
			e.job.isBusy = false
			r.inbox.lookAt(e.job.name)
			continue
		}
		r.underWay++
		r.tasks.Go(func() { r.run(ctx, e) })
	}
}

// Close waits for the tasks, whose context has ended, and removes what operators were told.
func (r *Server) Close() {
	r.tasks.Wait()
	for _, a := range r.inbox.read().answers {
		if a.do == report {
			a.job.reported = a.node
		}
	}
	var ops []coord.Op
	for _, j := range r.jobs {
		if j.timer != nil {
			j.timer.Stop()
		}
		if j.leaving != nil {
			j.leaving.Stop()
		}
		if r.session != nil && j.reported.session == r.session.ID() {
			ops = append(ops, r.removeReport(j.name, r.session.ID()))
		}
	}
	r.removeReports(ops)
}
