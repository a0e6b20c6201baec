package doctor

import (
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Names of symptoms that follow from others, or that others follow from, beside those of their kinds.
const (
	// starved is the starvation fault of an instance that does not begin items of its own, and
	// watcher that of another one, which has noticed the items of others.
	starved Kind = "fault starved"
	watcher Kind = "fault watcher"
	// oldMembers are members of elastic-job 2.1.
	oldMembers Kind = "mixed-jvm 2.1"
	// pinStrict is a pin that keeps items from everybody.
	pinStrict Kind = "pin-unmatched strict"
)

// faultOf names the faults of a kind, other than starvation.
func faultOf(k jobtype.FaultKind) Kind { return Kind("fault " + k.String()) }

// reach says which symptoms may follow from one of the same job.
type reach int

const (
	anywhere   reach = iota
	atInstance       // those of the same instance
	atLeader         // those that are for the leader to mend, if the cause is at the leader
	ofItems          // those of the same instance, and of the same items or some of them
)

// cause is a row of the table of causes: what follows from symptoms of one name.
type cause struct {
	of      Kind
	in      reach
	effects []Kind
}

// causes returns what follows from what. Of several causes the first one counts. A name stands
// as a cause only below all rows that have it as an effect, so that no symptom follows from itself.
func causes() []cause {
	unassigned := []Kind{ItemUnowned, ItemOwnerGone, ItemOwnerBarred}
	forLeader := append([]Kind{ReshardPending, StaleRunning}, unassigned...)
	late := []Kind{ItemOverdue, starved}
	unmet := []Kind{starved, watcher, RequestWaits}
	tree, config, store := faultOf(jobtype.FaultTree), faultOf(jobtype.FaultConfig), faultOf(jobtype.FaultStore)
	clock, calendar, strategy := faultOf(jobtype.FaultClock), faultOf(jobtype.FaultCalendar), faultOf(jobtype.FaultStrategy)
	list := []cause{
		{oldMembers, anywhere, []Kind{ConfigUnreadable, ConfigDiffers, Mixed, NoLeader}},
		{ConfigUnreadable, anywhere, []Kind{ConfigRefused, ConfigBehind, config}},
		{ConfigRefused, atInstance, []Kind{ConfigBehind, ItemOwnerBarred, config}},
		{ConfigRefused, atLeader, []Kind{NotInForce}},
		{ConfigRefused, anywhere, []Kind{NobodyMay}},
		{ClockOff, atInstance, append([]Kind{ItemOwnerBarred, clock}, late...)},
		{ClockOff, anywhere, []Kind{NobodyMay, FutureTime}},
		{FutureTime, anywhere, []Kind{clock}},
		{CalendarBroken, anywhere, append([]Kind{NotInForce, calendar, watcher}, late...)},
		{NotInForce, anywhere, []Kind{config}},
		{NoTick, anywhere, []Kind{config}},
		{LabelNobody, anywhere, unmet},
		{NobodyMay, anywhere, unmet},
		{AllDisabled, anywhere, unmet},
		{StaleProcessing, anywhere, append(append([]Kind{ItemOverdue}, forLeader...), unmet...)},
		{NoLeader, anywhere, append(append([]Kind{FailoverWaits, tree}, forLeader...), watcher, RequestWaits)},
	}
	for _, k := range []Kind{ProtocolNewer, ProtocolOlder, NodeTooLarge, UnusableName, DocumentUnreadable, StaleNode, Debris} {
		list = append(list, cause{k, anywhere, []Kind{tree}})
	}
	for _, k := range []Kind{store, tree, config, strategy} {
		list = append(list, cause{k, atLeader, append([]Kind{watcher}, forLeader...)})
	}
	for _, k := range []Kind{store, tree, config, calendar, clock} {
		list = append(list, cause{k, atInstance, late})
	}
	list = append(list,
		cause{ReshardPending, anywhere, append([]Kind{watcher}, unassigned...)},
		cause{KillWaits, ofItems, []Kind{RunOvertaken}},
		cause{RunOvertaken, atInstance, []Kind{ItemQueued, starved}},
		cause{RunOvertaken, anywhere, []Kind{FailoverWaits, watcher}},
		cause{starved, atInstance, []Kind{ItemOverdue}},
		cause{starved, anywhere, []Kind{FailoverWaits}},
		cause{ItemOverdue, anywhere, []Kind{watcher}},
	)
	for _, k := range append([]Kind{FailoverWaits, ItemNoRoom, StaleRunning, pinStrict}, unassigned...) {
		list = append(list, cause{k, anywhere, []Kind{watcher, RequestWaits}})
	}
	for _, k := range []Kind{store, tree, config, calendar, watcher} {
		list = append(list, cause{k, anywhere, []Kind{NoInstance, NotOffered}}) // no instance lives: they are faults of Runners
	}
	return append(list, cause{NoInstance, anywhere, []Kind{RequestWaits}}, cause{NotOffered, anywhere, []Kind{RequestWaits}})
}

// place is an instance of a job.
type place struct{ job, instance string }

// namedIn are the symptoms of a job that have a name.
type namedIn struct {
	job  string
	name Kind
}

// relations are the symptoms of a report, and which follows from which.
type relations struct {
	list  []symptom
	late  map[place]bool // the instances that do not begin items of their own
	byJob map[namedIn][]int
	rules map[Kind][]cause // by what follows
}

func relate(list []symptom) *relations {
	r := &relations{list: list, late: map[place]bool{}, byJob: map[namedIn][]int{}, rules: map[Kind][]cause{}}
	for _, s := range list {
		if s.Kind == ItemOverdue || s.Kind == ItemQueued {
			r.late[place{s.Job, s.Instance}] = true
		}
	}
	for i := range list {
		if s := &list[i]; s.Job != "" {
			at := namedIn{s.Job, r.name(s)}
			r.byJob[at] = append(r.byJob[at], i)
		}
	}
	for _, c := range causes() {
		for _, e := range c.effects {
			r.rules[e] = append(r.rules[e], c)
		}
	}
	return r
}

// name is the name of a symptom in the table of causes.
func (r *relations) name(s *symptom) Kind {
	switch {
	case s.Kind == PinUnmatched && s.Severity == Critical:
		return pinStrict
	case s.Kind == MixedJVM && s.detail == string(oldMembers):
		return oldMembers
	case s.Kind != Faulty:
		return s.Kind
	case s.detail != jobtype.FaultStarvation.String():
		return Kind("fault " + s.detail)
	case r.late[place{s.Job, s.Instance}]:
		return starved
	}
	return watcher
}

// root returns the first cause of a symptom: itself, if it follows from no other.
func (r *relations) root(i int) int {
	s := &r.list[i]
	for _, rule := range r.rules[r.name(s)] {
		for _, at := range r.byJob[namedIn{s.Job, rule.of}] {
			if follows(s, &r.list[at], rule.in) {
				return r.root(at)
			}
		}
	}
	return i
}

// follows reports whether a symptom may follow from another one, as to where they are.
func follows(s, from *symptom, in reach) bool {
	switch in {
	case atInstance:
		return s.Instance == from.Instance
	case atLeader:
		return from.Instance != "" && s.leader == from.Instance
	case ofItems:
		return s.Instance == from.Instance && !slices.ContainsFunc(s.items, func(i itemMark) bool {
			return !slices.ContainsFunc(from.items, func(o itemMark) bool { return o.item == i.item })
		})
	}
	return true
}

// alike is what symptoms have in common that are one finding.
type alike struct {
	job          string
	kind         Kind
	detail, text string
}

// inWords leaves the words out that have a digit: times, numbers, items, addresses and ids. Causes of which only those
// differ are the same.
func inWords(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(text), func(word string) bool { return strings.ContainsAny(word, "0123456789") }), " ")
}

