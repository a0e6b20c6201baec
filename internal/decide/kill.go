package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Killed reports whether an operator wants a run to end.
func (w *World) Killed(r *Run) bool { return w.Kills[r.Item].Kills(r.Token) }

// goesOn reports whether a run of an item that is cut short begins again elsewhere: failover
// is on, and nobody has killed it for good.
func (w *World) goesOn(item int, token int64) bool {
	kill := w.Kills[item]
	return w.Rules.Failover && (!kill.Kills(token) || kill.Failover)
}

// waitAgain returns the operations that put an item up to be run again, and end what was
// asked of its last run. p and first are as for putUp. A kill that comes in between must not be overlooked: so the
// condition is that the kill's node is as it was seen.
func (w *World) waitAgain(item int, p purpose, token int64, tick time.Time, first string) []coord.Op {
	var ops []coord.Op
	if kill := w.Kills[item]; kill != nil {
		ops = append(ops, coord.AtVersion(w.Job.Kill(item), kill.Version), coord.DeleteTree(w.Job.Kill(item)))
	} else if w.Rules.Failover {
		ops = append(ops, coord.Absent(w.Job.Kill(item)))
	}
	if w.goesOn(item, token) && !p.isOver {
		return append(ops, w.putUp(item, p, tick, first)...)
	}
	outcome := jobtree.OutcomeCut
	if w.Kills[item].Kills(token) {
		outcome = jobtree.OutcomeKilled
	}
	ops = append(ops, w.cutMember(item, p, tick, outcome)...)
	return append(ops, w.cutProgress(item, p, outcome)...)
}

// endKilled returns the operations that end what was claimed and then killed, and has not
// begun. waitAgain is among them.
func (w *World) endKilled(item int, p purpose, token int64, state *jobtree.Item, first string) []coord.Op {
	return append(w.waitAgain(item, p, token, claimedFor(state), first), w.tell(item, w.killed(token, state))...)
}

// ifNotKilled is the condition that nobody has killed what runs since the snapshot. Whoever
// gives a claim back needs it: a kill of the claim would be lost.
func (w *World) ifNotKilled(item int) coord.Op {
	if kill := w.Kills[item]; kill != nil {
		return coord.AtVersion(w.Job.Kill(item), kill.Version)
	}
	return coord.Absent(w.Job.Kill(item))
}

// endKill returns the operation that removes the kill of a run that has ended.
func (w *World) endKill(r *Run) []coord.Op {
	if w.Kills[r.Item] == nil {
		return nil
	}
	return []coord.Op{coord.DeleteTree(w.Job.Kill(r.Item))}
}

// killed is what the tree is told of a run that was killed, and whose runner cannot tell.
func (w *World) killed(token int64, item *jobtree.Item) jobtree.CompletionDocument {
	return jobtree.CompletionDocument{Tick: item.Fired.Run, Token: token, Outcome: jobtree.OutcomeKilled, Ended: w.time()}
}

// cleanKills removes kills that came too late, and those that nobody can read. A view may show
// a kill before it shows the claim of the run: so what makes it late is a condition.
func (w *World) cleanKills(c *changes) {
	for i, kill := range w.Kills {
		item := w.Item(i)
		ops := []coord.Op{coord.AtVersion(w.Job.Kill(i), kill.Version), coord.DeleteTree(w.Job.Kill(i))}
		switch {
		case kill.Err != nil:
		case item.Running == nil:
			ops = append(ops, coord.Absent(w.Job.Running(i)))
		case item.Fired == nil:
			ops = append(ops, coord.Absent(w.Job.Fired(i)))
		case !kill.Kills(item.Fired.Modified):
			ops = append(ops, coord.AtVersion(w.Job.Fired(i), item.Fired.Version))
		default:
			continue
		}
		c.add(i, ops...)
	}
}
