package doctor

import (
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// checkPresence looks for whoever could run the job, and reports whether somebody may.
func (w *world) checkPresence(c *collector) bool {
	enabled := slices.DeleteFunc(slices.Clone(w.ids), func(id string) bool { return !w.ServerEnabled(w.Instances[id].IP) })
	switch {
	case w.IsDisabled && len(enabled) == 0:
		c.add(w.about(AllDisabled, Info, "an operator has disabled the job, so it does not run", "enable it when the reason is over", Enable))
		return false
	case len(w.ids) == 0:
		w.checkAbsence(c)
		return false
	case len(enabled) == 0:
		c.add(w.about(AllDisabled, Info, "the servers of all its instances are disabled, so it does not run", "enable them when the reason is over", Enable))
		return false
	case w.Rules.Label != "" && !slices.ContainsFunc(enabled, func(id string) bool { return slices.Contains(w.Instances[id].Labels, w.Rules.Label) }):
		advice := "start a process with the label, or change the label of the job"
		if i := slices.IndexFunc(w.ids, func(id string) bool { return slices.Contains(w.Instances[id].Labels, w.Rules.Label) }); i >= 0 {
			advice = fmt.Sprintf("enable server %s, which has the label, or %s", brief.Quote(w.Instances[w.ids[i]].IP), advice) // no enabled one has it
		}
		c.add(w.about(LabelNobody, Critical, fmt.Sprintf("no enabled instance has the label %s, so nobody may have its items", brief.Quote(w.Rules.Label)), advice, ""))
		return false
	case len(w.Eligible()) == 0:
		c.add(w.about(NobodyMay, Critical, "no instance may have its items: all refuse the configuration, or have clocks that are off", "correct the configuration, or set the clocks", ""))
		return false
	}
	return true
}

// checkAbsence says why it matters that no instance lives.
func (w *world) checkAbsence(c *collector) {
	isAsked := slices.ContainsFunc(w.Requests, func(r *jobtree.Request) bool { return r.Err == nil && r.Ended.IsZero() })
	hasTicks := w.Rules.Ticks != nil && !w.HasExpired() && !w.Ticks().Next(w.ns.now).IsZero()
	if !hasTicks && !isAsked && len(w.FailoverItems) == 0 {
		return
	}
	offering := w.offering()
	switch {
	case len(w.ns.runners) == 0:
		c.add(w.about(NoInstance, Critical, w.gone(), "start a process of the job, or remove the job if no program has it any more", ""))
	case len(offering) == 0:
		c.add(w.about(NotOffered, Critical,
			fmt.Sprintf("no instance lives, and none of %d Runners in the namespace offers %s", len(w.ns.runners), brief.Quote(w.Implementation)),
			"start the program of the job (again, if it was shut down), or a Runner that offers it; or name another implementation", ""))
	default:
		s := w.about(NoInstance, Critical, fmt.Sprintf("no instance lives, although %d Runners may offer it: they cannot start it, or it was shut down there", len(offering)),
			"start the process again if it was shut down; otherwise look at its faults, and at the logs of the Runners", "")
		for _, r := range offering {
			s.mark = max(s.mark, r.written) // one that is starting jobs goes on to say how many items it has
		}
		c.add(s)
	}
}

// gone says what the tree tells of the instances that there were: see ops.JobCrashed.
func (w *world) gone() string {
	var cut []int
	for i := range w.Items {
		if running := w.Items[i].Running; running != nil && w.Sessions[running.ID] == nil {
			cut = append(cut, i)
		}
	}
	switch {
	case len(cut) > 0:
		return "no instance lives, so it does not run; one has crashed in the middle of items " + brief.Items(cut)
	case len(w.Servers)+len(w.Items)+len(w.Sessions) == 0:
		return "no instance has ever joined, so it does not run"
	}
	return "no instance lives, so it does not run; the last one has left, or died while it ran nothing that has a record"
}

// offering returns the Runners that may offer what runs the job.
func (w *world) offering() (list []runner) {
	offer := w.Implementation
	if offer == "" {
		offer = w.name
	}
	for _, r := range w.ns.runners {
		// One that has no room to tell all may offer it.
		if r.MoreOffers > 0 || slices.Contains(r.Offers, offer) || w.Implementation == "" && slices.Contains(r.Offers, "SCRIPT") {
			list = append(list, r)
		}
	}
	return list
}

// checkDealing looks at the leader, and at what it has to do.
func (w *world) checkDealing(c *collector) {
	if !w.LeaderIsAlive() {
		severity := Critical
		if !w.hasGo() {
			severity = Warning // JVM members elect one when they need it
		}
		c.add(w.about(NoLeader, severity, "no instance leads, so items are not assigned, and what is cut short is not run again", "look at the faults and logs of its instances; restart them one by one", ""))
	}
	if w.ReshardsFromScratch() && !w.JVMLeads() {
		c.add(w.about(ReshardPending, Warning, "the items are to be resharded, and the leader does not do it", "look at the faults of the leader", ""))
	}
	if w.Processing {
		severity, why := Critical, "which a leader of ours removes after some seconds"
		if w.JVMLeads() {
			severity, why = Warning, "and the JVM member that leads does not end with it"
		}
		s := w.about(StaleProcessing, severity, "a mark says that items are being assigned, "+why, "clear it", ClearStale)
		s.Path = w.Job.Processing()
		c.add(s)
	}
}
