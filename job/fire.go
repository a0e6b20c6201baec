package job

import (
	"cmp"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// claimsPerCommit bounds a commit of claims. More items go in several, in parallel.
const claimsPerCommit = 30

// due is an item of this instance whose last tick is to begin.
type due struct {
	item   int
	tick   time.Time
	source Source
}

// due lists what is to begin here, those first that have waited longest.
func (w *world) due() []due {
	tick := w.lastTick()
	if tick.IsZero() || !w.settings.monitor || !w.active() {
		return nil
	}
	var list []due
	for i := range min(w.settings.ShardingTotalCount, len(w.Items)) {
		item := &w.Items[i]
		if !item.Owner.Is(w.self.id) || item.Disabled || w.runs[i] != nil || item.Running != nil || w.hasBegun(i, tick) {
			continue
		}
		switch w.judge(*item, tick) {
		case onTime:
			list = append(list, due{i, tick, SourceNormal})
		case late:
			list = append(list, due{i, tick, SourceMisfire})
		case passed:
			if w.waits(i, tick) {
				list = append(list, due{i, tick, SourceNormal})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b due) int {
		return w.Items[a.item].Fired.Tick.Compare(w.Items[b.item].Fired.Tick)
	})
	return list
}

// waits reports whether an item was on time for a tick and has waited for a thread since.
func (w *world) waits(item int, tick time.Time) bool {
	at, ok := w.waiting[item]
	return ok && at.Equal(tick)
}

// fire begins what is due, which list says, as far as there are threads for it: what is claimed cannot be
// given to anybody else. A commit that begins items says that they are still assigned
// here, that they do not run, and that this tick of theirs was not begun, so a tick
// starts at most once whoever owns the item.
//
// Items that still run are flagged and left alone; the others do not wait for them (B-20,
// B-40: ElasticJob skips the tick of all items). Ticks that nobody is to run are passed
// over.
func (w *world) fire(list []due) []commit {
	claims := w.claims("fire")
	for _, d := range list[:min(len(list), max(w.free, 0))] {
		claims.add(w.Items[d.item], &run{item: d.item, tick: d.tick, last: d.tick, source: d.source})
	}
	return slices.Concat(claims.commits, w.flag(), w.letGo())
}

// flag notes the tick that has come while an item runs.
func (w *world) flag() []commit {
	tick := w.lastTick()
	if tick.IsZero() || !w.settings.monitor || !w.settings.misfire {
		return nil
	}
	flags := chunk{step: "misfire", head: []coord.Op{w.mine()}}
	for i := range min(w.settings.ShardingTotalCount, len(w.Items)) {
		item := &w.Items[i]
		if !item.Owner.Is(w.self.id) || w.runs[i] == nil && item.Running == nil || w.hasBegun(i, tick) || w.judge(*item, tick) == notDue {
			continue
		}
		if w.missed(i, *item, tick) {
			last := flags.add(i, w.misfireFlag(i, *item)...)
			if r := w.runs[i]; r != nil {
				last.misses = append(last.misses, r)
			}
		}
	}
	return flags.commits
}

// letGo passes over the ticks that nobody is to run: of items that are disabled, of
// servers that are while no other takes their items over, and those that were missed and
// are not made up for. So a record that is behind always means that something is wrong.
func (w *world) letGo() []commit {
	tick := w.lastTick()
	if tick.IsZero() || !w.settings.monitor || !w.registered() || w.leaving {
		return nil
	}
	skips := chunk{step: "pass over", head: []coord.Op{w.mine()}}
	idle := chunk{step: "pass over", head: w.nobodyMay()}
	nobody := !w.ServerEnabled(w.self.ip) && len(w.available()) == 0
	for i := range min(w.settings.ShardingTotalCount, len(w.Items)) {
		item := &w.Items[i]
		if item.Owner == nil || w.runs[i] != nil || item.Running != nil || w.hasBegun(i, tick) {
			continue
		}
		mine := item.Owner.Is(w.self.id)
		if !mine && !(nobody && w.dead(item.Owner.ID) && w.speaksFor(item.Owner.ID)) {
			continue
		}
		verdict := w.judge(*item, tick)
		switch {
		case verdict == notDue:
		case mine && item.Disabled:
			skips.add(i, append(w.passOver(i, *item, tick), coord.Exists(w.job.ItemDisabled(i)))...)
		case nobody:
			idle.add(i, w.passOver(i, *item, tick)...)
		case mine && w.active() && verdict == passed && !w.waits(i, tick):
			skips.add(i, w.passOver(i, *item, tick)...)
		}
	}
	return append(skips.commits, idle.commits...)
}

// speaksFor reports whether it is for this instance to pass over ticks of an instance
// that is no more: its server was disabled, and this is the first of those who are there.
func (w *world) speaksFor(owner string) bool {
	if w.ServerEnabled(jobtree.InstanceIP(owner)) {
		return false
	}
	own := w.rank(w.self.id)
	for id, in := range w.Instances {
		if in.Owner != 0 && id != w.self.id && cmp.Or(cmp.Compare(w.rank(id), own), cmp.Compare(id, w.self.id)) < 0 {
			return false
		}
	}
	return true
}

// nobodyMay are the conditions of passing over ticks because every server is disabled:
// an instance whose server is not would be the leader at once.
func (w *world) nobodyMay() []coord.Op {
	return []coord.Op{w.mine(), coord.Absent(w.job.LeaderInstance())}
}

// passOver moves fired on without a run.
func (w *world) passOver(i int, item jobtree.Item, tick time.Time) []coord.Op {
	ops := []coord.Op{
		coord.AtVersion(w.job.ItemInstance(i), item.Owner.Version),
		coord.SetAt(w.job.Fired(i), jobtree.EncodeFired(tick), item.Fired.Version),
	}
	if item.Misfire {
		ops = append(ops, coord.DeleteTree(w.job.Misfire(i)))
	}
	return ops
}

// claimer builds commits that begin runs.
type claimer struct {
	*world
	chunk
}

// claims begins a list of claims. Items that are removed and created again count their
// versions from the start again; the configuration, which says how many there are, does
// not, so it is in the conditions.
func (w *world) claims(step string) *claimer {
	c := &claimer{world: w, chunk: chunk{step: step, most: claimsPerCommit}}
	if w.Config != nil {
		c.head = []coord.Op{w.mine(), w.configured()}
	}
	return c
}

// add claims an item that this instance owns.
func (c *claimer) add(item jobtree.Item, r *run) {
	ops := []coord.Op{
		coord.AtVersion(c.job.ItemInstance(r.item), item.Owner.Version),
		c.begin(r.item),
		c.fired(r.item, item, r.last, r.tick),
	}
	if item.Misfire {
		ops = append(ops, coord.DeleteTree(c.job.Misfire(r.item)))
	}
	c.put(item, r, ops)
}

// put appends a claim of an item.
func (c *claimer) put(item jobtree.Item, r *run, ops []coord.Op) {
	r.instance = c.self.id
	if item.Fired != nil {
		r.before = item.Fired.Tick
	}
	last := c.chunk.add(r.item, ops...)
	last.claims = append(last.claims, r)
}

// begin creates the record of a run. It outlives its instance where somebody is to
// take over what that left unfinished.
func (w *world) begin(i int) coord.Op {
	if w.settings.Failover {
		return coord.Create(w.job.Running(i), []byte(w.self.id))
	}
	return coord.CreateEphemeral(w.job.Running(i), []byte(w.self.id))
}

// fired rewrites an item's fired record, as every claim does: its Modified becomes
// the token of the claim. last never goes back.
func (w *world) fired(i int, item jobtree.Item, last, tick time.Time) coord.Op {
	value := jobtree.EncodeClaim(last, tick)
	if item.Fired == nil {
		return coord.Create(w.job.Fired(i), value)
	}
	return coord.SetAt(w.job.Fired(i), value, item.Fired.Version)
}
