package jvm

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

const (
	// undoneTime is how long an assignment may be incomplete, and askPause the least time between
	// two requests for another one, which a JVM leader carries out in its next fire.
	undoneTime = time.Second
	askPause   = 30 * time.Second
	// recoverTime is how long JVM members have to recover what was cut short, under one that leads.
	recoverTime = 10 * time.Second
)

// Members is what this instance remembers of JVM members.
type Members struct {
	Log    *zap.Logger
	WakeIn func(time.Duration) // has the job make a pass after that time

	undone clocks.Condition // a JVM leader has left something undone in its assignment
	askAt  clocks.Moment    // not before that it is asked for another one
	orphan clocks.Condition // runs that have been cut short were not recovered
	told   int64            // the configuration whose differences the log has; 0 while there are no JVM members
}

// MayMarkForFailover reports whether it is for this instance to recover what was cut short. Under a JVM leader all
// JVM members do so, as soon as an instance ends; what they leave is for the coordinator.
func (m *Members) MayMarkForFailover(w *decide.World) bool {
	if w.Leads() {
		return true
	}
	if !w.IsMixed() || !w.JVMLeads() || !w.IsCoordinator() {
		return false
	}
	has := len(w.Orphans()) > 0
	held := m.orphan.Track(has, w.Moment)
	if has && held < recoverTime {
		m.WakeIn(recoverTime - held)
	}
	return has && held >= recoverTime
}

// RequestReshard asks a JVM leader to assign the items again if it has left something undone.
func (m *Members) RequestReshard(w *decide.World, commit func(decide.Change) bool) {
	lacks := w.NeedsReshard()
	held := m.undone.Track(lacks, w.Moment)
	switch wait := max(undoneTime-held, m.askAt.Sub(w.Moment)); {
	case !lacks:
	case wait > 0:
		m.WakeIn(min(wait, askPause))
	case commit(w.RequestReshard()):
		m.askAt = w.Moment.Add(askPause)
	}
}

// LogDifferences logs what JVM members of the job do otherwise: when they come, and when the
// configuration changes meanwhile.
func (m *Members) LogDifferences(w *decide.World) {
	id := w.AnyJVM()
	if id == "" || w.Config == nil {
		m.told = 0
		return
	}
	if m.told == w.Config.Modified {
		return
	}
	m.told = w.Config.Modified
	issues, err := jobtype.MixedIn(w.Config.Value)
	if err != nil {
		return // the fault of the configuration says so
	}
	issues = append(issues, jobtype.MixedServers(slices.Collect(maps.Keys(w.Servers)))...)
	for _, i := range append(issues, jobtype.MixedOld(w.Config.Value, w.OldMembers())...) {
		fields := []zap.Field{zap.String("member", id), zap.String("field", i.Field), zap.String("does", i.Does), zap.String("advice", i.Advice)}
		if i.Harm == "" {
			m.Log.Info("JVM members do something otherwise", fields...)
			continue
		}
		m.Log.Warn("JVM members do something otherwise, with harm", append(fields, zap.String("harm", i.Harm))...)
	}
}

// CheckWrite returns ErrOldMembers if a configuration is not to be written in place of before: that is one of elastic-job
// 2.1, and a JVM member lives, which can be of no other version then.
func CheckWrite(before []byte, s *jobtree.State) error {
	if member := (&decide.World{State: s}).AnyJVM(); member != "" && jobconf.IsOld(before) {
		return fmt.Errorf("%w: %s", jobtype.ErrOldMembers, brief.Quote(member))
	}
	return nil
}

// LogWritten logs that this process has written a configuration in place of before, where elastic-job 2.1 could
// have members on these servers: they cannot start with it, and leave no trace of that in the registry.
func (m *Members) LogWritten(before []byte, servers []string) {
	const what = "the configuration is written as ElasticJob 3.0 has it: members of elastic-job 2.1 cannot start any more"
	if len(servers) == 0 && !jobconf.IsOld(before) {
		m.Log.Debug(what)
		return
	}
	var list brief.List
	for _, ip := range servers {
		list.Add(ip)
	}
	m.Log.Warn(what, zap.Stringer("servers of 2.1", &list), zap.String("advice", "replace them by Go members, or by members of ElasticJob 3.0"))
}
