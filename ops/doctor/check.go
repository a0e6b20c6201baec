package doctor

import (
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// check finds what is wrong with a job at one look.
func (w *world) check(c *collector) {
	w.checkTree(c)
	w.checkFaults(c)
	w.checkMembers(c)
	w.checkServers(c)
	if is, isRemoved := w.ns.removed[w.name]; isRemoved {
		s := w.about(RemovalIgnored, Warning, "it was removed, and is there again: a JVM member, or a program of an early version, does not know removals", "end that program, then remove the job again; or readmit it", Readmit)
		if is.movedTo != "" {
			s.Severity, s.Cause = Critical, fmt.Sprintf("it was moved to %s, and is there again, by a JVM member or a program of an early version, which do not know that: what joins it here runs it twice", brief.Quote(is.movedTo))
			s.Advice = "end that program, then remove the job again: it stays moved"
			s.Action, s.Command = Remove, commandOf(Remove, w.name)
		}
		s.mark = is.written
		c.add(s)
	}
	if !w.checkConfig(c) {
		return
	}
	w.checkSchedule(c)
	if w.checkPresence(c) {
		w.checkDealing(c)
		w.checkItems(c)
	}
	w.checkRequests(c)
}

// about returns a symptom of the job as a whole.
func (w *world) about(kind Kind, severity Severity, cause, advice string, do Action) symptom {
	s := symptom{Finding: Finding{Kind: kind, Severity: severity, Job: w.name, Cause: cause, Advice: advice, Action: do, Command: commandOf(do, w.name)}}
	if w.LeaderIsAlive() {
		s.leader = w.Leader.ID
	}
	return s
}

// checkConfig reports whether the configuration can be read.
func (w *world) checkConfig(c *collector) bool {
	err := w.configErr
	if err == nil && w.config.Name != w.name {
		err = fmt.Errorf("it is that of job %s", brief.Quote(w.config.Name))
	}
	if err == nil {
		return true
	}
	severity := Critical
	if w.isOld() && len(w.jvm) > 0 && !w.hasGo() {
		severity = Warning // those that run the job read it
	}
	s := w.about(ConfigUnreadable, severity, "the configuration cannot be read: "+brief.Error(err).Error(),
		"correct it; Go instances that have read an earlier one go on by it, others cannot start; JVM members may run by it", "")
	s.Command = "elasticjob apply -f FILE"
	if fault, ok := errors.AsType[*jobtype.ConfigError](err); ok && !fault.Partial && fault.Job == w.name {
		s.Action, s.Command = Edit, commandOf(Edit, w.name)
	}
	s.Path, s.mark = w.Job.Config(), w.Config.Modified
	c.add(s)
	return false
}
