package simulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// steering is what the simulation knows of the operators of one job.
type steering struct {
	suspended trouble // the job is paused, or may be
	pinned    trouble

	mu sync.Mutex
	// held is a number of a commit: no tick may begin in a later one. It is 0 if that is allowed.
	held  int64
	kills map[itemToken]kill
	open  map[string]*request
}

// itemToken names an execution.
type itemToken struct {
	item  int
	token int64
}

// kill is what an operator wanted of an execution.
type kill struct {
	again bool
	sure  bool // the registry has it
}

// request is one that has not been answered.
type request struct {
	id    string
	what  string
	at    time.Time
	items []int
	runs  int
}

func newSteering() *steering {
	return &steering{kills: map[itemToken]kill{}, open: map[string]*request{}}
}

// ops are the operations on a job, in the operator's name.
func (j *jobModel) ops() *ops.Job {
	return ops.New(j.group.sim.admin).By("operator").Job(j.config.Name)
}

// insist does something in an operator's name until the registry has an answer.
func (s *simulation) insist(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil || !errors.Is(err, coord.ErrUnavailable) && !errors.Is(err, coord.ErrUnknownOutcome) && !errors.Is(err, ops.ErrBusy) {
			return err
		}
		if elapse(ctx, time.Second) != nil { // the time is over
			return err
		}
	}
}

// refused reports an answer to an operator that he should not have got.
func (g *group) refused(j *jobModel, what string, err error) {
	for _, allowed := range []error{ops.ErrNoJob, ops.ErrPaused, ops.ErrNotPaused, ops.ErrNotRunning, ops.ErrNothingFailed, job.ErrNobodyRunsIt, job.ErrQueueFull} {
		if errors.Is(err, allowed) {
			return
		}
	}
	if err != nil {
		g.violated("%s: %s: %v", j.config.Name, what, err)
	}
}

// executing are the executions that are at work.
func (h *history) executing() []itemToken {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []itemToken
	for i := range h.items {
		if e := h.items[i].executing(); e != nil {
			list = append(list, itemToken{i, e.token})
		}
	}
	return list
}

// killRun kills an execution of a job that has one.
func (g *group) killRun() {
	first, which, again := g.random.IntN(len(g.jobs)), g.random.IntN(1<<20), g.random.IntN(2) == 0
	g.operator <- func(ctx context.Context) {
		var j *jobModel
		var runs []itemToken
		for n := 0; n < len(g.jobs) && len(runs) == 0; n++ {
			j = g.jobs[(first+n)%len(g.jobs)]
			runs = j.history.executing()
		}
		if len(runs) == 0 {
			return
		}
		r, again := runs[which%len(runs)], again && j.config.Failover && !j.failoverOff.since(time.Now())
		j.steering.mu.Lock()
		_, isKilled := j.steering.kills[r]
		if !isKilled {
			j.steering.kills[r] = kill{again: again}
		}
		j.steering.mu.Unlock()
		if isKilled {
			return
		}
		killed, err := j.ops().Kill(ctx, ops.KillRequest{Items: []int{r.item}, Token: r.token, Failover: again})
		g.note("%s: item %d, token %d killed, again %v: %v", j.config.Name, r.item, r.token, again, err)
		if len(killed) == 1 && err == nil {
			j.steering.mu.Lock()
			j.steering.kills[r] = kill{again: again, sure: true}
			j.steering.mu.Unlock()
		}
	}
}

// pauseJob pauses a job for a while.
func (g *group) pauseJob() {
	j := g.pickJob()
	makeUp := g.random.IntN(2) == 0
	j.steering.suspended.begin()
	g.operator <- func(ctx context.Context) {
		err := g.sim.insist(ctx, func() error {
			_, err := j.ops().Pause(ctx, ops.PauseRequest{MakeUp: makeUp})
			return err
		})
		if err == nil {
			j.steering.hold(g.sim.store.Revision())
		}
		g.note("%s: paused, make up %v: %v", j.config.Name, makeUp, err)
	}
	g.after(g.forAWhile(), func() { g.operator <- func(ctx context.Context) { g.resume(ctx, j); j.steering.suspended.end() } })
}

func (st *steering) hold(number int64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.held = number
}

func (g *group) resume(ctx context.Context, j *jobModel) {
	j.steering.hold(0)
	err := g.sim.insist(ctx, func() error { return j.ops().Resume(ctx, ops.ResumeRequest{}) })
	g.note("%s: resumed: %v", j.config.Name, err)
}

