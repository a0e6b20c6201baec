package migrate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// look finds what an operator should know of a job before it goes.
func (c *cargo) look(snapshot coord.Snapshot, s *jobtree.State) {
	c.lookAtMembers(s)
	if s.Schedule != nil && s.Schedule.Err != nil {
		c.find(Differs, "the record of its schedule cannot be read (%v): ticks that were missed are not made up, and a pause in it ends", brief.Error(s.Schedule.Err))
	}
	isNowhere := len(s.Servers) > 0 && !s.IsDisabled
	for _, server := range s.Servers {
		isNowhere = isNowhere && !server.Enabled
	}
	if isNowhere && !c.settings.Disabled {
		c.find(Differs, "all of its servers are disabled one by one, so nobody runs it; a server with another address is enabled when it comes. To disable the job, or a pause, would hold for all")
	}
	for _, i := range slices.Sorted(maps.Keys(s.Pins)) {
		if pin := s.Pins[i]; pin.Err == nil && pin.Instance != "" {
			c.find(Differs, "item %d is pinned to the instance %s, which does not come back", i, brief.Quote(pin.Instance))
			break
		}
	}
	if len(s.Triggers) > 0 {
		c.find(Differs, "triggers of ElasticJob's kind, which do not go, because they name instances: %d", len(s.Triggers))
	}
	open, running, cut := 0, 0, 0
	for _, r := range s.Requests {
		if r.Err == nil && r.Ended.IsZero() {
			open++
		}
	}
	if open > 0 {
		c.find(Noted, "requests that have not ended: %d. They go on at the target; who waits for one at the source is told that the job was removed", open)
	}
	for i := range s.Items {
		item := &s.Items[i]
		if item.Fired != nil {
			c.token = max(c.token, item.Fired.Modified)
		}
		switch {
		case item.Running != nil && slices.Contains(c.instances, item.Running.ID):
			running++
		case item.Running != nil || item.Failovering != nil:
			cut++
		}
	}
	switch {
	case running > 0 && c.settings.Failover:
		c.find(Noted, "items that run: %d. Those that the stop of their instances cuts short are run again at the target, unless they were killed", running)
	case running > 0:
		c.find(Noted, "items that run: %d. Those that the stop of their instances cuts short are not run again, because the job has no failover", running)
	}
	switch {
	case cut > 0 && c.settings.Failover:
		c.find(Noted, "items whose run was cut short: %d. They are run again at the target, unless they were killed", cut)
	case cut > 0:
		c.find(Noted, "items whose run was cut short: %d. They are not run again, because the job has no failover", cut)
	}
	strange, first := s.UnusableNodes, s.Unusable
	for n := range snapshot.All(c.job.Root()) {
		if c.job.Knows(n.Path) || len(n.Value) == 0 && len(snapshot.Children(n.Path)) > 0 { // or it is a parent
			continue
		}
		if strange++; strange == 1 {
			first = n.Path
		}
	}
	if strange > 0 {
		c.find(Noted, "nodes that mean nothing here, and do not go: %d, such as %s", strange, brief.Quote(first))
	}
}

// lookAtMembers finds who runs the job, and whether those are JVM programs.
func (c *cargo) lookAtMembers(s *jobtree.State) {
	live := map[string]bool{}
	c.isJVM = c.isConverted || s.Schedule == nil && len(s.Servers) > 0 && c.settings.Cron != ""
	for id, in := range s.Instances {
		if in.Owner != 0 {
			live[id] = true
			if s.Sessions[id] == nil {
				c.isJVM = true
			}
		}
	}
	for id, session := range s.Sessions { // it has stepped down, and still runs something
		if session.Owner != 0 {
			live[id] = true
		}
	}
	for i := range s.Items {
		if r := s.Items[i].Running; r != nil && live[r.ID] && s.Sessions[r.ID] == nil {
			c.onJVM = fmt.Sprintf("item %d on %s", i, brief.Quote(r.ID))
		}
	}
	c.instances = slices.Sorted(maps.Keys(live))
	if c.isConverted {
		c.find(Noted, "its configuration is that of elastic-job 2.1: it becomes one of 3.x, with the implementation %s", brief.Quote(string(c.implementation)))
	}
}
