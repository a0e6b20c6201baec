package simulation

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// script is a history of item 0 that is written by hand.
type script struct {
	*testing.T
	g     *group
	j     *jobModel
	found []string
}

func newScript(t *testing.T) *script {
	s := &script{T: t}
	sim := newSimulation(t, size{shapes: []shape{{name: "single", groups: 1, hosts: 3, session: 10 * time.Second, jobs: single}}}, 1, newCounts())
	sim.report = func(v string) { s.found = append(s.found, v) }
	s.g = sim.groups[0]
	s.j = s.g.jobs[0]
	s.j.config.Misfire = job.On
	return s
}

// on returns a process that runs nothing.
func (s *script) on(name string) *host {
	h := &host{group: s.g, name: name, ended: make(chan struct{})}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	return h
}

// started is an execution of a script.
type started struct {
	s   *script
	ref reference
	cut context.CancelCauseFunc
}

func (s *script) begin(h *host, source job.Source, minute int, token int64) *started {
	pass(time.Second)
	ctx, cancel := context.WithCancelCause(context.Background())
	tick := time.Date(2000, 1, 1, 0, minute, 0, 0, time.UTC)
	ref := s.j.history.begin(ctx, h, job.ShardingContext{Source: source, ScheduledTime: tick, Token: token, InstanceID: h.name})
	return &started{s, ref, cancel}
}

func (e *started) end(err error) {
	pass(time.Second)
	e.cut(err)
	e.s.j.history.end(e.ref, err)
}

func (s *script) audit(item jobtree.Item) {
	a := auditor{
		group: s.g, job: s.j, now: time.Now(), tick: time.Date(2000, 1, 1, 0, 10, 0, 0, time.UTC),
		state: &jobtree.State{Items: []jobtree.Item{item}}, instances: map[string]*host{"a": s.on("a")}, running: map[string][]int{"a": nil}, dealt: []string{"a"},
	}
	a.auditItem(0)
}

// kill is what an operator wants of the execution with a token.
func (s *script) kill(token int64, k kill) { s.j.steering.kills[itemToken{0, token}] = k }

// answer is the answer to a trigger of item 0.
func (s *script) answer(results ...job.ItemResult) {
	s.j.judge(request{id: "r1", what: "trigger", at: time.Now(), items: []int{0}, runs: 1}, results)
}

func (s *script) auditRequests(state jobtree.State) {
	a := auditor{group: s.g, job: s.j, state: &state}
	a.auditRequests()
}

func mark(id string) *jobtree.Mark { return &jobtree.Mark{ID: id} }

func firedAt(minute int) *jobtree.Fired {
	return &jobtree.Fired{Tick: time.Date(2000, 1, 1, 0, minute, 0, 0, time.UTC)}
}

