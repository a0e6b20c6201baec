package job

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// claimsPerCommit bounds a commit of claims. More items go in several, in parallel.
const claimsPerCommit = 30

// fire begins what is due: the last tick of every item that is assigned to this
// instance, if it was not begun. Items that still run are flagged and left alone; the
// others do not wait for them (B-20, B-40). A commit that begins items says that they
// are still assigned here, that they do not run, and that this tick of theirs was not
// begun, so a tick starts at most once whoever owns the item.
func (w *world) fire() []commit {
	tick := w.lastTick()
	if tick.IsZero() || !w.settings.monitor {
		return nil
	}
	flags := chunk{step: "misfire", head: []coord.Op{w.mine()}}
	skips := chunk{step: "pass over", head: []coord.Op{w.mine()}}
	idle := chunk{step: "pass over", head: w.nobodyMay()}
	claims := claimer{world: w, step: "fire"}
	enabled := w.active()
	nobody := !enabled && len(w.available()) == 0
	for i := range min(w.settings.ShardingTotalCount, len(w.Items)) {
		item := &w.Items[i]
		if !item.Owner.Is(w.self.id) {
			continue
		}
		verdict := w.judge(*item, tick)
		if verdict == notDue {
			continue
		}
		switch {
		case w.runs[i] != nil || item.Running != nil:
			if w.missed(i, *item, tick) {
				last := flags.add(w.misfireFlag(i, *item)...)
				if r := w.runs[i]; r != nil {
					last.misses = append(last.misses, r)
				}
			}
		case item.Disabled:
			skips.add(append(w.passOver(i, *item, tick), coord.Exists(w.job.ItemDisabled(i)))...)
		case nobody:
			idle.add(w.passOver(i, *item, tick)...)
		case !enabled: // somebody else gets it, and makes up for the tick
		case verdict == passed:
		default:
			source := Normal
			if verdict == late {
				source = Misfire
			}
			claims.add(*item, &run{item: i, tick: tick, last: tick, source: source})
		}
	}
	return slices.Concat(claims.commits, flags.commits, skips.commits, idle.commits)
}

// nobodyMay are the conditions of passing over ticks because every server is disabled:
// an instance whose server is not would be the leader at once.
func (w *world) nobodyMay() []coord.Op {
	return []coord.Op{w.mine(), coord.Absent(w.job.LeaderInstance())}
}

// passOver moves fired on without a run: what an operator disabled misses nothing.
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
	step    string
	commits []commit
	cost    int
}

// add claims an item that this instance owns.
func (c *claimer) add(item jobtree.Item, r *run) {
	ops := []coord.Op{
		coord.AtVersion(c.job.ItemInstance(r.item), item.Owner.Version),
		c.begin(r.item),
		c.fired(r.item, item, r.last, r.tick),
	}
	if item.Misfire {
		ops = append(ops, coord.Delete(c.job.Misfire(r.item)))
	}
	c.put(r, ops)
}

// put appends a claim to the last commit, or to a new one if that is full.
func (c *claimer) put(r *run, ops []coord.Op) {
	cost := coord.Cost(ops...)
	last := len(c.commits) - 1
	if last < 0 || len(c.commits[last].claims) == claimsPerCommit || c.cost+cost > coord.MaxOps {
		// Items that are removed and created again count their versions from the start
		// again; the configuration, which says how many there are, does not.
		c.commits = append(c.commits, commit{step: c.step, ops: []coord.Op{c.mine(), c.configured()}})
		c.cost = 2
		last++
	}
	r.instance = c.self.id
	c.cost += cost
	c.commits[last].ops = append(c.commits[last].ops, ops...)
	c.commits[last].claims = append(c.commits[last].claims, r)
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
