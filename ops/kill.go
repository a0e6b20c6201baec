package ops

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// KillRequest says which executions are to end. What it leaves out does not matter: the zero
// request ends all that run, and items that wait to be run again after a crash do not begin.
type KillRequest struct {
	// Items are those whose executions end; none means all.
	Items []int
	// Tick is the scheduled time of the executions; it must not be in the future. If it is a
	// tick of the schedule, items that have not begun it do not begin it any more.
	Tick time.Time
	// Token is the fencing token of the executions. Items that were claimed together have the
	// same one: to end one execution, name its item, too.
	Token int64
	// Failover has the items run again for the same tick, by whoever takes them over. The job
	// needs failover for that. Of two kills of one execution the last one says.
	Failover bool
}

// Killed is an item to which a kill was sent.
type Killed struct {
	Item int
	// Tick is what the execution was for, Token its fencing token, and Instance who runs it.
	// Instance is empty if the item did not run: it waited to be taken over, or had not begun.
	Tick     time.Time
	Token    int64
	Instance string
}

// Kill ends executions. The context of a handler ends with [job.ErrKilled] as soon as its
// instance sees it, and the outcome is KILLED unless the handler succeeds all the same. The
// item is not run again for that tick, unless Failover is set. If the instance is cut off or
// dies before it sees the kill, others see to the same. A kill names one execution: if that
// has ended before, it kills nothing.
//
// Kill returns when the store has the kills, not when the handlers have returned: a handler
// that does not watch its context goes on. Status and observers tell of the end. Some forty
// items are one commit.
//
// Errors: jobtype.ErrNoItem; ErrNotRunning if there is nothing to kill; ErrJVM or ErrOldMember if an item runs on
// a JVM member or an old Go member, which know no kill, and nothing is killed then; those of a
// read and of a commit. With an error the
// list has what was killed before it.
func (j *Job) Kill(ctx context.Context, r KillRequest) ([]Killed, error) {
	done := map[int]Killed{}
	read := j.read
	if n := len(r.Items); n > 0 && n <= fewItems {
		read = func(ctx context.Context) (*jobtree.State, error) { return j.readItems(ctx, r.Items) }
	}
	err := j.tryOn(ctx, "kill", read, func(s *jobtree.State) error {
		k, err := j.newKill(ctx, s, r)
		if err != nil {
			return err
		}
		for i := range s.Items {
			if _, isDone := done[i]; !isDone {
				k.consider(i)
			}
		}
		if k.cannot != nil {
			return k.cannot
		}
		k.act.says(k.text(), "", "")
		for _, part := range k.parts {
			if _, err := k.act.commit(ctx, part.ops...); err != nil {
				return err
			}
			for _, killed := range part.killed {
				done[killed.Item] = killed
			}
		}
		if len(done) == 0 {
			return cmp.Or(k.other, ErrNotRunning)
		}
		return nil
	})
	var list []Killed
	for _, killed := range done {
		list = append(list, killed)
	}
	slices.SortFunc(list, func(a, b Killed) int { return a.Item - b.Item })
	return list, err
}

// fewItems is how many items are read one by one, with up to six reads for each, instead of
// the whole tree of the job.
const fewItems = 10

// kill is a request together with the tree in which it is to be written.
type kill struct {
	KillRequest
	name  jobtree.Job
	state *jobtree.State
	by    string
	now   time.Time
	act   *act
	parts []killPart
	// cannot says that a runner knows no kill, and other that an item runs something else than what is meant.
	cannot, other error
	// isTick is whether Tick is one of the schedule's.
	isTick bool
}

// killPart is what one commit kills.
type killPart struct {
	ops    []coord.Op
	killed []Killed
}

