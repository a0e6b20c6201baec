package decide_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// history is a job with MaxItems in which anything may happen: instances come, go and end, items run for
// long, their runs are cut short and taken over, and the strategy changes its answer.
type history struct {
	*fixture
	rt     *rapid.T
	works  map[string]*decide.Work // of the instances that are there
	answer []string                // of the strategy, as numbers of instances
	joined int                     // how many instances have joined
	story  []string
}

func (h *history) ids() []string { return slices.Sorted(maps.Keys(h.works)) }

func (h *history) one(what string) string { return rapid.SampledFrom(h.ids()).Draw(h.rt, what) }

func (h *history) join() {
	const ids = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if h.joined == len(ids) {
		return
	}
	id := ids[h.joined : h.joined+1]
	h.joined++
	h.works[id] = decide.NewWork()
	h.members(id)
	h.told("%s joins", id)
	h.elect()
}

func (h *history) end() {
	if len(h.works) > 1 {
		id := h.one("ends")
		delete(h.works, id)
		h.crash(id)
		h.told("%s ends", id)
		h.elect()
	}
}

// leave takes an instance out that still runs something.
func (h *history) leave() {
	id := h.one("leaves")
	if state := h.state(); len(state.Instances) > 1 && !state.Leader.Is(id) {
		h.remove("instances/" + id)
		h.told("%s leaves", id)
	}
}

// elect returns the leader, and makes an instance lead if there is none; "" if none can.
func (h *history) elect() string {
	state := h.state()
	if state.Leader != nil {
		return state.Leader.ID
	}
	for _, id := range h.ids() {
		if _, isThere := state.Instances[id]; isThere {
			h.leader(id)
			return id
		}
	}
	return ""
}

func (h *history) state() *jobtree.State { return jobtree.Read(h.store.Snapshot(), h.job) }

// deal assigns as the leader does. Other things happen between its commits, and some of them are lost.
func (h *history) deal() (isDone bool) {
	leader := h.elect()
	if leader == "" {
		return true
	}
	p := h.pass(leader)
	eligible := p.Eligible()
	owners := make([]string, len(h.answer))
	for i, n := range h.answer {
		owners[i] = eligible[int(n[0])%len(eligible)].ID
	}
	changes := p.Assign(p.Place(owners))
	var alone []decide.Change // a commit that fails is divided, and a deal of many items has many
	for _, c := range changes {
		for _, part := range c.Parts {
			alone = append(alone, c.Keep(func(p decide.Part) bool { return p.Item == part.Item }))
		}
	}
	late := h.one("is late")
	lateClaims := h.pass(late).FailOver(h.works[late], h.rules.Total)
	for _, c := range rapid.Permutation(alone).Draw(h.rt, "order") {
		switch rapid.IntRange(0, 9).Draw(h.rt, "meanwhile") {
		case 0:
			h.begin()
		case 1:
			h.finish()
		case 2:
			h.told("a commit is lost")
			continue
		case 3:
			h.takeOver(h.one("takes over"))
		case 4:
			h.claimed(late, lateClaims, true)
			lateClaims = nil
		}
		h.commit(leader, c)
	}
	return len(changes) == 0
}

func (h *history) commit(id string, c decide.Change) {
	before := h.store.Snapshot()
	_, err := h.store.Commit(sessionOf(id), c.Ops...)
	h.told("%s: %s: %v, %v", id, c.Step, h.difference(before, h.store.Snapshot()), err)
	h.check()
}

// begin makes an instance begin items that it owns.
func (h *history) begin() {
	id := h.one("begins")
	h.now = h.now.Add(tick(1).Sub(tick(0)))
	p := h.pass(id)
	due := p.Due(h.works[id])
	h.claimed(id, p.Fire(due, p.ClaimCapacity(h.works[id], len(due))), false)
}

func (h *history) takeOver(id string) {
	h.claimed(id, h.pass(id).FailOver(h.works[id], rapid.IntRange(1, 5).Draw(h.rt, "threads")), false)
}

// claimed commits claims. Those by an old view may conflict.
func (h *history) claimed(id string, changes []decide.Change, isLate bool) {
	for _, c := range changes {
		revision, err := h.store.Commit(sessionOf(id), c.Ops...)
		if _, conflicts := errors.AsType[*coord.ConflictError](err); conflicts && isLate {
			h.told("%s: %s is late: %v", id, c.Step, err)
			continue
		}
		if err != nil {
			h.rt.Fatalf("%s: %s: %v", id, c.Step, err)
		}
		for _, claim := range c.Claims() {
			h.told("%s begins item %d: %s", id, claim.Item, c.Step)
			h.works[id].Runs[claim.Item] = &decide.Run{Claim: claim, Token: revision, Instance: id, Recorded: true}
		}
	}
	h.check()
}

