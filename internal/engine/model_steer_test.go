package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// steering is what the model knows of operators who kill, pause and make requests.
type steering struct {
	kills map[itemToken]bool // whether a run that was killed is to begin again
	asked int                // requests that were made
	ended map[string]bool    // requests that were cancelled
	begun map[string]bool    // by request, item and number: it has begun
	turn  map[int]string     // by item: the last request for which it has begun
}

// itemToken names a run. Runs of several items may have the same token.
type itemToken struct {
	item  int
	token int64
}

func newSteering() steering {
	return steering{kills: map[itemToken]bool{}, begun: map[string]bool{}, ended: map[string]bool{}, turn: map[int]string{}}
}

// maxModelRequests bounds the requests of a history, so that it comes to an end.
const maxModelRequests = 4

// doKill kills what runs, as an operator does.
func (m *model) doKill() {
	s := m.state()
	var running []int
	for i := range s.Items {
		if s.Items[i].Running != nil && s.Items[i].Fired != nil {
			running = append(running, i)
		}
	}
	if len(running) == 0 {
		return
	}
	i := rapid.SampledFrom(running).Draw(m.t, "killed")
	again := m.config.Failover && rapid.Bool().Draw(m.t, "again")
	fired := s.Item(i).Fired
	if _, isKilled := m.kills[itemToken{i, fired.Modified}]; isKilled {
		return
	}
	m.logf("operator: kills item %d, token %d, again %v", i, fired.Modified, again)
	value := jobtree.EncodeKill(jobtree.KillDocument{Token: fired.Modified, Failover: again})
	if !m.operate(coord.AtVersion(m.job.Fired(i), fired.Version), coord.Exists(m.job.Running(i)), coord.Put(m.job.Kill(i), value)) {
		return
	}
	m.kills[itemToken{i, fired.Modified}] = again
	if again {
		return
	}
	// It may have been cut short already, and is not run again now.
	delete(m.owed, i)
	at := slices.IndexFunc(s.FailoverItems, func(f jobtree.FailoverItem) bool { return f.Item == i })
	if at < 0 {
		delete(m.cut, i)
	}
}

// isKilled reports whether a run is not to begin again.
func (m *model) isKilled(item int, token int64) bool {
	again, killed := m.kills[itemToken{item, token}]
	return killed && !again
}

// checkKilled checks a run whose handler returns.
func (m *model) checkKilled(r *run, ctx context.Context, err error) {
	if !errors.Is(context.Cause(ctx), jobtype.ErrKilled) {
		return
	}
	again, killed := m.kills[itemToken{r.Item, r.Token}]
	if !killed {
		m.fatalf("item %d with token %d was killed, and nobody wanted that", r.Item, r.Token)
	}
	if again && err != nil {
		m.mustRunAgainAs(r)
	}
}

// doPause pauses the job, or ends a pause.
func (m *model) doPause() {
	s := m.state().Schedule
	if s == nil || rapid.IntRange(0, 2).Draw(m.t, "not") == 0 {
		return
	}
	if s.IsPaused() {
		m.resume()
		return
	}
	d := s.ScheduleDocument
	d.Paused, d.MakeUp = m.now, rapid.Bool().Draw(m.t, "make up")
	m.logf("operator: pauses, make up %v", d.MakeUp)
	m.schedule(s, d)
}

func (m *model) resume() {
	s := m.state().Schedule
	if s == nil || !s.IsPaused() {
		return
	}
	d := s.ScheduleDocument
	if d.MakeUp {
		d.MakeUpTo = m.now
	} else {
		d.Since = m.now
	}
	d.Pause = jobtree.Pause{}
	m.logf("operator: resumes")
	m.schedule(s, d)
}

func (m *model) schedule(s *jobtree.Schedule, d jobtree.ScheduleDocument) {
	value, err := jobtree.EncodeSchedule(d)
	if err != nil {
		m.t.Fatal(err)
	}
	m.operate(coord.SetAt(m.job.Schedule(), value, s.Version))
}

// doRequest asks for runs.
func (m *model) doRequest() {
	if m.asked == maxModelRequests {
		return
	}
	d := jobtree.RequestDocument{
		Items:  rapid.SliceOfNDistinct(rapid.IntRange(0, m.config.ShardingTotalCount-1), 1, -1, rapid.ID[int]).Draw(m.t, "items"),
		Source: rapid.SampledFrom([]string{"MANUAL", "RETRY", "BACKFILL"}).Draw(m.t, "source"),
		Kept:   rapid.Bool().Draw(m.t, "kept"),
	}
	d.Parameter = fmt.Sprint("of request ", m.asked)
	slices.Sort(d.Items)
	switch d.Source {
	case "RETRY":
		d.Ticks = []time.Time{begin.Add(-time.Minute)}
	case "BACKFILL":
		d.Ticks = []time.Time{begin.Add(-3 * time.Minute), begin.Add(-2 * time.Minute)}
		d.Halts = rapid.Bool().Draw(m.t, "halts")
	}
	id, ops, err := decide.Submit(m.state(), m.job, d, fmt.Sprint("r", m.asked))
	if err != nil {
		m.fatalf("a request is refused: %v", err)
	}
	m.logf("operator: requests %s %v, %s", d.Source, d.Items, id)
	if m.operate(ops...) {
		m.asked++
	}
}