func (j *Job) newKill(ctx context.Context, s *jobtree.State, r KillRequest) (*kill, error) {
	config, err := jobtype.DecodeConfig(s.Config.Value)
	if err != nil {
		return nil, err
	}
	for _, i := range r.Items {
		if i < 0 || i >= max(config.ShardingTotalCount, len(s.Items)) {
			return nil, fmt.Errorf("%w: item %d: 0 to %d are allowed", jobtype.ErrNoItem, i, config.ShardingTotalCount-1)
		}
	}
	act, err := j.ops.act(j.name, ActionKill)
	if err != nil {
		return nil, err
	}
	k := &kill{KillRequest: r, name: j.name, state: s, by: j.ops.by, now: j.ops.now(), act: act}
	ticks, err := j.ops.ticks(ctx, config, s.Schedule)
	if err != nil {
		ticks, _ = config.Ticks() // a calendar that cannot be read keeps nobody from a kill
	}
	k.isTick = isTick(ticks, r.Tick)
	switch {
	case config.MonitorExecution == jobtype.Off:
		return nil, fmt.Errorf("without MonitorExecution there is no record of what runs: %w", ErrNotRunning)
	case r.Failover && !config.Failover:
		return nil, wrong("failover", "failover: the job has none")
	case r.Tick.After(k.now):
		return nil, wrong("tick", "tick %s: it has not come yet", r.Tick.Format(time.RFC3339))
	}
	return k, nil
}

// consider adds what kills an item.
func (k *kill) consider(i int) {
	item := &k.state.Items[i]
	if len(k.Items) > 0 && !slices.Contains(k.Items, i) || item.Fired == nil {
		return
	}
	switch {
	case item.Running != nil:
		k.addRunning(i, item)
	default:
		k.addWaiting(i, item)
	}
}

// addRunning adds the kill of an execution.
func (k *kill) addRunning(i int, item *jobtree.Item) {
	token, id := item.Fired.Modified, item.Running.ID
	switch {
	case k.Token != 0 && k.Token != token:
		k.other = fmt.Errorf("the run has ended, and item %d runs another one: %w", i, ErrNotRunning)
		return
	case !k.Tick.IsZero() && !k.Tick.Equal(item.Fired.Run):
		return
	case k.state.Sessions[id] == nil && k.state.Instances[id].Owner != 0:
		k.refuse(i, id, ErrJVM)
		return
	case k.state.IsOld(id):
		k.refuse(i, id, ErrOldMember)
		return
	}
	document := jobtree.EncodeKill(jobtree.KillDocument{Token: token, Failover: k.Failover, By: k.by, At: k.now})
	k.add(Killed{Item: i, Tick: item.Fired.Run, Token: token, Instance: id},
		coord.AtVersion(k.name.Fired(i), item.Fired.Version), coord.Exists(k.name.Running(i)), coord.Put(k.name.Kill(i), document))
}

// refuse notes that an item cannot be killed, because of who runs it.
func (k *kill) refuse(i int, id string, err error) {
	if k.cannot == nil {
		k.cannot = fmt.Errorf("item %d runs on %s: %w", i, brief.Text(id), err)
	}
}

// addWaiting adds what keeps an item from beginning: it waits to be taken over, or has not
// begun the tick.
func (k *kill) addWaiting(i int, item *jobtree.Item) {
	if k.Token != 0 || k.Failover {
		return
	}
	n, waits := slices.BinarySearchFunc(k.state.FailoverItems, i, func(f jobtree.FailoverItem, i int) int { return f.Item - i })
	if waits {
		f := k.state.FailoverItems[n]
		if f.Tick.IsZero() {
			f.Tick = item.Fired.Run
		}
		if k.Tick.IsZero() || k.Tick.Equal(f.Tick) {
			k.add(Killed{Item: i, Tick: f.Tick}, coord.Absent(k.name.Running(i)), coord.AtVersion(k.name.FailoverItem(i), f.Version), coord.DeleteTree(k.name.FailoverItem(i)))
		}
		return
	}
	if k.isTick && k.Tick.After(item.Fired.Tick) && !item.Fired.Tick.IsZero() {
		k.add(Killed{Item: i, Tick: k.Tick}, coord.Absent(k.name.Running(i)), coord.SetAt(k.name.Fired(i), jobtree.EncodeClaim(k.Tick, item.Fired.Run), item.Fired.Version)) // nothing ran for it
	}
}

// add adds operations to the last commit, or to a new one if that is full.
func (k *kill) add(killed Killed, ops ...coord.Op) {
	if last := len(k.parts) - 1; last >= 0 {
		p := &k.parts[last]
		if all := append(p.ops[:len(p.ops):len(p.ops)], ops...); k.act.fits(all...) {
			p.ops, p.killed = all, append(p.killed, killed)
			return
		}
	}
	k.parts = append(k.parts, killPart{ops: ops, killed: []Killed{killed}})
}
