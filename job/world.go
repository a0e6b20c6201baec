package job

import (
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
	// free is how many more items could be claimed: there is a thread for them, or there
	// will be at once.
	free int
	// waiting has the ticks that items of this instance were on time for, but for a
	// thread. Such a tick is not missed.
	waiting map[int]time.Time
	// begun has the last scheduled tick that each item has begun in this process.
	begun map[int]time.Time
	// leaving is set once this instance is on its way out: it begins nothing more.
	leaving bool
	// gone has since when an owner has been missing, for static sharding.
	gone map[string]time.Time
	// leaderless is how long nobody has led.
	leaderless time.Duration

	// clock is what is known of the store's. clockOff is whether the local one is farther
	// from it than the configuration allows, clockFar whether it is certainly wrong, or the
	// store's is.
	clock    coord.Clock
	clockOff bool
	clockFar bool
	// slack is how much later than usual a tick may be looked at without being late,
	// because the local clock was set, or the host was suspended.
	slack time.Duration
	// refused is the Modified of a configuration that this instance cannot follow, or 0.
	refused int64
	// ask asks the strategy of the settings.
	ask func(strategy.Request) ([]string, error)
}

// time is the local time, less what the local clock is certainly ahead of the store's. It
// is for what is written for others, whose clocks are right.
func (w *world) time() time.Time { return w.now.Add(-w.clock.Ahead(w.now)) }

// self is this process as an instance of the job.
type self struct {
	id      string // new with each session, and when a registration is given up
	ip      string
	labels  []string
	session coord.SessionID
}

// registered reports whether this instance is in the tree, with both of its nodes under
// its session.
func (w *world) registered() bool {
	in, ok := w.Instances[w.self.id]
	if !ok || in.Owner != w.self.session {
		return false
	}
	s, ok := w.Sessions[w.self.id]
	return ok && s.Owner == w.self.session
}

// active reports whether this instance may begin something of its own.
func (w *world) active() bool {
	return w.registered() && !w.leaving && w.Config != nil && w.ServerEnabled(w.self.ip) && !w.clockStops()
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
// removed while its session lives still has its runs. A node that no session of the store
// owns stands for nobody, whoever wrote it.
func (w *world) dead(id string) bool {
	return w.Instances[id].Owner == 0 && w.Sessions[id].Owner == 0
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

// eligible reports whether an instance may have items. One that has refused the
// configuration in force may not, as long as somebody has not, nor one whose clock is far
// off, as long as somebody's is right.
func (w *world) eligible(in jobtree.Instance) bool {
	return w.follows(in) && (!w.isFar(in.ID) || !w.anyClockRight())
}

// follows reports whether an instance may have items, whatever its clock shows.
func (w *world) follows(in jobtree.Instance) bool {
	return w.able(in) && (w.accepts(in.ID) || !w.anyAccepts())
}

// able reports whether an instance may have items, whatever it says to the configuration
// and its clock shows.
func (w *world) able(in jobtree.Instance) bool {
	return in.Owner != 0 && w.ServerEnabled(in.IP) && !w.Sessions[in.ID].ClockOff && w.labelled(in)
}

// labelled reports whether an instance has the label that the configuration asks for.
func (w *world) labelled(in jobtree.Instance) bool {
	return w.settings.Label == "" || slices.Contains(in.Labels, w.settings.Label)
}

// accepts reports whether an instance has not refused the configuration in force. A JVM
// member says nothing.
func (w *world) accepts(id string) bool {
	if w.Config == nil {
		return true
	}
	if id == w.self.id {
		return w.refused != w.Config.Modified
	}
	return w.Sessions[id].Refused != w.Config.Modified
}

// anyAccepts reports whether somebody who may have items follows the configuration. Where
// nobody does, the last good one of each stays in force, and somebody has to lead.
func (w *world) anyAccepts() bool {
	for id, in := range w.Instances {
		if w.accepts(id) && w.able(in) {
			return true
		}
	}
	return false
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
	owners, err = w.ask(request)
	if err != nil {
		return nil, err
	}
	if err := strategy.Check(request, owners); err != nil {
		return nil, err
	}
	return owners, nil
}
