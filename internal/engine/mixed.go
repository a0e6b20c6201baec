package engine

import (
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

// beside is what this instance remembers beside JVM members.
type beside struct {
	undone since         // a JVM leader has left something undone in its deal: askForDeal
	askAt  clocks.Moment // not before that it is asked for another deal: askForDeal
	orphan since         // runs that have been cut short were not recovered: mayRecover
}

const (
	// undoneTime is how long a deal may be incomplete, and askPause the least time between two requests for
	// another one, which a JVM leader carries out in its next fire.
	undoneTime = time.Second
	askPause   = 30 * time.Second
	// recoverTime is how long JVM members have to recover what was cut short, under one that leads.
	recoverTime = 10 * time.Second
)

// witness writes which ticks JVM members have begun.
func (c *controller) witness(w *decide.World) error {
	c.commitAll(w.Witness())
	if wait := w.WitnessWait(); wait > 0 {
		c.wakeIn(wait)
	}
	return nil
}

// unmark removes marks of failovers that nothing here runs any more.
func (c *controller) unmark(w *decide.World) error {
	c.commitAll(w.Unmark(c.work))
	return nil
}

// mayRecover reports whether it is for this instance to recover what was cut short. Under a JVM leader all
// JVM members do so, as soon as an instance ends; what they leave is for the coordinator.
func (c *controller) mayRecover(w *decide.World) bool {
	if w.Leads() {
		return true
	}
	if !w.IsMixed() || !w.JVMLeads() || !w.IsCoordinator() {
		return false
	}
	has := len(w.Orphans()) > 0
	held := c.orphan.hold(has, w.Moment)
	if has && held < recoverTime {
		c.wakeIn(recoverTime - held)
	}
	return has && held >= recoverTime
}

// askForDeal asks a JVM leader to deal again if it has left something undone.
func (c *controller) askForDeal(w *decide.World) error {
	lacks := w.LacksDeal()
	held := c.undone.hold(lacks, w.Moment)
	switch wait := max(undoneTime-held, c.askAt.Sub(w.Moment)); {
	case !lacks:
	case wait > 0:
		c.wakeIn(min(wait, askPause))
	case c.commit(w.AskForDeal()):
		c.askAt = w.Moment.Add(askPause)
	}
	return nil
}

// mixedTold is the configuration that was last looked at for what JVM members do otherwise; 0 while
// there are none. tellMixed changes it.
type mixedTold int64

// tellWritten tells in the log that this process has written the configuration where elastic-job 2.1 could have members:
// they cannot start with it, and leave no trace of that in the registry.
func (c *controller) tellWritten(before []byte) {
	const what = "the configuration is written as ElasticJob 3.0 has it: members of elastic-job 2.1 cannot start any more"
	servers := jobtree.Read(c.view.Snapshot(), c.job).OldServers()
	if len(servers) == 0 && !jobconf.IsOld(before) {
		c.log.Debug(what)
		return
	}
	var list brief.List
	for _, ip := range servers {
		list.Add(ip)
	}
	c.log.Warn(what, zap.Stringer("servers of 2.1", &list), zap.String("advice", "replace them by Go members, or by members of ElasticJob 3.0"))
}

// tellMixed tells in the log what JVM members of the job do otherwise: when they come, and when
// the configuration changes meanwhile.
func (c *controller) tellMixed(w *decide.World) {
	id := w.AnyJVM()
	if id == "" || w.Config == nil {
		c.mixedTold = 0
		return
	}
	if c.mixedTold == mixedTold(w.Config.Modified) {
		return
	}
	c.mixedTold = mixedTold(w.Config.Modified)
	issues, err := jobtype.MixedIn(w.Config.Value)
	if err != nil {
		return // the fault of the configuration says so
	}
	issues = append(issues, jobtype.MixedServers(slices.Collect(maps.Keys(w.Servers)))...)
	for _, i := range append(issues, jobtype.MixedOld(w.Config.Value, w.OldMembers())...) {
		fields := []zap.Field{zap.String("member", id), zap.String("field", i.Field), zap.String("does", i.Does), zap.String("advice", i.Advice)}
		if i.Harm == "" {
			c.log.Info("JVM members do something otherwise", fields...)
			continue
		}
		c.log.Warn("JVM members do something otherwise, with harm", append(fields, zap.String("harm", i.Harm))...)
	}
}