// doCancel ends a request, as an operator does.
func (m *model) doCancel() {
	s := m.state()
	var open []*jobtree.Request
	for _, r := range s.Requests {
		if r.Ended.IsZero() {
			open = append(open, r)
		}
	}
	if len(open) == 0 || rapid.IntRange(0, 2).Draw(m.t, "not") == 0 {
		return
	}
	r := rapid.SampledFrom(open).Draw(m.t, "cancelled")
	d := r.RequestDocument
	d.Ended = m.now
	value, err := jobtree.EncodeRequest(d)
	if err != nil {
		m.t.Fatal(err)
	}
	m.logf("operator: cancels %s", r.ID)
	if !m.operate(coord.SetAt(m.job.Request(r.ID), value, r.Version)) {
		return
	}
	m.ended[r.ID] = true
	for n, i := range r.Items {
		if r.RunsAt(n) && m.isLastFor(r, i) {
			delete(m.owed, i) // it may have been cut short already, and is not run again now
		}
	}
}

// isLastFor reports whether the last run of an item, or what it waits for to be run again, is for a request.
func (m *model) isLastFor(r *jobtree.Request, i int) bool {
	s := m.state()
	p := s.Request(r.ID).Progress(i)
	at := slices.IndexFunc(s.FailoverItems, func(f jobtree.FailoverItem) bool { return f.Item == i })
	if at >= 0 {
		return s.FailoverItems[at].Modified == p.Modified
	}
	return s.Item(i).Fired != nil && s.Item(i).Fired.Modified == p.Modified
}

// requestOf returns the request for which an item was claimed last, as the tree tells; nil if there is none.
func (m *model) requestOf(s *jobtree.State, i int) *jobtree.Request {
	for _, r := range s.Requests {
		if p := r.Progress(i); p != nil && p.Runner != "" && s.Item(i).Fired != nil && p.Modified == s.Item(i).Fired.Modified {
			return r
		}
	}
	return nil
}

// beforeClaim returns the tree as it was before a run was claimed.
func (m *model) beforeClaim(r *run) *jobtree.State {
	return jobtree.Read(m.history[r.Token-m.first-1], m.job)
}

// checkSteered checks a run that begins.
func (m *model) checkSteered(p *member, r *run) {
	switch r.Source {
	case decide.Normal, decide.Misfire:
		if before := m.beforeClaim(r); before.Schedule != nil && before.Schedule.IsPaused() {
			m.fatalf("%s: item %d begins for %s in a pause", p.name, r.Item, r.Tick)
		}
	case decide.Manual, decide.Retry, decide.Backfill:
		if r.Request == "" {
			m.fatalf("%s: item %d begins, and nobody has asked for it", p.name, r.Item)
		}
		key := fmt.Sprintf("%s/%d/%d", r.Request, r.Item, r.Done)
		if m.steering.begun[key] && !m.hasTurnAgain(r) {
			m.fatalf("%s: %s begins once more", p.name, key)
		}
		// A view that shows in parts may have a later request before an earlier one.
		if !m.how.torn && r.Request < m.turn[r.Item] {
			m.fatalf("%s: item %d begins for %s after %s", p.name, r.Item, r.Request, m.turn[r.Item])
		}
		m.turn[r.Item] = r.Request
		fallthrough
	case decide.Failover:
		if r.Request == "" {
			return
		}
		if request := m.beforeClaim(r).Request(r.Request); request == nil || !request.Ended.IsZero() || request.Parameter != r.Parameter {
			m.fatalf("%s: item %d begins with %q for %+v", p.name, r.Item, r.Parameter, request)
		}
		m.steering.begun[fmt.Sprintf("%s/%d/%d", r.Request, r.Item, r.Done)] = true
		if key := fmt.Sprintf("%s/%d/%d", r.Request, r.Item, r.Done+1); m.steering.begun[key] {
			m.fatalf("%s: item %d begins for %s after its next tick", p.name, r.Item, r.Request)
		}
	}
}

// hasTurnAgain reports whether the turn of a run was given back before it was claimed: a run for the request was
// cut short while the item waited already.
func (m *model) hasTurnAgain(r *run) bool {
	request := m.beforeClaim(r).Request(r.Request)
	if request == nil {
		return false
	}
	p := request.Progress(r.Item)
	return p != nil && p.Runner == ""
}

// checkProgress checks what is written of an item's part of a request.
func (m *model) checkProgress(before, after *coord.Node) {
	if before == nil || after == nil || !coord.Within(after.Path, m.job.Requests()) {
		return
	}
	if !bytes.Equal(before.Value, after.Value) && strings.Contains(string(before.Value), "out: ") && strings.Count(after.Path, "/") == 3 {
		m.fatalf("%s was %q, and is %q", after.Path, before.Value, after.Value)
	}
}

// checkRequests checks that nothing is left of requests in a cluster that has settled down.
func (m *model) checkRequests(s *jobtree.State) {
	for _, r := range s.Requests {
		if slices.ContainsFunc(r.Items, func(i int) bool { return s.Item(i).Disabled && !r.IsThrough(i) }) {
			continue // it waits to be run again
		}
		if r.Ended.IsZero() || !r.Kept {
			m.fatalf("the request %s has not ended", r.ID)
		}
		for _, i := range r.Items {
			p := r.Progress(i)
			if p != nil && p.Runner != "" {
				m.fatalf("the request %s has ended, and item %d runs for it", r.ID, i)
			}
			if m.ended[r.ID] && (p == nil || p.Outcome == "") {
				continue
			}
			if p == nil || p.Outcome == "" {
				m.fatalf("the request %s has ended, and item %d has not", r.ID, i)
			}
			if p.Outcome == jobtree.OutcomeOK && !m.steering.begun[fmt.Sprintf("%s/%d/0", r.ID, i)] {
				m.fatalf("item %d of %s is said to have run", i, r.ID)
			}
		}
	}
	if len(s.Kills) > 0 {
		m.fatalf("kills are left: %v", s.Kills)
	}
}