// pinItem pins an item to the host of a process for a while.
func (g *group) pinItem() {
	_, h := g.pick()
	j := g.pickJob()
	item, strict := g.random.IntN(j.config.ShardingTotalCount), g.random.IntN(3) == 0
	if h == nil {
		return
	}
	j.steering.pinned.begin()
	g.operator <- func(ctx context.Context) {
		g.sim.commit(ctx, func() ([]coord.Op, error) {
			value := jobtree.EncodePin(jobtree.PinDocument{Address: h.ip, Strict: strict})
			return []coord.Op{coord.Exists(j.tree.Config()), coord.Put(j.tree.Pin(item), value)}, nil
		})
		g.note("%s: item %d pinned to %s, strictly %v", j.config.Name, item, h.ip, strict)
	}
	g.after(g.forAWhile(), func() {
		g.operator <- func(ctx context.Context) {
			g.refused(j, "unpin", g.sim.insist(ctx, func() error { return j.ops().Unpin(ctx, item) }))
			g.note("%s: item %d pinned no more", j.config.Name, item)
			j.steering.pinned.end()
		}
	})
}

func (g *group) reshard() {
	j := g.pickJob()
	g.operator <- func(ctx context.Context) {
		g.refused(j, "reshard", g.sim.insist(ctx, func() error { return j.ops().Reshard(ctx) }))
		g.note("%s: resharded", j.config.Name)
	}
}

// loseAnswers lets the operator of all groups not hear what has become of his next commit.
func (g *group) loseAnswers() {
	f := memory.Fault{Method: memory.Commit, Registry: operatorName, Times: 1}
	if g.random.IntN(2) == 0 {
		f.After = coord.ErrUnknownOutcome
	} else {
		f.Before = coord.ErrUnknownOutcome
	}
	injection := g.sim.store.Inject(f)
	g.note("the operator's next commit has no answer")
	g.after(10*time.Minute, injection.Remove)
}

// request asks for runs, and waits for the answer beside other things: a trigger, a retry, or a
// backfill.
func (g *group) request() {
	j := g.pickJob()
	items := g.someItems(j)
	kind, ticks := g.random.IntN(4), 1+g.random.IntN(3)
	slices.Sort(items)
	items = slices.Compact(items)
	g.operator <- func(ctx context.Context) {
		switch kind {
		case 0, 1:
			r, err := j.ops().Trigger(ctx, job.TriggerRequest{Items: items})
			if err == nil {
				g.await(j, request{r.ID, "trigger", time.Now(), r.Items, 1}, r.Wait)
			}
			g.mayRefuse(j, "trigger", err)
		case 2:
			r, err := j.ops().Retry(ctx, ops.RetryRequest{Items: items})
			if err == nil {
				g.await(j, request{r.ID, "retry", time.Now(), r.Items, len(r.Ticks)}, r.Wait)
			}
			g.mayRefuse(j, "retry", err)
		case 3:
			c := j.config
			schedule, err := c.Ticks()
			if c.Cron == "" || err != nil {
				return
			}
			to := schedule.Prev(time.Now().Add(-24 * time.Hour))
			from := to
			for range ticks - 1 {
				from = schedule.Prev(from.Add(-time.Second))
			}
			r, err := j.ops().Backfill(ctx, ops.BackfillRequest{From: from, To: to, Items: items[:min(len(items), 2)]})
			if err == nil {
				g.await(j, request{r.ID, "backfill", time.Now(), r.Items, len(r.Ticks)}, r.Wait)
			}
			g.mayRefuse(j, "backfill", err)
		}
	}
}

// mayRefuse is refused for requests: an item may be beyond the total at that time, the schedule
// another one, and whether a request without an answer was made does not matter.
func (g *group) mayRefuse(j *jobModel, what string, err error) {
	g.note("%s: %s: %v", j.config.Name, what, err)
}

// await waits for the answer to a request, and judges it.
func (g *group) await(j *jobModel, r request, wait func(context.Context) ([]job.ItemResult, error)) {
	j.steering.mu.Lock()
	j.steering.open[r.id] = &r
	j.steering.mu.Unlock()
	g.sim.counts.requests.Add(1)
	g.sim.waiters.Add(1)
	g.sim.waiting.Go(func() {
		defer g.sim.waiters.Add(-1)
		for {
			results, err := wait(g.sim.asking)
			switch {
			case g.sim.asking.Err() != nil:
				return
			case err != nil && !errors.Is(err, job.ErrNoRequest):
				_ = elapse(g.sim.asking, time.Second) // if the time is over, the next turn ends
				continue
			}
			j.steering.mu.Lock()
			_, isOpen := j.steering.open[r.id]
			delete(j.steering.open, r.id)
			j.steering.mu.Unlock()
			if !isOpen || j.tampered.since(r.at) {
				return // the store was put back meanwhile, or somebody has tampered with the tree
			}
			if err != nil {
				g.violated("%s: %s %s: %v", j.config.Name, r.what, r.id, err)
				return
			}
			g.sim.counts.answered.Add(1)
			j.judge(r, results)
			return
		}
	})
}

