package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// checkMixed finds what a job has that its JVM members do not know, or do otherwise, and says who they are.
func (w *world) checkMixed(c *collector) {
	w.checkOldServers(c)
	if len(w.jvm) == 0 {
		return
	}
	add := func(field, cause, advice string) {
		s := w.about(MixedJVM, Warning, cause, advice, "")
		s.Instance, s.detail = w.jvm[0], field
		c.add(s)
	}
	var uses []string
	for _, use := range []struct {
		is   bool
		what string
	}{
		{w.IsPaused(), "the pause"},
		{len(w.Pins) > 0, "pins"},
		{len(w.Kills) > 0, "kills"},
	} {
		if use.is {
			uses = append(uses, use.what)
		}
	}
	if len(uses) > 0 {
		add("", fmt.Sprintf("%d JVM members do not know %s", len(w.jvm), strings.Join(uses, ", ")),
			"replace the JVM members, or do without; for a pause, disable their servers")
	}
	var issues []jobtype.MixedIssue
	if w.checkOldMembers(c); !w.isOld() {
		var err error
		if issues, err = jobtype.MixedIn(w.Config.Value); err != nil {
			issues = nil // that Go members refuse it is a finding of its own
		}
	}
	for _, i := range append(issues, jobtype.MixedServers(sortedKeys(w.Servers))...) {
		if i.Harm != "" {
			add(i.Field, fmt.Sprintf("%s: JVM members %s; so %s", i.Field, i.Does, i.Harm), i.Advice)
		}
	}
	if w.hasGo() {
		c.add(w.about(Mixed, Info, w.whoShares(), "nothing, as long as the job moves from one kind to the other", ""))
	}
}

// isOld reports whether the configuration is a document of elastic-job 2.1. JVM members that are there can be of no other
// version then.
func (w *world) isOld() bool { return jobconf.IsOld(w.Config.Value) }

// checkOldMembers finds members of elastic-job 2.1, and says in which order they go. Other advice about the configuration
// is about effects: it would end their work, or is of no use to them.
func (w *world) checkOldMembers(c *collector) {
	add := func(severity Severity, cause, advice string) {
		s := w.about(MixedJVM, severity, cause, advice, "")
		s.Instance, s.detail = w.jvm[0], string(oldMembers)
		c.add(s)
	}
	if w.isOld() {
		add(Warning, fmt.Sprintf("members of elastic-job 2.1 run the job (%v), and read no document but their own: once an update has written another one they run nothing, and do not start again; apply, and programs with overwrite or a larger revision, wait until they are gone", listed(w.jvm)),
			"stop the members of 2.1 first, keep a copy of the configuration for the way back, then start Go members, and change it only then")
		return
	}
	old := w.OldMembers()
	for _, i := range jobtype.MixedOld(w.Config.Value, old) {
		severity := Warning
		if slices.ContainsFunc(w.Items, func(i jobtree.Item) bool { return i.Owner != nil && slices.Contains(old, i.Owner.ID) }) {
			severity = Critical
		}
		add(severity, fmt.Sprintf("%s: JVM members %s; so %s", i.Field, i.Does, i.Harm), i.Advice)
	}
}

// checkOldServers finds servers of elastic-job 2.1 without a member that lives, if members cannot start any more: those that
// fail leave nothing in the tree.
func (w *world) checkOldServers(c *collector) {
	if w.isOld() {
		return // they start again
	}
	var servers []string
	for _, ip := range w.OldServers() {
		if !slices.ContainsFunc(w.ids, func(id string) bool { return jobtree.InstanceIP(id) == ip }) {
			servers = append(servers, ip)
		}
	}
	for _, i := range jobtype.MixedOld(w.Config.Value, servers) {
		s := w.about(MixedJVM, Info, fmt.Sprintf("%s: JVM members %s", i.Field, i.Does), i.Advice+"; then clear these servers", "")
		s.detail = i.Field
		c.add(s)
	}
}

// whoShares says who shares a job with JVM members, and by which rules.
func (w *world) whoShares() string {
	leader := "nobody leads"
	switch {
	case w.Leader == nil:
	case w.JVMLeads():
		leader = fmt.Sprintf("JVM member %s leads", brief.Quote(w.Leader.ID))
	default:
		leader = fmt.Sprintf("Go member %s leads", brief.Quote(w.Leader.ID))
	}
	if coordinator := w.coordinator(); coordinator != "" {
		leader += fmt.Sprintf(", and %s is the coordinator", brief.Quote(coordinator))
	}
	return fmt.Sprintf("of %d instances, %d are JVM members: %v; %s; rules in force: %s", len(w.ids), len(w.jvm), listed(w.jvm), leader, strings.Join(w.MixedRules(), ", "))
}

// listed names instances, as many as there is room for.
func listed(ids []string) *brief.List {
	var list brief.List
	for _, id := range ids {
		list.Add(id)
	}
	return &list
}

// coordinator returns the Go member that does what JVM members do not; "" if there is none.
func (w *world) coordinator() string {
	for _, id := range w.ids {
		if as := (decide.World{State: w.State, Job: w.Job, Self: decide.Self{ID: id, Session: w.Session(id).Owner}}); !w.isJVM(id) && as.IsCoordinator() {
			return id
		}
	}
	return ""
}
