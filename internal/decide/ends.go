package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// How the run of an item ends, and what the commit that ends it writes. {i}/running and the marks go, unless somebody
// has claimed the item since, and kill/{i} goes if the run was killed; EndRequests leaves them alone.
//
//	what ends it                        decision            {i}/fired          {i}/completed    awaits failover    its part of a request
//	the handler has returned            Finish              stays (1)          how it ended     no                 as the run has ended
//	… because it was killed             Finish              stays (1)          KILLED           if asked for (2)   stays, or ends as KILLED
//	its instance leaves                 ReleaseForFailover  stays              CUT (3)          with failover on   stays, or ends as CUT
//	… and it was killed                 ReleaseForFailover  stays              KILLED (3)       if asked for (2)   stays, or ends as KILLED
//	its claim waits for a thread        ReleaseClaims       as before it       -                after a failover   waits for its turn
//	… and it was killed                 ReleaseClaims       stays (1)          KILLED           if asked for (2)   stays, or ends as KILLED
//	its instance has died               MarkForFailover     stays              -                with failover on   stays, or ends as CUT
//	… and it was killed                 MarkForFailover     stays              KILLED           if asked for (2)   stays, or ends as KILLED
//	nothing runs: it has ended here     Settle              stays (1)          -                no                 -
//	… it was killed                     Settle              stays (1)          KILLED           if asked for (2)   stays, or ends as KILLED
//	… its request was cancelled         Settle              stays (1)          -                no                 waits for its turn
//	nobody knows of it but its request  EndRequests         stays              -                no                 ends as CUT
//
//	(1) it moves on over a tick that came meanwhile, if nobody makes that up ([World.skipsWhileRunning])
//	(2) the kill says so, and failover is on; never for a request that has been cancelled
//	(3) if the handler has returned

// removeRecord returns the operations that remove the record and the marks of a run, if nobody has claimed the
// item since. They skip a tick that came while the item ran, if nobody makes it up.
func (w *World) removeRecord(r *Run, item *jobtree.Item) (ops []coord.Op, skips *Skipped) {
	if w.skipsWhileRunning(r, item) {
		skips = &Skipped{w.LastTickOf(r.Item), WhileRunning}
		if w.Config != nil { // with another one it might be made up
			ops = append(ops, w.ifSameConfig())
		}
		ops = append(ops, coord.Exists(w.Job.Running(r.Item)), coord.SetAt(w.Job.Fired(r.Item), jobtree.EncodeFired(skips.Tick), item.Fired.Version))
	} else {
		ops = append(ops, w.ifUnclaimed(r.Item, item))
	}
	return append(append(ops, coord.DeleteTree(w.Job.Running(r.Item))), w.removeMarks(r)...), skips
}

// removeMarks returns the operations that remove the marks of a failover.
func (w *World) removeMarks(r *Run) []coord.Op {
	if !r.Failover {
		return nil
	}
	return []coord.Op{coord.DeleteTree(w.Job.Failover(r.Item)), coord.DeleteTree(w.Job.Failovering(r.Item))}
}

// skipsWhileRunning reports whether a tick came while the item ran, and nobody makes it up. If ticks that
// overlap are skipped, so are those that came while the item awaited failover. If the record is gone, an
// earlier finish whose answer was lost has been committed, and the tick may have come after that.
func (w *World) skipsWhileRunning(r *Run, item *jobtree.Item) bool {
	if item.Running == nil {
		return false
	}
	tick := w.LastTickOf(r.Item)
	isLeft := !w.Rules.Misfire && !r.Failover || w.Rules.SkipOverlap
	return isLeft && !w.isFromPauseToMakeUp(tick) && r.Source != Backfill && tick.After(item.Fired.Tick) && tick.After(r.Last)
}

// completionOps returns the operations that write how a run has ended; none if that is not known.
func (w *World) completionOps(r *Run) []coord.Op {
	if r.Completed == nil || r.NoCompletion {
		return nil
	}
	return w.writeCompletion(r.Item, *r.Completed)
}

// writeCompletion returns the operations that write how the last run of an item has ended.
func (w *World) writeCompletion(i int, d jobtree.CompletionDocument) []coord.Op {
	return append(w.keepOutcome(i), coord.Put(w.Job.Completion(i), jobtree.EncodeCompletion(d)))
}

// ifUnclaimed is the condition that nobody has claimed an item since the snapshot, or dealt one that is gone.
func (w *World) ifUnclaimed(i int, item *jobtree.Item) coord.Op {
	if item.Fired == nil {
		return coord.Absent(w.Job.Fired(i))
	}
	return coord.AtVersion(w.Job.Fired(i), item.Fired.Version)
}

// isRunAgain reports whether failover runs an item again: it is on, and nobody has killed the item for good.
func (w *World) isRunAgain(item int, token int64) bool {
	kill := w.Kills[item]
	return w.Rules.Failover && (!kill.Kills(token) || kill.Failover)
}

// failOverOrEnd returns the operations that make an item await failover whose run was cut short, or end
// what the run was for. p and first are as for addFailoverItem. A kill that comes in between must not be
// overlooked: so one condition is that the kill's node is as it was seen.
func (w *World) failOverOrEnd(item int, p purpose, token int64, tick time.Time, first string) []coord.Op {
	var ops []coord.Op
	if kill := w.Kills[item]; kill != nil {
		ops = append(ops, coord.AtVersion(w.Job.Kill(item), kill.Version), coord.DeleteTree(w.Job.Kill(item)))
	} else if w.Rules.Failover {
		ops = append(ops, coord.Absent(w.Job.Kill(item)))
	}
	if w.isRunAgain(item, token) && !p.isOver {
		return append(ops, w.addFailoverItem(item, p, tick, first)...)
	}
	outcome := jobtree.OutcomeCut
	if w.Kills[item].Kills(token) {
		outcome = jobtree.OutcomeKilled
	}
	ops = append(ops, w.recordCutMember(item, p, tick, outcome)...)
	return append(ops, w.cutProgress(item, p, outcome)...)
}

// endKilled returns the operations that end a claim that was killed and has not begun.
func (w *World) endKilled(item int, p purpose, token int64, state *jobtree.Item, first string) []coord.Op {
	return append(w.failOverOrEnd(item, p, token, claimedTick(state), first), w.writeCompletion(item, w.killedCompletion(token, state))...)
}

// ifNotKilled is the condition that nobody has killed what runs since the snapshot. Whoever releases a
// claim needs it: a kill of the claim would be lost.
func (w *World) ifNotKilled(item int) coord.Op {
	if kill := w.Kills[item]; kill != nil {
		return coord.AtVersion(w.Job.Kill(item), kill.Version)
	}
	return coord.Absent(w.Job.Kill(item))
}

// killedCompletion is the completion of a run that was killed, and whose runner cannot write it.
func (w *World) killedCompletion(token int64, item *jobtree.Item) jobtree.CompletionDocument {
	return jobtree.CompletionDocument{Tick: item.Fired.Run, Token: token, Outcome: jobtree.OutcomeKilled, Ended: w.correctedTime()}
}
