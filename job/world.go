package job

import (
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// world is what a step decides on: a decoded snapshot, and the facts of this process.
// The methods of world are the steps, each in a file of its own name. They are pure:
// they read a world and say what to commit, and it is the controller that does so.
type world struct {
	*jobtree.State
	job      jobtree.Job
	settings *settings
	self     self
	now      time.Time

	// runs are the executions in this process, by item.
	runs map[int]*run
	// ended has the token of the last run of an item whose record was removed from
	// here, so that a snapshot that is older than that is not taken for news.
	ended map[int]int64
	// free is how many more items could begin at once.
	free int
	// leaving is set once this instance is on its way out: it begins nothing more.
	leaving bool
	// gone has since when an owner has been missing, for static sharding.
	gone map[string]time.Time
}

// self is this process as an instance of the job.
type self struct {
	id      string // new with each session, and when a registration is given up
	ip      string
	labels  []string
	session coord.SessionID
}

// commit is what a step wants done in one commit.
type commit struct {
	step string
	ops  []coord.Op
	// claims are the runs that begin if it succeeds, ends those whose records it
	// removes.
	claims []*run
	ends   []*run
	// misses are the runs for which it sets the misfire flag.
	misses []*run
}

// registered reports whether this instance is in the tree, under its session.
func (w *world) registered() bool {
	in, ok := w.Instances[w.self.id]
	return ok && in.Owner == w.self.session
}

// active reports whether this instance may begin something of its own.
func (w *world) active() bool {
	return w.registered() && !w.leaving && w.ServerEnabled(w.self.ip)
}

// leads reports whether this instance is the leader.
func (w *world) leads() bool {
	return w.Leader.Is(w.self.id) && w.Leader.Owner == w.self.session
}

// mine is the condition of all that is done in this session's name. Everybody else
// takes over what was begun here only where the node is absent, so as long as it
// stands nobody has.
func (w *world) mine() coord.Op { return coord.Owned(w.job.Session(w.self.id)) }

// dead reports whether an instance has ended, and what it ran with it. One that was
// removed while its session lives still has its runs.
func (w *world) dead(id string) bool {
	_, registered := w.Instances[id]
	_, alive := w.Sessions[id]
	return !registered && !alive
}

// stillDead are the conditions of a commit that treats an instance as dead. A text that
// is no id, from an operator's hand, is nobody's: nothing can be registered under it.
func (w *world) stillDead(id string) []coord.Op {
	if coord.ValidatePath(w.job.Instance(id)) != nil {
		return nil
	}
	return []coord.Op{coord.Absent(w.job.Instance(id)), coord.Absent(w.job.Session(id))}
}

// available lists the instances that may have items, in the order in which
// strategies are given them.
func (w *world) available() []strategy.Instance {
	var list []strategy.Instance
	for id, in := range w.Instances {
		if w.eligible(in) {
			list = append(list, strategy.Instance{ID: id, IP: in.IP, Weight: in.Weight()})
		}
	}
	strategy.Sort(list)
	return list
}

func (w *world) eligible(in jobtree.Instance) bool {
	label := w.settings.Label
	return w.ServerEnabled(in.IP) && (label == "" || slices.Contains(in.Labels, label))
}

// desired asks the strategy who should own each item. It is nil if nobody can.
func (w *world) desired() (owners []string, err error) {
	request := strategy.Request{
		Job:       w.settings.Name,
		Total:     w.settings.ShardingTotalCount,
		Instances: w.available(),
		Previous:  make([]string, w.settings.ShardingTotalCount),
	}
	if len(request.Instances) == 0 {
		return nil, nil
	}
	for i := range request.Previous {
		if owner := w.Item(i).Owner; owner != nil {
			request.Previous[i] = owner.ID
		}
	}
	defer func() {
		if v := recover(); v != nil {
			owners, err = nil, fmt.Errorf("sharding of job %q: strategy %s panicked: %v", request.Job, w.settings.Strategy, v)
		}
	}()
	owners = w.settings.strategy.Assign(request)
	return owners, strategy.Check(request, owners)
}

// chunk fills commits up to what a store takes in one.
type chunk struct {
	step    string
	head    []coord.Op // conditions that every commit of the step begins with
	commits []commit
	cost    int
}

// add appends ops that belong together, in a new commit if the last one is full.
func (c *chunk) add(ops ...coord.Op) *commit {
	cost := coord.Cost(ops...)
	if len(c.commits) == 0 || c.cost+cost > coord.MaxOps {
		c.commits = append(c.commits, commit{step: c.step, ops: slices.Clone(c.head)})
		c.cost = coord.Cost(c.head...)
	}
	last := &c.commits[len(c.commits)-1]
	last.ops = append(last.ops, ops...)
	c.cost += cost
	return last
}
