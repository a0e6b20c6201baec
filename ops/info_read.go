package ops

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// tree is a job and what its tree says.
type tree struct {
	name jobtree.Job
	*jobtree.State
}

// trees reads the jobs of the namespace in one walk, and holds one of them at a time. Their order is
// nearly that of their names: what is below a comes after what is below a-b. An error is the last
// that comes.
func (o *Ops) trees(ctx context.Context) iter.Seq2[tree, error] {
	return func(yield func(tree, error) bool) {
		var above []coord.Node // jobs' nodes, each of whose names begins the next one's
		var name jobtree.Job
		var reader *jobtree.Reader // nil while there is no job, or it cannot be one
		hasConfig := false
		end := func() bool {
			if !hasConfig {
				return true
			}
			s := reader.State()
			reader, hasConfig = nil, false
			return yield(tree{name, s}, nil)
		}
		for n, err := range o.reg.Walk(ctx, "") {
			if err != nil {
				yield(tree{}, err)
				return
			}
			top, _, isBelow := strings.Cut(n.Path, "/")
			if !isBelow || top != string(name) {
				if !end() {
					return
				}
				for len(above) > 0 && !strings.HasPrefix(top, above[len(above)-1].Path) {
					above = above[:len(above)-1]
				}
				name, reader = jobtree.Job(top), nil
				switch {
				case !isJob(top) || !o.wants(top):
					continue
				case !isBelow:
					name, above = "", append(above, n)
					continue
				}
				reader = jobtree.NewReader(name)
				if last := len(above) - 1; last >= 0 && above[last].Path == top {
					reader.Add(above[last])
				}
			}
			if reader == nil {
				continue
			}
			hasConfig = hasConfig || n.Path == name.Config()
			if !hasConfig && n.Path > name.Config() {
				reader = nil // what is left of a job that was removed may be large
				continue
			}
			reader.Add(n)
		}
		end()
	}
}

// inParallel looks at each of some trees, at a few of them at a time, while the next ones are read.
// It returns when all that it has begun has ended.
func inParallel(trees iter.Seq2[tree, error], look func(tree)) error {
	var workers sync.WaitGroup
	queue := make(chan tree, 16)
	for range max(2, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for found := range queue {
				look(found)
			}
		})
	}
	defer workers.Wait()
	defer close(queue)
	for found, err := range trees {
		if err != nil {
			return err
		}
		queue <- found
	}
	return nil
}

// isJob reports whether a job can have a name, if only one of JVM members.
func isJob(name string) bool { return jobtree.IsName(name) || jobtree.IsJVMName(name) }

// informant tells about jobs. It may be used from several goroutines.
type informant struct {
	now       time.Time
	calendars func() (map[string]*Calendar, error) // reads all of them, once, if a job names any
}

func (o *Ops) newInformant(ctx context.Context) *informant {
	return &informant{now: o.now(), calendars: sync.OnceValues(func() (map[string]*Calendar, error) {
		list, err := o.Calendars(ctx)
		byName := make(map[string]*Calendar, len(list))
		for _, c := range list {
			byName[c.Name] = c
		}
		return byName, err
	})}
}

// job returns what a list of jobs shows of one.
func (f *informant) job(name jobtree.Job, s *jobtree.State) JobInfo {
	c, unread := jobtype.DecodeConfig(s.Config.Value)
	i := JobInfo{Name: string(name), Implementation: brief.Cut(s.Implementation, maxWord), Version: s.Config.Modified, Status: jobStatus(s)}
	if i.JVMOnly = jobtree.IsJVMName(i.Name); i.JVMOnly {
		unread = butName(unread)
	}
	i.configInfo(c, unread)
	i.members(s)
	i.items(s)
	for _, r := range s.Requests {
		i.Requests += count(!r.IsOver())
	}
	i.Pins = len(s.Pins)
	i.faults(s)
	resumed := time.Time{}
	if s.Schedule != nil {
		if resumed = s.Schedule.MakeUpTo; s.Schedule.IsPaused() {
			i.Paused = pauseOf(s.Schedule.Pause)
		}
	}
	i.BegunLate = Lateness(i.Last.Source, i.Last.Tick, i.Last.Begun, resumed) > LateAfter+c.Jitter
	if unread == nil {
		f.next(&i, c, s.Schedule)
	}
	i.Healthy = i.isHealthy()
	return i
}

// butName returns the error of a configuration that cannot be read; nil if only the name is no Go job's.
func butName(unread error) error {
	if invalid, ok := errors.AsType[*jobtype.ConfigError](unread); ok && invalid.More == 0 && len(invalid.Faults) == 1 && invalid.Faults[0].Field == "jobName" {
		return nil
	}
	return unread
}

func pauseOf(p jobtree.Pause) PauseInfo {
	return PauseInfo{Since: p.Paused.UTC(), By: brief.Cut(p.PausedBy, maxWord), Why: brief.Cut(p.PausedWhy, maxWord), MakeUp: p.MakeUp}
}

// next writes when the next tick is.
func (f *informant) next(i *JobInfo, c jobtype.Config, recorded *jobtree.Schedule) {
	ticks, err := ticksOf(c, recorded, f.calendar)
	if err != nil {
		i.NextError = brief.Error(err).Error()
		return
	}
	ends := c.Expiry != jobtype.Expiry{}
	if ticks == nil {
		i.Expired = !c.Expiry.At.IsZero() && !f.now.Before(c.Expiry.At)
		return
	}
	next := ticks.Next(f.now)
	i.Expired = ends && next.IsZero()
	if !i.isPaused() {
		i.Next = next.UTC() // so that it is the same each time
	}
}

// calendar returns a calendar of the namespace.
func (f *informant) calendar(name string) (*Calendar, error) {
	all, err := f.calendars()
	if err != nil {
		return nil, err
	}
	if c := all[name]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("calendar %s: %w", brief.Text(name), ErrNoCalendar)
}

// list reads the children of a node that need not be there.
func (o *Ops) list(ctx context.Context, path string) ([]coord.Node, error) {
	nodes, err := o.reg.List(ctx, path)
	if errors.Is(err, coord.ErrNoNode) {
		err = nil
	}
	return nodes, err
}
