package ops

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// change is what a plan looks at: two configurations with their defaults, and the job's tree. before,
// differences and there are zero for a job that is new.
type change struct {
	before, next jobtype.Config
	differences  []jobtype.Difference
	state        *jobtree.State
	there        []byte // the document that the registry has
}

// changes reports whether a field has another value. Everything changes for a job that is new.
func (c change) changes(field string) bool {
	return c.before.Name == "" || slices.ContainsFunc(c.differences, func(d jobtype.Difference) bool { return d.Field == field })
}

// warnings say in a sentence each what the change does beside what its fields say, or does not.
func (c change) warnings() []string {
	var list []string
	for _, check := range []func(change) string{
		change.paused, change.replaced, change.fewerItems, change.unlabelled, change.named, change.disabledLate,
	} {
		if text := check(c); text != "" {
			list = append(list, text)
		}
	}
	return append(list, c.otherwiseByJVM()...)
}

func (c change) paused() string {
	if c.state.Schedule == nil || !c.state.Schedule.IsPaused() {
		return ""
	}
	return fmt.Sprintf("the job is paused, since %s: no tick begins until it is resumed", c.state.Schedule.Paused.Format(time.RFC3339))
}

func (c change) replaced() string {
	if !c.next.Overwrite {
		return ""
	}
	return "overwrite is on: a program that starts the job with it puts its own configuration in the place of this one"
}

// fewerItems says what becomes of items that go, and of those of them that run.
func (c change) fewerItems() string {
	if c.next.ShardingTotalCount >= c.before.ShardingTotalCount {
		return ""
	}
	first, last := c.next.ShardingTotalCount, c.before.ShardingTotalCount-1
	text := fmt.Sprintf("items %d to %d go, with their last outcomes and cursors", first, last)
	if first == last {
		text = fmt.Sprintf("item %d goes, with its last outcome and cursor", first)
	}
	var running brief.List
	for i := c.next.ShardingTotalCount; i < len(c.state.Items); i++ {
		if mark := c.state.Items[i].Running; mark != nil {
			running.Add(fmt.Sprintf("%d on %s", i, mark.ID))
		}
	}
	if !running.Empty() {
		text += fmt.Sprintf("; these run, and go when their executions have ended: %v", &running)
	}
	return text
}

// otherwiseByJVM says in a sentence each what JVM members that are there will do otherwise with what
// changes, if that does harm or if they refuse it.
func (c change) otherwiseByJVM() []string {
	var members brief.List
	for _, id := range slices.Sorted(maps.Keys(c.state.Instances)) {
		if c.state.Sessions[id] == nil && c.state.Instances[id].Owner != 0 {
			members.Add(id)
		}
	}
	var list []string
	switch isOld := jobconf.IsOld(c.there); {
	case isOld && members.Empty(): // a member that is only restarting is not there, either
		return []string{"a document of ElasticJob 3.0 takes the place of one of elastic-job 2.1, whose members do not start again then; keep a copy of it for the way back"}
	case isOld:
		list = append(list, fmt.Sprintf("JVM members are there (%v): config: JVM members of elastic-job 2.1 read no document but their own; they run nothing once this is written, and do not start again: stop them first, and keep a copy of it for the way back", &members))
	case members.Empty():
		return nil
	}
	known := c.before.Mixed()
	for _, i := range c.next.Mixed() {
		if !slices.Contains(known, i) && (i.Harm != "" || i.Refused) {
			list = append(list, fmt.Sprintf("JVM members are there (%v): %v", &members, i))
		}
	}
	if c.next.TimeZone != c.before.TimeZone && c.next.Cron == c.before.Cron {
		list = append(list, fmt.Sprintf("JVM members are there (%v): timeZone: JVM members do not notice a change of it without one of cron until they start again", &members))
	}
	return list
}

// unlabelled says that nobody has the label that the job wants.
func (c change) unlabelled() string {
	if c.next.Label == "" || !c.changes("label") || len(c.state.Instances) == 0 {
		return ""
	}
	for _, in := range c.state.Instances {
		if slices.Contains(in.Labels, c.next.Label) {
			return ""
		}
	}
	return fmt.Sprintf("no instance has the label %s: nobody gets items until one has", brief.Quote(c.next.Label))
}

// named lists what each process has to know by name: one that does not refuses the configuration.
func (c change) named() string {
	var names brief.List
	for _, d := range c.differences {
		switch {
		case d.After == "":
		case d.Field == "jobShardingStrategyType" && !isKnownStrategy(d.After),
			d.Field == "jobErrorHandlerType" && !isKnownErrorHandler(d.After),
			d.Field == "jobListenerTypes":
			names.Add(d.Field + " " + d.After)
		}
	}
	if names.Empty() {
		return ""
	}
	return fmt.Sprintf("a process that does not know one of these refuses the configuration, and gets no items: %v", &names)
}

func isKnownStrategy(name string) bool {
	_, err := strategy.Lookup(name, nil)
	return err == nil
}

// isKnownErrorHandler reports whether every process knows the handlers of a list.
func isKnownErrorHandler(list string) bool {
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains([]string{jobtype.ErrorHandlerLog, jobtype.ErrorHandlerIgnore, jobtype.ErrorHandlerThrow}, strings.TrimSpace(name)) {
			return false
		}
	}
	return true
}

func (c change) disabledLate() string {
	if !c.changes("disabled") || len(c.state.Instances) == 0 {
		return ""
	}
	return "disabled counts only when a server comes for the first time; servers that are there stay as they are"
}
