package ops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// ClearMisfires forgets what all items of the job have missed: ticks that came longer ago than
// Config.MisfireTolerance, and have not begun, do not begin any more; neither when the execution ends
// that was in their way, nor because of an earlier pause. The misfire flags go, which JVM members go
// by. Later ticks begin as always. (For single items see KillRequest.Tick.) Some forty flags go in one
// commit. If nothing was missed, nothing happens.
//
// Errors: those of a read and of a commit; a *job.ConfigError.
func (j *Job) ClearMisfires(ctx context.Context) error {
	return j.try(ctx, string(ActionClearMisfires), func(s *jobtree.State) error {
		missed, since, err := j.missed(ctx, s)
		if err != nil {
			return err
		}
		var groups [][]coord.Op
		if !since.IsZero() { // first, or the flags come again
			d := s.Schedule.ScheduleDocument
			d.Since, d.LastBefore, d.Forgone = since, time.Time{}, false
			value, err := jobtree.EncodeSchedule(d)
			if err != nil {
				return err
			}
			groups = append(groups, []coord.Op{coord.SetAt(j.name.Schedule(), value, s.Schedule.Version)})
		}
		for i := range s.Items {
			if s.Items[i].Misfire {
				groups = append(groups, []coord.Op{coord.Exists(j.name.Misfire(i)), coord.DeleteTree(j.name.Misfire(i))})
			}
		}
		act, err := j.ops.act(j.name, ActionClearMisfires)
		if err != nil {
			return err
		}
		_, err = act.says(itemsText(missed), "", "").commitAll(ctx, groups, coord.Exists(j.name.Config()))
		return err
	})
}

// missed returns the items that have missed ticks, and since when the schedule has to count so that they
// have not: zero if it is enough that their flags go.
func (j *Job) missed(ctx context.Context, s *jobtree.State) (items []int, since time.Time, err error) {
	config, err := jobtype.DecodeConfig(s.Config.Value)
	if err != nil {
		return nil, since, err
	}
	ticks, err := j.ops.ticks(ctx, config, s.Schedule)
	if err != nil {
		ticks, _ = config.Ticks() // a calendar that cannot be read keeps nobody from forgetting
	}
	limit := j.ops.now().UTC().Add(-config.MisfireTolerance)
	var last time.Time
	if ticks != nil && s.Schedule != nil && !s.Schedule.Since.IsZero() {
		last = lastDue(ticks, s.Schedule, limit)
	}
	for i := range s.Items {
		item := &s.Items[i]
		isBehind := !last.IsZero() && item.Fired != nil && item.Fired.Tick.Before(last)
		if isBehind {
			since = limit
		}
		if isBehind || item.Misfire {
			items = append(items, i)
		}
	}
	return items, since, nil
}

// ClearFailovers has items not run again whose execution was cut short by the end of its instance, and
// which wait to be taken over; none means all that wait. It returns those that were cleared, ascending.
// What such an execution has left half done stays so: the next tick, or request, of the item is its next
// run. An item that runs, or does not wait, stays as it is. Some twenty items go in one commit.
//
// Errors: those of a read and of a commit; jobtype.ErrNoItem.
func (j *Job) ClearFailovers(ctx context.Context, items ...int) ([]int, error) {
	var cleared []int
	err := j.try(ctx, string(ActionClearFailovers), func(s *jobtree.State) error {
		for _, i := range items {
			if !s.Item(i).Exists {
				return errNoItem(s, i)
			}
		}
		var groups [][]coord.Op
		var waiting []int
		for _, f := range s.FailoverItems {
			if s.Item(f.Item).Running == nil && (len(items) == 0 || slices.Contains(items, f.Item)) {
				waiting = append(waiting, f.Item)
				groups = append(groups, []coord.Op{coord.Absent(j.name.Running(f.Item)), coord.AtVersion(f.Path, f.Version), coord.DeleteTree(f.Path)})
			}
		}
		act, err := j.ops.act(j.name, ActionClearFailovers)
		if err != nil {
			return err
		}
		done, err := act.says(itemsText(waiting), "", "").commitAll(ctx, groups, coord.Exists(j.name.Config()))
		cleared = append(cleared, waiting[:done]...)
		return err
	})
	slices.Sort(cleared)
	return cleared, err
}