// finish ends the run of an item.
func (h *history) finish() {
	for _, id := range rapid.Permutation(h.ids()).Draw(h.rt, "finishes") {
		if runs := slices.Sorted(maps.Keys(h.works[id].Runs)); len(runs) > 0 {
			i := rapid.SampledFrom(runs).Draw(h.rt, "item")
			for _, c := range h.pass(id).Finish(h.works[id], []*decide.Run{h.works[id].Runs[i]}, nil) {
				h.commit(id, c)
			}
			delete(h.works[id].Runs, i)
			return
		}
	}
}

func (h *history) recover() {
	leader := h.elect()
	if leader == "" {
		return
	}
	p := h.pass(leader)
	for _, c := range p.MarkForFailover(p.Orphans()) {
		h.commit(leader, c)
	}
}

// ask makes the strategy change its answer.
func (h *history) ask() {
	h.answer = rapid.SliceOfN(rapid.StringMatching("[A-D]"), h.rules.Total, h.rules.Total).Draw(h.rt, "answer")
}

func (h *history) told(format string, args ...any) {
	h.story = append(h.story, fmt.Sprintf(format, args...))
}

// check fails the test if an instance has, or runs, more items than it may, together.
func (h *history) check() {
	state, has := h.state(), map[string]map[int]bool{}
	note := func(id string, item int) {
		if has[id] == nil {
			has[id] = map[int]bool{}
		}
		has[id][item] = true
	}
	for i := range state.Items {
		if owner := state.Items[i].Owner; owner != nil {
			note(owner.ID, i)
		}
		if running := state.Items[i].Running; running != nil {
			note(running.ID, i)
		}
	}
	for id := range h.works {
		if len(has[id]) > h.rules.MaxItems {
			h.rt.Fatalf("%s has or runs %v, and may have %d:\n%s", id, slices.Sorted(maps.Keys(has[id])), h.rules.MaxItems, h.text())
		}
	}
}

func (h *history) text() (text string) {
	for _, line := range h.story {
		text += line + "\n"
	}
	return text
}

// settle ends all runs, and assigns until nothing is left to do.
func (h *history) settle() {
	const enough = 40
	h.told("it calms down")
	for range enough {
		h.recover()
		runs := 0
		for _, id := range h.ids() {
			h.takeOver(id)
			runs += len(h.works[id].Runs)
		}
		for range runs {
			h.finish()
		}
		if isDone := h.deal(); isDone && runs == 0 {
			return
		}
	}
	h.rt.Fatalf("there is no end to it:\n%s", h.text())
}

// At every moment no instance has more items than it may, and those that run count where they run until
// they end. When nothing runs any more, items are where the strategy wants them, as far as there is room.
func TestMaxItemsAtEveryMoment(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := &history{rt: rt, works: map[string]*decide.Work{}, fixture: given(t, func(r *decide.Rules) {
			r.Total, r.MaxItems = rapid.IntRange(1, 8).Draw(rt, "total"), rapid.IntRange(1, 3).Draw(rt, "at most")
			r.StaticSharding = rapid.IntRange(0, 3).Draw(rt, "static") == 0
		})}
		h.join()
		h.ask()
		acts := []func(){h.join, h.end, h.leave, func() { h.deal() }, func() { h.deal() }, func() { h.ask(); h.deal() }, h.begin, h.begin, h.begin, func() { h.takeOver(h.one("takes over")) }, h.finish, h.recover, h.ask}
		rt.Repeat(map[string]func(*rapid.T){"act": func(*rapid.T) {
			rapid.SampledFrom(acts).Draw(rt, "act")()
			if len(h.works) > 4 {
				h.end()
			}
		}})
		h.settle()
		if h.rules.StaticSharding || h.elect() == "" {
			return
		}
		state, has, unowned := h.state(), map[string]int{}, 0
		for i := range h.rules.Total {
			switch owner := state.Item(i).Owner; owner {
			case nil:
				unowned++
			default:
				has[owner.ID]++
			}
		}
		if want := max(h.rules.Total-h.rules.MaxItems*len(state.Instances), 0); unowned != want {
			rt.Errorf("%d items have no owner, want %d:\n%s", unowned, want, h.text())
		}
	})
}