// The checks report what breaks a promise, and nothing else.
func TestChecker(t *testing.T) {
	for _, c := range []struct {
		name string
		want string // in the report; empty for none
		play func(*script)
	}{
		{"one tick after the other", "", func(s *script) {
			a := s.on("a")
			s.begin(a, job.SourceNormal, 1, 10).end(nil)
			s.begin(a, job.SourceMisfire, 3, 20).end(errFailed)
			s.begin(a, job.SourceManual, 3, 30).end(nil)
		}},
		{"a tick twice", "its tick was begun with token 10, and again with token 30", func(s *script) {
			s.begin(s.on("a"), job.SourceNormal, 1, 10).end(nil)
			s.begin(s.on("b"), job.SourceNormal, 2, 20).end(nil)
			s.begin(s.on("c"), job.SourceMisfire, 1, 30).end(nil)
		}},
		{"tokens go back", "token 10 began after 20", func(s *script) {
			s.begin(s.on("a"), job.SourceNormal, 1, 20).end(nil)
			s.begin(s.on("b"), job.SourceNormal, 2, 10).end(nil)
		}},
		{"two at once", "it began while token 10 was at work", func(s *script) {
			s.begin(s.on("a"), job.SourceNormal, 1, 10)
			s.begin(s.on("b"), job.SourceNormal, 2, 20)
		}},
		{"two at once, but the context of the first has ended", "", func(s *script) {
			s.begin(s.on("a"), job.SourceNormal, 1, 10).cut(coord.ErrSessionLost)
			s.begin(s.on("b"), job.SourceFailover, 1, 20)
		}},
		{"two at once, but the session of the first was removed", "", func(s *script) {
			a := s.on("a")
			s.begin(a, job.SourceNormal, 1, 10)
			a.expired.Store(15)
			s.begin(s.on("b"), job.SourceFailover, 1, 20)
		}},
		{"finished in peace and run again", "it was finished with token 10, in peace", func(s *script) {
			s.begin(s.on("a"), job.SourceNormal, 1, 10).end(nil)
			s.begin(s.on("b"), job.SourceFailover, 1, 20).end(nil)
		}},
		{"finished in a crash and run again", "", func(s *script) {
			a := s.on("a")
			s.begin(a, job.SourceNormal, 1, 10).end(nil)
			a.trouble.begin()
			s.begin(s.on("b"), job.SourceFailover, 1, 20).end(nil)
		}},
		{"session lost without a reason", "its session was lost on a process that nothing happened to", func(s *script) {
			s.begin(s.on("a"), job.SourceNormal, 1, 10).end(coord.ErrSessionLost)
		}},
		{"taken from a live process", "it was taken away from a process that lives", func(s *script) {
			s.begin(s.on("a"), job.SourceNormal, 1, 10).end(job.ErrItemLost)
		}},
		{"shut down without being told to", "on a process that goes on", func(s *script) {
			s.begin(s.on("a"), job.SourceNormal, 1, 10).end(job.ErrShutdown)
		}},
		{"an end of another kind", "its context ended with", func(s *script) {
			s.begin(s.on("a"), job.SourceNormal, 1, 10).end(context.Canceled)
		}},
		{"killed", "", func(s *script) {
			s.kill(10, kill{sure: true})
			s.begin(s.on("a"), job.SourceNormal, 10, 10).end(job.ErrKilled)
			s.audit(jobtree.Item{Owner: mark("a"), Fired: firedAt(10)})
		}},
		{"killed, and nobody wanted that", "it was killed, and nobody wanted that", func(s *script) {
			s.kill(10, kill{sure: true})
			s.begin(s.on("a"), job.SourceNormal, 1, 20).end(job.ErrKilled)
		}},
		{"killed and run again", "it was killed with token 10, and is run again", func(s *script) {
			s.kill(10, kill{sure: true})
			s.begin(s.on("a"), job.SourceNormal, 1, 10).end(job.ErrKilled)
			s.begin(s.on("b"), job.SourceFailover, 1, 20).end(nil)
		}},
		{"killed to be run again", "", func(s *script) {
			s.kill(10, kill{sure: true, again: true})
			s.begin(s.on("a"), job.SourceNormal, 10, 10).end(job.ErrKilled)
			s.begin(s.on("b"), job.SourceFailover, 10, 20).end(nil)
			s.audit(jobtree.Item{Owner: mark("a"), Fired: firedAt(10)})
		}},
		{"killed to be run again, and forgotten", "token 10 was cut short and not run again", func(s *script) {
			s.kill(10, kill{sure: true, again: true})
			s.begin(s.on("a"), job.SourceNormal, 10, 10).end(job.ErrKilled)
			s.audit(jobtree.Item{Owner: mark("a"), Fired: firedAt(10)})
		}},
		{"a tick in a pause", "paused since commit 15", func(s *script) {
			s.begin(s.on("a"), job.SourceNormal, 1, 10).end(nil)
			s.j.steering.hold(15)
			s.begin(s.on("a"), job.SourceNormal, 2, 20).end(nil)
		}},
		{"what is asked for in a pause", "", func(s *script) {
			s.j.steering.hold(15)
			s.begin(s.on("a"), job.SourceManual, 2, 20).end(nil)
			s.begin(s.on("a"), job.SourceBackfill, 0, 30).end(nil)
		}},
		{"an answer", "", func(s *script) {
			s.begin(s.on("a"), job.SourceManual, 2, 20).end(nil)
			s.answer(job.ItemResult{Outcome: job.OutcomeOK, Token: 20, Runs: 1})
		}},
		{"an answer about a run that nobody knows", "nothing ran with token 30", func(s *script) {
			s.begin(s.on("a"), job.SourceManual, 2, 20).end(nil)
			s.answer(job.ItemResult{Outcome: job.OutcomeOK, Token: 30, Runs: 1})
		}},
		{"an answer that is too good", "the last one failed", func(s *script) {
			s.begin(s.on("a"), job.SourceManual, 2, 20).end(errFailed)
			s.answer(job.ItemResult{Outcome: job.OutcomeOK, Token: 20, Runs: 1})
		}},
		{"an answer that is too bad", "its last run finished", func(s *script) {
			s.begin(s.on("a"), job.SourceManual, 2, 20).end(nil)
			s.answer(job.ItemResult{Outcome: job.OutcomeFailed, Token: 20, Runs: 1})
		}},
		{"an answer about another item", "it was not asked for", func(s *script) { s.answer(job.ItemResult{Item: 1, Outcome: job.OutcomeOK}) }},
		{"said to be killed", "nobody has killed it", func(s *script) {
			s.begin(s.on("a"), job.SourceManual, 2, 20).end(errFailed)
			s.answer(job.ItemResult{Outcome: job.OutcomeKilled, Token: 20, Runs: 1})
		}},
		{"said to be cut short", "the job has failover", func(s *script) { s.answer(job.ItemResult{Outcome: job.OutcomeCut}) }},
		{"said to be disabled", "it was not disabled", func(s *script) { s.answer(job.ItemResult{Outcome: job.OutcomeSkipped}) }},
		{"a request that waits for nothing", "waits for it", func(s *script) {
			s.j.steering.open["r1"] = &request{id: "r1", what: "trigger", items: []int{0}}
			s.auditRequests(jobtree.State{Requests: []*jobtree.Request{{ID: "r1", RequestDocument: jobtree.RequestDocument{Items: []int{0}}}}})
		}},
		{"a request that is gone", "is gone", func(s *script) {
			s.j.steering.open["r1"] = &request{id: "r1", what: "trigger", items: []int{0}}
			s.auditRequests(jobtree.State{})
		}},
		{"a pause that is left", "it is paused", func(s *script) {
			s.auditRequests(jobtree.State{Schedule: &jobtree.Schedule{ScheduleDocument: jobtree.ScheduleDocument{Pause: jobtree.Pause{Paused: time.Now()}}}})
		}},
		{"a kill that is left", "a kill is left", func(s *script) {
			s.auditRequests(jobtree.State{Kills: map[int]*jobtree.Kill{0: {}}})
		}},
		{"all is well", "", func(s *script) {
			s.begin(s.on("a"), job.SourceNormal, 10, 10).end(nil)
			s.audit(jobtree.Item{Owner: mark("a"), Fired: firedAt(10)})
		}},
		{"nobody owns it", "it is idle and has no live owner: gone", func(s *script) {
			s.audit(jobtree.Item{Owner: mark("gone"), Fired: firedAt(10)})
		}},
		{"a record is left", "the record of a run on a is left", func(s *script) {
			s.begin(s.on("a"), job.SourceNormal, 10, 10).end(nil)
			pass(time.Minute)
			s.audit(jobtree.Item{Owner: mark("a"), Running: mark("a"), Fired: firedAt(10)})
		}},
		{"it runs without a record", "it runs on a without a record", func(s *script) {
			s.begin(s.on("a"), job.SourceNormal, 10, 10)
			s.audit(jobtree.Item{Owner: mark("a"), Fired: firedAt(10)})
		}},
		{"a tick is missed", "tick 01 00:10:00.000 was missed", func(s *script) {
			s.begin(s.on("a"), job.SourceNormal, 9, 10).end(nil)
			s.audit(jobtree.Item{Owner: mark("a"), Fired: firedAt(9)})
		}},
		{"a tick is begun and nothing ran", "tick 01 00:10:00.000 has no run", func(s *script) {
			s.audit(jobtree.Item{Owner: mark("a"), Fired: firedAt(10)})
		}},
		{"cut short and forgotten", "token 10 was cut short and not run again", func(s *script) {
			a := s.on("a")
			a.cancel(errLeave)
			s.begin(a, job.SourceNormal, 10, 10).end(job.ErrShutdown)
			s.audit(jobtree.Item{Owner: mark("a"), Fired: firedAt(10)})
		}},
		{"cut short twice and run again once", "", func(s *script) {
			a := s.on("a")
			a.cancel(errLeave)
			s.begin(a, job.SourceNormal, 9, 10).end(job.ErrShutdown)
			s.begin(a, job.SourceNormal, 10, 20).end(job.ErrShutdown)
			s.begin(a, job.SourceFailover, 10, 30).end(nil)
			s.audit(jobtree.Item{Owner: mark("a"), Fired: firedAt(10)})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScript(t)
				c.play(s)
				if found := strings.Join(s.found, "\n"); (found != "") != (c.want != "") || !strings.Contains(found, c.want) {
					t.Errorf("found %q, want %q", found, c.want)
				}
			})
		})
	}
}