// judge compares an answer with what has happened.
func (j *jobModel) judge(r request, results []job.ItemResult) {
	h := j.history
	h.mu.Lock()
	defer h.mu.Unlock()
	for n, result := range results {
		it := h.item(result.Item)
		wrong := func(format string, args ...any) {
			h.sim.violated(h.job, result.Item, it.slice(len(it.executions)-1), fmt.Sprintf("%s %s of %s: %s %s: ", r.what, r.id, clock(r.at), result.Outcome, result.Error)+fmt.Sprintf(format, args...))
		}
		if n >= len(r.items) || result.Item != r.items[n] {
			wrong("it was not asked for")
			continue
		}
		at := len(it.executions) - 1
		for at >= 0 && it.executions[at].token != result.Token {
			at--
		}
		if result.Token != 0 && at < 0 {
			wrong("nothing ran with token %d", result.Token)
			continue
		}
		var last execution
		if at >= 0 {
			last = it.executions[at]
		}
		_, isKilled := j.steering.killOf(itemToken{result.Item, result.Token})
		switch result.Outcome {
		case job.OutcomeOK:
			if at < 0 || last.outcome != finished || result.Runs != r.runs {
				wrong("%d runs, the last one %s", result.Runs, last.outcome)
			}
		case job.OutcomeFailed, job.OutcomePanic, job.OutcomeTimeout:
			// One of several runs may have been cut short; that has no token.
			if at < 0 && (r.runs == 1 || !j.mayBeCut(r, result.Item)) || at >= 0 && r.runs == 1 && last.outcome == finished && result.Outcome == job.OutcomeFailed {
				wrong("its last run %s", last.outcome)
			}
		case job.OutcomeKilled:
			if at >= 0 && !isKilled {
				wrong("nobody has killed it")
			}
		case job.OutcomeCut:
			if !j.mayBeCut(r, result.Item) {
				wrong("the job has failover")
			}
		case job.OutcomeSkipped:
			if !j.disabled.since(r.at) && !j.shrunkSince(result.Item, r.at) && !j.changed.since(r.at) {
				wrong("it was not disabled")
			}
		default:
			wrong("that is no outcome")
		}
	}
}

// mayBeCut reports whether an item may have been cut short for good while a request was open:
// nobody runs it again then. The lock of the history is held.
func (j *jobModel) mayBeCut(r request, item int) bool {
	return j.failoverOff.since(r.at) || j.shrunkSince(item, r.at) || j.changed.since(r.at) || j.killedSince(item, r.at)
}

func (st *steering) killOf(r itemToken) (k kill, isKilled bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	k, isKilled = st.kills[r]
	return k, isKilled
}

// killedSince reports whether an execution of an item was killed that began after a time, or
// had not ended by then.
func (j *jobModel) killedSince(item int, at time.Time) bool {
	return slices.ContainsFunc(j.history.items[item].executions, func(e execution) bool {
		_, isKilled := j.steering.killOf(itemToken{item, e.token})
		return isKilled && (e.end.IsZero() || e.end.After(at))
	})
}

// forget drops what the store may have forgotten.
func (st *steering) forget() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.held = 0
	clear(st.kills)
	clear(st.open)
}

// isAsked reports whether somebody has asked for what runs.
func isAsked(s job.Source) bool {
	return s == job.SourceManual || s == job.SourceRetry || s == job.SourceBackfill
}

// mayBegin checks a run for a tick against pauses. The lock of the history is held.
func (h *history) mayBegin(ref reference, e execution) {
	h.steering.mu.Lock()
	held := h.steering.held
	h.steering.mu.Unlock()
	if held != 0 && e.token > held {
		h.violated(ref, "its tick began although the job has been paused since commit %d", held)
	}
}

// auditRequests checks that no request waits for an item that is idle.
func (a *auditor) auditRequests() {
	st := a.job.steering
	st.mu.Lock()
	var open []*request
	for _, r := range st.open {
		open = append(open, r)
	}
	st.mu.Unlock()
	a.job.history.mu.Lock()
	defer a.job.history.mu.Unlock()
	for _, r := range open {
		there := a.state.Request(r.id)
		if there == nil {
			a.violated("%s %s of %s is gone", r.what, r.id, clock(r.at))
			continue
		}
		for _, i := range r.items {
			if !there.IsThrough(i) && a.state.Item(i).Running == nil {
				a.violatedItem(i, "it is idle, and %s %s of %s waits for it", r.what, r.id, clock(r.at))
			}
		}
	}
	for i := range a.state.Kills {
		if a.state.Item(i).Running == nil {
			a.violatedItem(i, "a kill is left")
		}
	}
	if s := a.state.Schedule; s != nil && s.IsPaused() {
		a.violated("it is paused")
	}
}
