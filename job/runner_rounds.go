package job

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
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// maxErrands bounds how many jobs of a Runner start at a time.
const maxErrands = 32

// rounds is the loop of a Runner. One goroutine owns it. It is level-triggered, like a
// controller: whatever wakes it, it reads the newest snapshot, and decides anew about the jobs
// of which something has changed. It never waits for the store: errands do.
type rounds struct {
	*Runner
	view    coord.View
	shown   coord.Snapshot     // the one that was looked at last
	doubt   error              // what was wrong with the view then
	session coord.Session      // nil if there was none yet
	jobs    map[string]*served // by name
	looked  map[string]bool    // the jobs to decide about in this round
	queue   []*errand
	atWork  int
	errands sync.WaitGroup
}

func newRounds(r *Runner, view coord.View) *rounds {
	return &rounds{Runner: r, view: view, jobs: map[string]*served{}, looked: map[string]bool{}}
}

// follow makes rounds until ctx ends, or the registry is closed: then it returns an error.
func (r *rounds) follow(ctx context.Context) error {
	for isFirst := true; ; isFirst = false {
		changed := r.view.Changed()
		if err := r.view.Err(); err != nil {
			return fmt.Errorf("job: runner: view of the namespace: %w", err)
		}
		r.look()
		r.readMail(ctx)
		for name := range r.looked {
			r.decide(name)
		}
		clear(r.looked)
		if isFirst {
			r.hasRead(r.queue)
		}
		r.send(ctx)
		select {
		case <-changed:
		case <-r.mail.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// look notes which jobs the namespace shows otherwise than before.
func (r *rounds) look() {
	now := r.view.Snapshot()
	for node := range now.Diff(r.shown) {
		if name := jobAt(node.Path); name != "" {
			r.looked[name] = true
		}
	}
	r.shown = now
	r.lookForDoubt()
}

// lookForDoubt notes whether the namespace can be read. When it can again, what the store has kept
// from starting is started at once.
func (r *rounds) lookForDoubt() {
	doubt := r.view.Fault()
	if (doubt == nil) == (r.doubt == nil) {
		return
	}
	r.doubt = doubt
	r.doubts(doubt)
	if doubt != nil {
		r.say(zap.ErrorLevel, "the runner cannot follow the namespace", zap.Error(brief.Error(doubt)), zap.String("do", remedy(jobtype.FaultStore)))
		return
	}
	r.say(zap.InfoLevel, "the runner follows the namespace again")
	for name, j := range r.jobs {
		if r.looked[name] = true; j.fault.Kind == jobtype.FaultStore {
			j.due = clocks.Moment{}
		}
	}
}

// readMail takes in what others have told. When ctx has ended, errands fail for that only.
func (r *rounds) readMail(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	mail := r.mail.read()
	for _, name := range mail.names {
		r.looked[name] = true
	}
	for _, e := range mail.stuck {
		r.looked[e.job.name] = true
		r.hangs(e)
	}
	for _, a := range mail.answers {
		r.looked[a.job.name] = true
		r.answered(a)
	}
	if mail.session == nil {
		return
	}
	r.session = mail.session
	for name := range r.jobs {
		r.looked[name] = true // what they have told has gone with the session
	}
}

// hangs takes in that a start does not return. It must not keep other jobs from starting; this one
// is not started again before it returns.
func (r *rounds) hangs(e *errand) {
	if e.isDone {
		return
	}
	j := e.job
	e.isStuck, j.isStuck, j.isBusy = true, true, false
	r.atWork--
	r.hasTried(j.name)
	r.fails(j, errStuck)
}

// answered takes in what has become of an errand.
func (r *rounds) answered(a answered) {
	j, now := a.job, clocks.Now()
	if a.isDone = true; a.isStuck {
		j.isStuck = false
	} else {
		j.isBusy = false
		r.atWork--
	}
	if a.do == tells {
		j.told = a.told
		if a.err != nil {
			r.say(zap.DebugLevel, "operators are not told what is wrong with a job", zap.String("job", j.name), zap.Error(brief.Error(a.err)))
		}
		return
	}
	r.hasTried(j.name)
	switch {
	case a.err == nil:
		r.runs(j, a.scheduler, false)
	case errors.Is(a.err, ErrJobTwice):
		if s := r.Job(j.name); s != nil && !isGone(s) {
			r.runs(j, s, true)
		} else {
			j.putOff(now)
		}
	case j.listing != j.from: // the error is of what was there before
		j.due, j.tried = j.tried.Add(firstRestart), now
	case errors.Is(a.err, ErrJobRemoved): // the view will show that, or that the job is there again
		j.putOff(now)
	default:
		r.fails(j, a.err)
	}
}

// runs notes that a job has a scheduler now.
func (r *rounds) runs(j *served, s *Scheduler, isOwn bool) {
	j.scheduler, j.isOwn, j.since, j.over = s, isOwn, clocks.Now(), lives{}
	r.isSound(j)
}

// fails notes that a job is not served. The log says so once.
func (r *rounds) fails(j *served, err error) {
	wasSound := j.fault.Err == nil
	j.fails(faultKindOf(err), brief.Error(err), clocks.Now())
	r.refuses(j.name, j.fault)
	if wasSound {
		r.say(zap.ErrorLevel, "the runner cannot serve a job; it tries again", zap.String("job", j.name), zap.Stringer("kind", j.fault.Kind),
			zap.String("cause", brief.Cut(err.Error(), 2000)), zap.String("do", remedy(j.fault.Kind)))
	}
}

// isSound notes that a job is served, or need not be.
func (r *rounds) isSound(j *served) {
	if j.fault.Err == nil {
		return
	}
	r.say(zap.InfoLevel, "what kept the runner from serving a job is over", zap.String("job", j.name), zap.Stringer("kind", j.fault.Kind),
		zap.Duration("after", clocks.Since(j.failing).Round(time.Millisecond)))
	j.fault = Fault{}
	r.accepts(j.name)
}

// decide does what there is to do about a job.
func (r *rounds) decide(name string) {
	listing := r.listingOf(r.shown, name)
	j := r.jobs[name]
	if j == nil {
		if !listing.isServed() {
			return
		}
		j = &served{name: name}
		r.jobs[name] = j
	}
	j.changed(listing)
	if j.scheduler != nil && isGone(j.scheduler) {
		r.ended(j)
	}
	var session coord.SessionID
	if r.session != nil && r.session.Context().Err() == nil {
		session = r.session.ID()
	}
	do, wait := j.next(clocks.Now(), session, r.doubt != nil)
	switch do {
	case starts, tells:
		if do == starts {
			j.from = j.listing
		}
		j.isBusy = true
		r.queue = append(r.queue, &errand{job: j, do: do, offer: j.listing.offer, says: j.says(), told: j.told, session: r.session})
	case leaves:
		r.leave(j)
	case forgets:
		r.forgets(j)
	case nothing:
		r.wakeFor(j, wait)
	}
}

// wakeFor makes the loop look at a job again after a while; 0 is never.
func (r *rounds) wakeFor(j *served, wait time.Duration) {
	switch {
	case wait == 0:
	case j.timer == nil:
		j.timer = time.AfterFunc(wait, func() { r.mail.lookAt(j.name) })
	default:
		j.timer.Reset(wait)
	}
}

// leave asks the scheduler of a job to leave, which has another implementation now, or was
// created anew. It is gone after NodeConfig.Drain and what Shutdown then takes.
func (r *rounds) leave(j *served) {
	s := j.scheduler
	r.say(zap.InfoLevel, "a job was created anew or has another implementation; its scheduler leaves", zap.String("job", j.name), zap.String("was", short(j.from.offer)), zap.String("is", short(j.listing.offer)))
	s.askToLeave()
	j.leaving = time.AfterFunc(r.config.Drain, s.stop)
}

// ended takes in that the scheduler of a job is out of the tree.
func (r *rounds) ended(j *served) {
	s, wasAsked := j.scheduler, j.leaving != nil
	if wasAsked {
		j.leaving.Stop()
	}
	j.scheduler, j.leaving = nil, nil
	if !j.isOwn {
		r.forget(s)
	}
	// It has ended in the life of the last configuration that it has obeyed, or an earlier one.
	life := lives{j.from.life, max(j.from.life, s.c.settings.modified)}
	if clocks.Since(j.since) >= soundAfter {
		j.pause = 0
	}
	switch err := s.Err(); {
	case errors.Is(err, ErrInstanceRemoved), err == nil && !wasAsked:
		j.over = life
		r.say(zap.InfoLevel, "a scheduler was shut down, and is not started again until the job is removed and created again", zap.String("job", j.name), zap.Error(err))
	case errors.Is(err, ErrJobRemoved):
		j.over = life
	case !wasAsked:
		r.fails(j, err)
	}
}

// forgets ends what the Runner knows about a job.
func (r *rounds) forgets(j *served) {
	r.isSound(j)
	r.hasTried(j.name)
	if j.timer != nil {
		j.timer.Stop()
	}
	delete(r.jobs, j.name)
}

// send sends errands out. A job that has gone meanwhile is not started.
func (r *rounds) send(ctx context.Context) {
	for len(r.queue) > 0 && r.atWork < maxErrands {
		e := r.queue[0]
		r.queue[0] = nil
		r.queue = r.queue[1:]
		if e.do == starts && !e.job.listing.isServed() {
			e.job.isBusy = false
			r.mail.lookAt(e.job.name)
			continue
		}
		r.atWork++
		r.errands.Go(func() { r.run(ctx, e) })
	}
}

// end waits for the errands, whose context has ended, and removes what operators were told.
func (r *rounds) end() {
	r.errands.Wait()
	for _, a := range r.mail.read().answers {
		if a.do == tells {
			a.job.told = a.told
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
		if r.session != nil && j.told.session == r.session.ID() {
			ops = append(ops, r.untold(j.name, r.session.ID()))
		}
	}
	r.untell(ops)
}
