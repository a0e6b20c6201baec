package ops

import (
	"cmp"
	"context"
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

// PauseRequest says how a job is to pause.
type PauseRequest struct {
	// Why is for people. It is cut after 255 bytes.
	Why string
	// MakeUp says what becomes of the ticks of the pause when it ends. With it each item runs once for all that it has
	// missed, also if misfire is off or the misfire window is over. Without it they are skipped, also if misfire is on.
	// What an item had missed before the pause stays due. (If the configuration has no time zone, it is skipped, too.)
	MakeUp bool
	// DisableJVM disables the servers of JVM members until the pause ends, because JVM members
	// know no pause. A server on which a Go member runs, too, is left as it is: its Go members
	// would lose their items.
	DisableJVM bool
}

// ResumeRequest says how a pause is to end.
type ResumeRequest struct {
	// MakeUp replaces that of the pause if it is not nil. Of a schedule that was changed meanwhile, ticks since then count.
	MakeUp *bool
}

// Paused says what a pause does not reach.
type Paused struct {
	// Since is when the job was paused, by the local clock, corrected if it certainly differs from the store's.
	Since time.Time
	// JVM are the ids of JVM members that go on running ticks, ascending.
	JVM []string
	// Old are the ids of Go members whose programs are too old to know a pause, ascending. They
	// go on running ticks, and one that leads ends the pause if the schedule changes.
	Old []string
	// Disabled are the servers that were disabled, ascending.
	Disabled []string
}

// Pause lets no further tick of the job begin. It is one commit: a tick that has not been
// claimed by then is not. Executions that run go on to their end, and are run again after a
// crash. Requests run as always. The pause stays, also if all processes end, until [Job.Resume].
//
// Members that keep no records (MonitorExecution off) learn of it a moment later.
//
// Errors: ErrPaused; those of a read and of a commit.
func (j *Job) Pause(ctx context.Context, r PauseRequest) (Paused, error) {
	var p Paused
	err := j.try(ctx, "pause", func(s *jobtree.State) error {
		var d jobtree.ScheduleDocument
		if s.Schedule != nil {
			d = s.Schedule.ScheduleDocument
		}
		if d.IsPaused() {
			return fmt.Errorf("%w: since %s, by %s", ErrPaused, d.Paused.Format(time.DateTime), brief.Quote(d.PausedBy))
		}
		p = Paused{Since: j.ops.now().UTC().Truncate(time.Millisecond)}
		var ops []coord.Op
		p.JVM, p.Disabled, ops = jvmServers(s, j.name, r.DisableJVM)
		p.Old = slices.DeleteFunc(slices.Sorted(maps.Keys(s.Instances)), func(id string) bool { return !s.IsOld(id) })
		d.Pause = jobtree.Pause{
			Paused: p.Since, PausedBy: j.ops.by, PausedWhy: brief.Cut(r.Why, maxBy), MakeUp: r.MakeUp,
			PausedServers: strings.Join(p.Disabled, ","),
		}
		act, err := j.ops.act(j.name, ActionPause)
		if err != nil {
			return err
		}
		act.change.Why = r.Why
		if len(p.Disabled) > 0 {
			act.change.Detail = "servers of JVM members disabled: " + strings.Join(p.Disabled, ", ")
		}
		return act.writeSchedule(ctx, s, j.name, d, ops...)
	})
	return p, err
}

// Resume ends a pause. Ticks from then on begin as always; those of the pause as it, or r, says. If
// they are made up and the last one has just come, the run counts as that tick on time. Resume
// enables the servers that the pause has disabled. It is one commit.
//
// Errors: ErrNotPaused; those of a read and of a commit.
func (j *Job) Resume(ctx context.Context, r ResumeRequest) error {
	return j.try(ctx, "resume", func(s *jobtree.State) error {
		if s.Schedule == nil || !s.Schedule.IsPaused() {
			return ErrNotPaused
		}
		d := s.Schedule.ScheduleDocument
		now := j.ops.now().UTC()
		if *cmp.Or(r.MakeUp, &d.MakeUp) {
			d.MakeUpTo = now
		} else if !d.Since.IsZero() {
			d.LastBefore = j.lastBeforePause(ctx, s)
			d.Since = now
		}
		var ops []coord.Op
		for ip := range strings.SplitSeq(d.PausedServers, ",") {
			if server := s.Servers[ip]; server != nil && !server.Enabled {
				ops = append(ops, coord.SetAt(server.Path, []byte(jobtree.Enabled), server.Version))
			}
		}
		act, err := j.ops.act(j.name, ActionResume)
		if err != nil {
			return err
		}
		act.change.Before = fmt.Sprintf("paused since %s, by %s", d.Paused.Format(time.RFC3339), brief.Text(d.PausedBy))
		d.Pause = jobtree.Pause{}
		return act.writeSchedule(ctx, s, j.name, d, ops...)
	})
}

// lastBeforePause returns the last tick before the pause: an item that has not begun it is late for it. It is
// zero if that cannot be told.
func (j *Job) lastBeforePause(ctx context.Context, s *jobtree.State) time.Time {
	config, err := jobtype.DecodeConfig(s.Config.Value)
	if err != nil || cronsOf(config) != s.Schedule.Cron || config.TimeZone != s.Schedule.TimeZone || config.TimeZone == "" {
		return time.Time{}
	}
	ticks, err := j.ops.ticks(ctx, config, s.Schedule)
	if err != nil || ticks == nil {
		return time.Time{}
	}
	return lastDue(ticks, s.Schedule, s.Schedule.Paused)
}

// writeSchedule writes the schedule's node, if nobody else has since.
func (a *act) writeSchedule(ctx context.Context, s *jobtree.State, name jobtree.Job, d jobtree.ScheduleDocument, ops ...coord.Op) error {
	value, err := jobtree.EncodeSchedule(d)
	if err != nil {
		return err
	}
	write := coord.Create(name.Schedule(), value)
	if s.Schedule != nil {
		write = coord.SetAt(name.Schedule(), value, s.Schedule.Version)
	}
	_, err = a.commit(ctx, append([]coord.Op{coord.Exists(name.Config()), write}, ops...)...)
	return err
}

// jvmServers returns the JVM members, the servers that only they use, if these are to be
// disabled, and the operations that disable them.
func jvmServers(s *jobtree.State, name jobtree.Job, disable bool) (members, servers []string, ops []coord.Op) {
	shared := map[string]bool{}
	jvm := map[string]bool{}
	for id, in := range s.Instances {
		if s.Sessions[id] != nil {
			shared[in.IP] = true
			continue
		}
		members = append(members, id)
		jvm[in.IP] = true
	}
	slices.Sort(members)
	if !disable {
		return members, nil, nil
	}
	for _, ip := range slices.Sorted(maps.Keys(jvm)) {
		if shared[ip] || !s.ServerEnabled(ip) || coord.ValidatePath(name.Server(ip)) != nil {
			continue
		}
		servers = append(servers, ip)
		write := coord.Create(name.Server(ip), []byte(jobtree.Disabled))
		if server := s.Servers[ip]; server != nil {
			write = coord.SetAt(server.Path, []byte(jobtree.Disabled), server.Version)
		}
		ops = append(ops, write)
	}
	members = slices.DeleteFunc(members, func(id string) bool { return slices.Contains(servers, s.Instances[id].IP) })
	return members, servers, ops
}
