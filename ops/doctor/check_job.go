package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// check finds what is wrong with a job at one look.
func (w *world) check(c *collector) {
	w.checkTree(c)
	w.checkFaults(c)
	w.checkMembers(c)
	w.checkServers(c)
	if written, isRemoved := w.ns.removed[w.name]; isRemoved {
		s := w.about(RemovalIgnored, Warning, "it was removed, and is there again: a JVM member, or a program of an early version, does not know removals", "end that program, then remove the job again; or readmit it", "elasticjob readmit "+w.name)
		s.mark = written
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
func (w *world) about(kind Kind, severity Severity, cause, advice, command string) symptom {
	return symptom{Finding: Finding{Kind: kind, Severity: severity, Job: w.name, Cause: cause, Advice: advice, Command: command}}
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
	s := w.about(ConfigUnreadable, Critical, "the configuration cannot be read: "+brief.Error(err).Error(),
		"write it again; instances that have read an earlier one go on by it, others cannot start", "elasticjob apply -f FILE")
	s.Path, s.mark = w.Job.Config(), w.Config.Modified
	c.add(s)
	return false
}

// checkMembers looks at what each instance says of itself.
func (w *world) checkMembers(c *collector) {
	refused := 0
	for _, id := range w.ids {
		s := w.Session(id)
		if s.Refused == w.Config.Modified {
			refused++
		}
	}
	for _, id := range w.ids {
		if w.isJVM(id) {
			continue
		}
		s := w.Session(id)
		add := func(kind Kind, severity Severity, mark int64, cause, advice string) {
			found := w.about(kind, severity, cause, advice, "")
			found.Instance, found.mark = id, mark
			c.add(found)
		}
		switch {
		case s.Protocol > jobtree.Protocol:
			add(ProtocolNewer, Critical, s.Created, fmt.Sprintf("it shares the tree by protocol %d, and this binary knows %d at most: what it says of such a job may be wrong", s.Protocol, jobtree.Protocol),
				"update this binary, and the programs of the other instances")
		case s.Protocol < jobtree.Protocol:
			add(ProtocolOlder, Warning, s.Created, fmt.Sprintf("it shares the tree by protocol %d, and %d is the newest: it knows no kills, pauses, requests and pins", s.Protocol, jobtree.Protocol),
				"update its program")
		}
		switch {
		case s.ClockOff:
			add(ClockOff, Critical, s.Created, fmt.Sprintf("its clock is farther from the store's than the %v that the job allows, so it runs nothing", w.config.MaxTimeDiff), "set the clock of its host")
		case s.ClockFar:
			add(ClockOff, Warning, s.Created, "its clock is more than 10 s from the store's, so its items go to others", "set the clock of its host")
		}
		if s.Protocol == 0 {
			continue // it does not say what it works by
		}
		accepted := s.Accepted
		if accepted == 0 && s.Created == w.Config.Modified {
			accepted = s.Created // the commit that wrote its node wrote the configuration, too
		}
		switch {
		case s.Refused == w.Config.Modified:
			severity := Warning
			if refused == len(w.ids) {
				severity = Critical
			}
			add(ConfigRefused, severity, s.Refused, "it refuses the configuration in the store, and goes by an earlier one; its faults say why",
				"correct the configuration, or give the process what the configuration names")
		case accepted != w.Config.Modified:
			add(ConfigBehind, Warning, w.Config.Modified, "it still works by an earlier configuration", "look at its faults and its log; restart it if it does not follow")
		}
		if w.configErr == nil && s.Revision != 0 && s.Revision != w.config.Revision {
			severity, advice := Warning, "find out why the newer one of the program is not in the store: its precedence, or its rights"
			if s.Revision < w.config.Revision {
				severity, advice = Info, "nothing, if its program is to be replaced; otherwise give it the configuration of the store"
			}
			add(ConfigRevision, severity, s.Created, fmt.Sprintf("its program brings revision %d of the configuration, and that of the store is %d", s.Revision, w.config.Revision), advice)
		}
	}
	w.checkMixed(c)
}

// checkMixed finds what the job uses, and JVM members do not know.
func (w *world) checkMixed(c *collector) {
	if len(w.jvm) == 0 {
		return
	}
	var uses []string
	for _, use := range []struct {
		is   bool
		what string
	}{
		{w.IsPaused(), "the pause"},
		{len(w.Pins) > 0, "pins"},
		{len(w.Kills) > 0, "kills"},
		{w.config.Expiry != job.Expiry{}, "the end of the job"},
		{len(w.config.Calendars) > 0, "calendars"},
		{len(w.config.MoreCrons) > 0, "further cron expressions"},
		{w.config.Jitter > 0, "the jitter"},
		{w.config.MaxItems > 0, "the bound of items of an instance"},
		{w.config.Overlap == job.OverlapSkip, "that ticks are left out while an item runs"},
		{w.config.Broadcast, "that each instance has one item"},
	} {
		if use.is {
			uses = append(uses, use.what)
		}
	}
	if len(uses) == 0 {
		return
	}
	s := w.about(MixedJVM, Warning, fmt.Sprintf("%d JVM members do not know %s", len(w.jvm), strings.Join(uses, ", ")),
		"replace the JVM members, or do without; for a pause, disable their servers", "")
	s.Instance = w.jvm[0]
	c.add(s)
}

// checkServers looks for servers that are disabled and have no instance.
func (w *world) checkServers(c *collector) {
	for _, ip := range sortedKeys(w.Servers) {
		server := w.Servers[ip]
		has := slices.ContainsFunc(w.ids, func(id string) bool { return w.Instances[id].IP == ip })
		if server.Enabled || has {
			continue
		}
		s := w.about(ServerIdle, Info, fmt.Sprintf("server %s is disabled, and has no instance: the next one there will have no items", brief.Quote(ip)),
			"enable it, or remove it", fmt.Sprintf("elasticjob enable %s --server %s", w.name, brief.Text(ip)))
		s.Path, s.mark = server.Path, server.Modified
		c.add(s)
	}
}

// checkSchedule looks at when the job is to run.
func (w *world) checkSchedule(c *collector) {
	if w.IsPaused() {
		p := w.Schedule.Pause
		s := w.about(Paused, Info, fmt.Sprintf("it is paused by %s: %s", brief.Quote(p.PausedBy), brief.Quote(p.PausedWhy)), "resume it when the reason is over", "elasticjob resume "+w.name)
		s.Since, s.mark = p.Paused, p.Paused.UnixMilli()
		c.add(s)
	}
	for _, name := range w.config.Calendars {
		cause := ""
		switch sheet, isThere := w.ns.calendars[name]; {
		case !isThere:
			cause = "is not there"
		case sheet.err != nil:
			cause = "cannot be read: " + brief.Error(sheet.err).Error()
		default:
			continue
		}
		s := w.about(CalendarBroken, Critical, fmt.Sprintf("its calendar %s %s: processes that know it go by what it said, others begin no tick", brief.Quote(name), cause),
			"write the calendar again", "elasticjob calendar put "+brief.Text(name)+" --file FILE")
		s.Path = jobtree.Calendar(name)
		c.add(s)
	}
	if w.HasExpired() {
		advice := "remove the job, or move its end"
		if w.Rules.RemoveExpired {
			advice = "nothing: it goes when all that it has left is done"
		}
		c.add(w.about(Expired, Info, "it has no tick to come, because it has reached its end", advice, ""))
	}
	if w.Rules.Ticks == nil {
		return
	}
	if !w.Rules.Expires() && w.Rules.KnowsCalendars() && w.Rules.Ticks.Next(w.ns.now).IsZero() {
		why := fmt.Sprintf("its cron expression %s has no tick to come", brief.Quote(w.config.Cron))
		if len(w.config.Calendars) > 0 {
			why += ", or its calendars leave all of them out"
		}
		c.add(w.about(NoTick, Warning, why, "correct the expression; or give the job an end, or remove it", ""))
	}
	if w.hasGo() && !w.JVMLeads() && len(w.Eligible()) > 0 && w.Rules.KnowsCalendars() && !w.IsInForce() {
		s := w.about(NotInForce, Critical, fmt.Sprintf("the schedule %s is not recorded as the one in force, so no tick of it begins", brief.Quote(w.config.Cron)),
			"look at the faults of the leader: it may have refused the configuration", "")
		s.mark = w.Config.Modified
		c.add(s)
	}
	if !w.Clock.Known {
		return
	}
	f := w.FutureTimes(&decide.Work{})
	if f.Schedule {
		s := w.about(FutureTime, Warning, "the schedule counts from a time that has not come, so no tick begins before", "set the clocks; the leader corrects it when the store's clock is known", "")
		s.Path, s.mark = w.Schedule.Path, w.Schedule.Modified
		c.add(s)
	}
	for _, i := range f.Items {
		c.addItem(i, w.Item(i).Fired.Modified, w.about(FutureTime, Warning, "the last tick of these items has not come, so none begins before", "set the clocks; the leader corrects it when the store's clock is known", ""))
	}
}

// checkPresence looks for whoever could run the job, and reports whether somebody may.
func (w *world) checkPresence(c *collector) bool {
	if len(w.ids) == 0 {
		w.checkAbsence(c)
		return false
	}
	enabled := slices.DeleteFunc(slices.Clone(w.ids), func(id string) bool { return !w.ServerEnabled(w.Instances[id].IP) })
	switch {
	case len(enabled) == 0:
		c.add(w.about(AllDisabled, Info, "the servers of all its instances are disabled, so it does not run", "enable them when the reason is over", "elasticjob enable "+w.name))
		return false
	case w.Rules.Label != "" && !slices.ContainsFunc(enabled, func(id string) bool { return slices.Contains(w.Instances[id].Labels, w.Rules.Label) }):
		c.add(w.about(LabelNobody, Critical, fmt.Sprintf("no enabled instance has the label %s, so nobody may have its items", brief.Quote(w.Rules.Label)),
			"start a process with the label, or change the label of the job", ""))
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
		c.add(w.about(NoInstance, Critical, "no instance lives, so it does not run", "start a process of the job", ""))
	case len(offering) == 0:
		c.add(w.about(NotOffered, Critical,
			fmt.Sprintf("no instance lives, and none of %d Runners in the namespace offers %s", len(w.ns.runners), brief.Quote(w.Implementation)),
			"start the program of the job, or a Runner that offers it; or name another implementation", ""))
	default:
		s := w.about(NoInstance, Critical, fmt.Sprintf("no instance lives, although %d Runners may offer it: they cannot start it, or it was shut down there", len(offering)),
			"look at its faults, and at the logs of the Runners", "")
		for _, r := range offering {
			s.mark = max(s.mark, r.written) // one that is starting jobs goes on to say how many items it has
		}
		c.add(s)
	}
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
	if !w.LeaderStands() {
		severity := Critical
		if !w.hasGo() {
			severity = Warning // JVM members elect one when they need it
		}
		c.add(w.about(NoLeader, severity, "no instance leads, so items are not dealt, and what is cut short is not run again", "look at the faults and logs of its instances; restart them one by one", ""))
	}
	if w.Necessary && !w.JVMLeads() {
		c.add(w.about(DealPending, Warning, "the items are to be dealt anew, and the leader does not do it", "look at the faults of the leader", ""))
	}
	if w.Processing {
		severity, why := Critical, "which is never so with our instances: they begin no item before it is gone"
		if w.JVMLeads() {
			severity, why = Warning, "and the JVM member that leads does not end with it"
		}
		s := w.about(StaleProcessing, severity, "a mark says that items are being dealt, "+why, "remove the node", "")
		s.Path = w.Job.Processing()
		c.add(s)
	}
}