// ClearServersRequest says which dead servers go.
type ClearServersRequest struct {
	// Disabled also removes servers that are disabled. That is an operator's word, and instances that
	// come there later would have items again.
	Disabled bool
}

// ClearServers removes the servers of the job that have no instance, and returns their addresses,
// ascending. Without a Go leader nobody else does: they stay when instances move from host to host. One
// at which an instance registers at the same moment may go, too, and is enabled then.
//
// Errors: those of a read and of a commit.
func (j *Job) ClearServers(ctx context.Context, r ClearServersRequest) ([]string, error) {
	var cleared []string
	err := j.try(ctx, string(ActionClearServers), func(s *jobtree.State) error {
		used := map[string]bool{}
		for _, in := range s.Instances {
			used[in.IP] = true
		}
		var groups [][]coord.Op
		var dead []string
		for _, address := range slices.Sorted(maps.Keys(s.Servers)) {
			if server := s.Servers[address]; !used[address] && (server.Enabled || r.Disabled) {
				dead = append(dead, address)
				groups = append(groups, []coord.Op{coord.AtVersion(server.Path, server.Version), coord.DeleteTree(server.Path)})
			}
		}
		act, err := j.ops.act(j.name, ActionClearServers)
		if err != nil {
			return err
		}
		done, err := act.says("servers "+strings.Join(dead, ", "), "", "").commitAll(ctx, groups, coord.Exists(j.name.Config()))
		cleared = append(cleared, dead[:done]...)
		return err
	})
	slices.Sort(cleared)
	return cleared, err
}

// ClearStale removes what JVM members leave behind that others wait for, and returns the paths,
// ascending: leader/sharding/processing that is no session's, or not that of an instance of the job;
// and the records of executions (running) whose instances have gone. Each goes only if that is still so.
// A live Go leader does the same for executions by itself, and has them run again if failover is on;
// ClearStale does not.
//
// Errors: those of a read and of a commit.
func (j *Job) ClearStale(ctx context.Context) ([]string, error) {
	var cleared []string
	err := j.try(ctx, string(ActionClearStale), func(s *jobtree.State) error {
		stale, groups, err := j.stale(ctx, s)
		if err != nil {
			return err
		}
		act, err := j.ops.act(j.name, ActionClearStale)
		if err != nil {
			return err
		}
		done, err := act.says(staleText(j.name, stale), "", "").commitAll(ctx, groups, coord.Exists(j.name.Config()))
		cleared = append(cleared, stale[:done]...)
		return err
	})
	slices.Sort(cleared)
	return cleared, err
}

// stale returns the paths of stale nodes, and the operations that remove each of them.
func (j *Job) stale(ctx context.Context, s *jobtree.State) (paths []string, groups [][]coord.Op, err error) {
	add := func(n coord.Node, conditions ...coord.Op) {
		paths = append(paths, n.Path)
		groups = append(groups, append(conditions, coord.AtVersion(n.Path, n.Version), coord.DeleteTree(n.Path)))
	}
	if s.Processing {
		n, err := j.ops.reg.Get(ctx, j.name.Processing())
		if err != nil && !errors.Is(err, coord.ErrNoNode) {
			return nil, nil, err
		}
		isOwned := errors.Is(err, coord.ErrNoNode)
		for _, in := range s.Instances {
			isOwned = isOwned || in.Owner == n.Owner && n.Owner != 0
		}
		if !isOwned {
			add(n)
		}
	}
	for i := range s.Items {
		running := s.Items[i].Running
		if running == nil {
			continue
		}
		id := running.ID
		if id == "" && s.Items[i].Owner != nil {
			id = s.Items[i].Owner.ID // ElasticJob before 3.0.2
		}
		if _, lives := s.Instances[id]; lives || s.Sessions[id] != nil {
			continue
		}
		if id == "" || coord.ValidatePath(j.name.Instance(id)) != nil {
			add(running.Node) // no instance can have it
			continue
		}
		add(running.Node, coord.Absent(j.name.Instance(id)), coord.Absent(j.name.Session(id)))
	}
	return paths, groups, nil
}

// staleText names nodes by their paths in the job.
func staleText(name jobtree.Job, paths []string) string {
	var list brief.List
	for _, path := range paths {
		list.Add(strings.TrimPrefix(path, string(name)+"/"))
	}
	return fmt.Sprintf("nodes %v", &list)
}
