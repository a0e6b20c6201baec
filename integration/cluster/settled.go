package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// AwaitTree waits until the tree of the namespace, as a bystander sees it, is as wanted.
// what names that in the error.
func (c *Cluster) AwaitTree(ctx context.Context, what string, as func(coord.Snapshot) bool) error {
	for {
		changed := c.view.Changed()
		if as(c.view.Snapshot()) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("cluster: wait for %s: %w; the tree is:\n%s", what, context.Cause(ctx), c.Tree())
		case <-c.failed:
			return fmt.Errorf("cluster: wait for %s: %w", what, c.failure())
		}
	}
}

// AwaitJob is AwaitTree for one job.
func (c *Cluster) AwaitJob(ctx context.Context, name, what string, as func(*jobtree.State) bool) error {
	return c.AwaitTree(ctx, what+" of "+name, func(s coord.Snapshot) bool { return as(jobtree.Read(s, jobtree.Job(name))) })
}

// Tree is the tree as text.
func (c *Cluster) Tree() string {
	text := ""
	for n := range c.view.Snapshot().All("") {
		text += fmt.Sprintf("  %s = %.60q (version %d, owner %x)\n", n.Path, n.Value, n.Version, n.Owner)
	}
	return text
}

// Settled waits until every worker is an instance of each job that it can run, all items have owners, and no
// item waits for failover. It also waits until the workers know that they have joined, since
// they take commands about a job only then.
func (c *Cluster) Settled(ctx context.Context) error {
	workers, jobs := c.Workers(), c.current()
	for _, j := range jobs {
		n := 0
		for _, w := range workers {
			if w.runs(j) {
				n++
			}
		}
		if err := c.AwaitJob(ctx, j.Name, fmt.Sprintf("%d instances, all items assigned, none to be taken over", n), func(s *jobtree.State) bool {
			return settled(s, n, j)
		}); err != nil {
			return err
		}
	}
	parts := map[part]bool{} // whose scheduler was started and has not stopped
	return c.AwaitAll(ctx, 0, "all workers to have joined", func(more []history.Event) bool {
		for i := range more {
			switch e := &more[i]; e.Kind {
			case history.Joined:
				parts[part{e.Process, e.Job}] = true
			case history.Left:
				delete(parts, part{e.Process, e.Job})
			}
		}
		for _, w := range workers {
			for _, j := range jobs {
				if w.runs(j) && !parts[part{w.Name, j.Name}] {
					return false
				}
			}
		}
		return true
	})
}

// part stands for a process that takes part in a job.
type part struct{ process, job string }

// settled reports whether the tree of a job has so many instances and items, and all of them
// are as they should be. A session node without an instance belongs to an instance that is
// leaving, so the job is not settled yet. If another instance has the same owner, the node
// only blocks an id that its process has given up.
func settled(s *jobtree.State, instances int, j Job) bool {
	if s.Leader == nil || len(s.Instances) != instances || len(s.FailoverItems) > 0 || !j.Broadcast && len(s.Items) != j.Items {
		return false
	}
	lives := func(m *jobtree.Mark) bool {
		if m == nil {
			return true
		}
		_, ok := s.Instances[m.ID]
		return ok
	}
	owners := map[coord.SessionID]bool{}
	for id, in := range s.Instances {
		owners[in.Owner] = true
		if _, ok := s.Sessions[id]; !ok {
			return false
		}
	}
	for _, session := range s.Sessions {
		if !owners[session.Owner] {
			return false
		}
	}
	owned := j.Items
	if j.Broadcast {
		owned = min(owned, instances)
	}
	for _, item := range s.Items {
		if item.Owner != nil {
			owned--
		}
		if !lives(item.Owner) || !lives(item.Running) || !lives(item.Failovering) {
			return false
		}
	}
	return owned == 0 && lives(s.Leader)
}

// Sound waits until no worker reports a fault any more. It ignores starvation of jobs whose
// items work for longer than the time between two ticks, which is a fault for good.
func (c *Cluster) Sound(ctx context.Context) error {
	overlong := map[string]bool{}
	for _, j := range c.current() {
		overlong[j.Name] = j.Every > 0 && slices.Max(append([]time.Duration{0}, j.Work...)) > j.Every
	}
	type fault struct{ process, job, kind string }
	last := map[fault]string{}
	killed := map[string]bool{}
	err := c.AwaitAll(ctx, 0, "no fault to be reported", func(more []history.Event) bool {
		for i := range more {
			switch e := &more[i]; e.Kind {
			case history.Faulty:
				if killed[e.Process] {
					continue // it has said so while it was being killed
				}
				if e.Name != jobtype.FaultStarvation.String() || !overlong[e.Job] {
					last[fault{e.Process, e.Job, e.Name}] = e.Err
				}
			case history.Sound:
				delete(last, fault{e.Process, e.Job, e.Name})
			case history.Kill, history.Left, history.Down:
				killed[e.Process] = killed[e.Process] || e.Kind == history.Kill
				maps.DeleteFunc(last, func(f fault, _ string) bool {
					return f.process == e.Process && (f.job == e.Job || e.Job == "")
				})
			}
		}
		return len(last) == 0
	})
	if err != nil {
		err = fmt.Errorf("%w; reported are %q", err, last)
	}
	return err
}

// Covered waits until every item of every job has started once more, and every broadcast job on
// every worker. It ignores starts for
// ticks that are a minute ahead or more: those come from a wrong clock.
func (c *Cluster) Covered(ctx context.Context) error {
	jobs, workers := c.current(), c.Workers()
	type item struct {
		job  string
		item int
	}
	var missing []item
	started := map[item]bool{}
	by := map[part]bool{} // processes of broadcast jobs
	err := c.AwaitAll(ctx, c.Mark(), "a run of each item", func(more []history.Event) bool {
		missing = nil
		for i := range more {
			if e := &more[i]; e.Kind == history.Start && e.Tick.Sub(e.Wall) < time.Minute {
				started[item{e.Job, e.Item}] = true
				by[part{e.Process, e.Job}] = true
			}
		}
		for _, j := range jobs {
			for n, w := range workers {
				if j.Broadcast && n < j.Items && !by[part{w.Name, j.Name}] {
					missing = append(missing, item{j.Name + " on " + w.Name, n})
				}
			}
			for i := range j.Items {
				if !j.Broadcast && j.Every > 0 && !started[item{j.Name, i}] {
					missing = append(missing, item{j.Name, i})
				}
			}
		}
		return len(missing) == 0
	})
	if err != nil {
		err = fmt.Errorf("%w; missing are %v", err, missing)
	}
	return err
}
