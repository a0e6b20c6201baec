package engine

import (
	"context"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/once"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// modelTick is what the model knows of a tick that once-listeners are told of.
type modelTick struct {
	members, skipped    []int
	startBy, completeBy time.Time
	isGone              bool                // its node was removed
	isStarted           bool                // a call of Started has returned
	isPaused            bool                // the job was paused since it began
	disabled            map[int]bool        // the items that were disabled since then
	calls               map[bool]*modelCall // the last one of Started, and of Completed (true)
}

// modelCall is a call that a member has begun.
type modelCall struct {
	*once.Call
	p   *member
	ctx context.Context
}

// over reports whether nobody waits for the call any more: its caller has ended, or has been told
// to end it.
func (c *modelCall) over() bool { return c.p.crashed || c.ctx.Err() != nil }

// modelListener is the listener ONCE of a member, which is never called: see member.call.
func modelListener() *exec.Listener {
	return &exec.Listener{Name: "ONCE", Once: jobtype.OnceListenerFuncs{}, Times: jobtype.OnceTimes{Call: 20 * time.Second, Tick: 3 * time.Minute}}
}

// lookAtTicks notes the ticks in the tree.
func (m *model) lookAtTicks() {
	s := m.state()
	for _, g := range s.Guarantees {
		if g.Err != nil {
			m.fatalf("the tick %s: %v", g.Tick, g.Err)
		}
		t := m.ticks[g.Tick.UnixMilli()]
		if t == nil {
			t = &modelTick{members: g.Items, calls: map[bool]*modelCall{}, disabled: map[int]bool{}}
			m.ticks[g.Tick.UnixMilli()] = t
		}
		if t.isGone || !slices.Equal(t.members, g.Items) {
			m.fatalf("the tick %s is told of twice", g.Tick)
		}
		t.skipped, t.startBy, t.completeBy = g.Skipped, g.StartBy, g.CompleteBy
		t.isPaused = t.isPaused || s.Schedule.IsPaused()
		for _, i := range g.Items {
			t.disabled[i] = t.disabled[i] || s.Item(i).Disabled
		}
	}
	for tick, t := range m.ticks {
		t.isGone = s.Guarantee(time.UnixMilli(tick)) == nil
	}
}

// call begins a call of a once-listener.
func (p *member) call(_ *decide.World, call decide.Call) *once.Call {
	m, what := p.m, map[bool]string{false: "Started", true: "Completed"}[call.IsEnd]
	m.logf("%s: calls %s of %s, again %v", p.name, what, call.Tick.Format("04:05"), call.Again)
	ctx, cancel := context.WithCancelCause(p.c.session.Context())
	made := &modelCall{once.NewCall(cancel), p, ctx}
	t := m.ticks[call.Tick.UnixMilli()]
	if ctx.Err() != nil {
		return made.Call
	}
	if before := t.calls[call.IsEnd]; before != nil {
		switch {
		case before.IsRecorded():
			m.fatalf("%s of %s is called after it has been made", what, call.Tick)
		case !before.over():
			m.fatalf("%s of %s is called twice at a time", what, call.Tick)
		case !call.Again:
			m.fatalf("%s of %s is called again, and does not say so", what, call.Tick)
		}
	}
	t.calls[call.IsEnd] = made
	if call.IsEnd && m.now.Before(t.completeBy.Add(-2*m.how.skew)) {
		m.checkEnded(call.Tick, t)
	}
	return made.Call
}

// checkEnded checks that all members of a tick have ended.
func (m *model) checkEnded(tick time.Time, t *modelTick) {
	for _, p := range m.members {
		for r, ctx := range p.handler {
			if r.Request == "" && r.Tick.Equal(tick) && slices.Contains(t.members, r.Item) && !slices.Contains(t.skipped, r.Item) && !p.crashed && ctx.Err() == nil {
				m.fatalf("Completed of %s is called while item %d runs on %s", tick, r.Item, p.name)
			}
		}
	}
	for _, f := range m.state().FailoverItems {
		if f.Tick.Equal(tick) && slices.Contains(t.members, f.Item) && !slices.Contains(t.skipped, f.Item) {
			m.fatalf("Completed of %s is called while item %d waits to be run again", tick, f.Item)
		}
	}
}

// checkSkipped checks that no member begins that was skipped, unless an operator kept it from
// that for a while.
func (m *model) checkSkipped(r *run) {
	t := m.ticks[r.Tick.UnixMilli()]
	if t == nil || r.Request != "" || r.Tick.Nanosecond() != 0 || m.how.config || m.how.torn || t.isPaused || t.disabled[r.Item] {
		return
	}
	if slices.Contains(t.skipped, r.Item) {
		m.fatalf("item %d begins for %s, and was skipped", r.Item, r.Tick)
	}
}

// checkStarted checks that an execution does not begin before Started of its tick has returned.
func (m *model) checkStarted(r *run) {
	t := m.ticks[r.Tick.UnixMilli()]
	if t == nil || t.isStarted || r.Request != "" || r.Tick.Nanosecond() != 0 || !slices.Contains(t.members, r.Item) || slices.Contains(t.skipped, r.Item) {
		return
	}
	if !m.now.Before(t.startBy.Add(-2 * m.how.skew)) {
		return
	}
	// It may have been called again since the claim. Then the time that counts is the one before.
	g := jobtree.Read(m.history[r.Token-m.first], m.job).Guarantee(r.Tick)
	if g == nil || m.now.Before(g.StartBy.Add(-2*m.how.skew)) {
		m.fatalf("item %d begins before Started of %s has returned", r.Item, r.Tick)
	}
}

// openCalls returns the calls that have not returned, in the order of their ticks.
func (m *model) openCalls() []*modelCall {
	var list []*modelCall
	for _, tick := range slices.Sorted(keysOf(m.ticks)) {
		t := m.ticks[tick]
		for _, isEnd := range []bool{false, true} {
			if call := t.calls[isEnd]; call != nil && !call.over() && !call.IsDone() {
				list = append(list, call)
			}
		}
	}
	return list
}

func keysOf(ticks map[int64]*modelTick) func(func(int64) bool) {
	return func(yield func(int64) bool) {
		for tick := range ticks {
			if !yield(tick) {
				return
			}
		}
	}
}

// callReturns lets a call return.
func (m *model) callReturns(call *modelCall) {
	for tick, t := range m.ticks {
		for isEnd, c := range t.calls {
			if c == call {
				m.logf("%s: the call for %s returns, Completed %v", call.p.name, time.UnixMilli(tick).UTC().Format("04:05"), isEnd)
				t.isStarted = t.isStarted || !isEnd
			}
		}
	}
	call.End()
	call.p.c.requestFullPass()
}

func (m *model) doCallReturn() {
	if open := m.openCalls(); len(open) > 0 {
		m.callReturns(rapid.SampledFrom(open).Draw(m.t, "call"))
	}
}

// waitsForTicks reports whether ticks are left that somebody is to look after.
func (m *model) waitsForTicks() bool {
	s := m.state()
	return len(s.Guarantees) > 0 && len(m.available(s)) > 0
}

// checkTicks checks that nothing is left of the ticks when their time is over.
func (m *model) checkTicks() {
	if left := m.state().Guarantees; len(left) > 0 {
		m.fatalf("the tick %s is left: %+v", left[0].Tick, left[0].GuaranteeDocument)
	}
}