// findings returns one finding for each cause, with what follows from it.
func findings(list []symptom) []Finding {
	r := relate(list)
	var found []Finding
	at := map[alike]int{}
	of := func(s *symptom) int {
		key := alike{s.Job, s.Kind, s.detail, inWords(s.Cause)}
		n, isThere := at[key]
		if !isThere {
			n = len(found)
			at[key] = n
			found = append(found, Finding{})
		}
		return n
	}
	for i := range list {
		if r.root(i) == i {
			found[of(&list[i])].merge(&list[i])
		}
	}
	for i := range list {
		if root := r.root(i); root != i {
			found[of(&list[root])].follow(&list[i])
		}
	}
	for i := range found {
		slices.SortStableFunc(found[i].Effects, func(a, b Effect) int { return int(b.Severity - a.Severity) })
	}
	return found
}

// merge adds a symptom that has the same cause as the others of the finding.
func (f *Finding) merge(s *symptom) {
	one := s.finding()
	if f.Kind == "" {
		*f = one
		return
	}
	f.Severity = max(f.Severity, one.Severity)
	f.Since = earlier(f.Since, one.Since)
	f.Items, f.MoreItems = union(f.Items, one.Items, f.MoreItems+one.MoreItems)
	if len(f.Others) == maxListed {
		f.MoreOthers++
		return
	}
	f.Others = append(f.Others, Place{Instance: one.Instance, Path: one.Path})
}

// follow adds a symptom that follows from the cause of the finding.
func (f *Finding) follow(s *symptom) {
	one := s.finding()
	f.Severity = max(f.Severity, one.Severity)
	at := slices.IndexFunc(f.Effects, func(e Effect) bool { return e.Kind == one.Kind })
	if at < 0 {
		f.Effects = append(f.Effects, Effect{Kind: one.Kind, Severity: one.Severity, Instance: one.Instance, Items: one.Items, MoreItems: one.MoreItems, Since: one.Since, Cause: one.Cause})
		return
	}
	e := &f.Effects[at]
	e.Severity = max(e.Severity, one.Severity)
	e.Since = earlier(e.Since, one.Since)
	e.Items, e.MoreItems = union(e.Items, one.Items, e.MoreItems+one.MoreItems)
	e.More++
}
