package jobtree

import "strings"

// meanings says what the nodes of a namespace are for, by their paths. A name in braces stands for
// one part of a path: {job}, {item} and {tick} for what can be one, others for anything.
func meanings() []meaning {
	return []meaning{
		{"{job}", "a job; its value says what runs it"},
		{"{job}/" + config, "its configuration"},
		{"{job}/" + schedule, "since when the schedule is in force, its calendars, and pauses"},
		{"{job}/" + servers, "hosts that have run the job"},
		{"{job}/" + servers + "/{server}", "DISABLED: the instances of this host get no items"},
		{"{job}/" + instances, "live instances"},
		{"{job}/" + instances + "/{instance}", "a live instance; who removes it ends the instance"},
		{"{job}/" + sessions, "sessions of instances"},
		{"{job}/" + sessions + "/{instance}", "the session of an instance, and what its program is like"},
		{"{job}/" + faults, "what keeps the job from running as it should"},
		{"{job}/" + faults + "/{instance}", "the faults that an instance shows"},
		{"{job}/" + trigger, "ElasticJob's requests to run now"},
		{"{job}/" + trigger + "/{instance}", "asks an instance to run its items now, as ElasticJob does"},
		{"{job}/" + requests, "requests for runs; the value counts them"},
		{"{job}/" + requests + "/{request}", "a trigger, a retry or a backfill"},
		{"{job}/" + requests + "/{request}/{item}", "how far an item has come with it"},

		{"{job}/" + sharding, "the items"},
		{"{job}/" + sharding + "/{item}", "an item"},
		{"{job}/" + sharding + "/{item}/" + instance, "its owner"},
		{"{job}/" + sharding + "/{item}/" + running, "the instance that runs it now"},
		{"{job}/" + sharding + "/{item}/" + fired, "the last tick that was begun"},
		{"{job}/" + sharding + "/{item}/" + completed, "how the last execution ended"},
		{"{job}/" + sharding + "/{item}/" + original, "the execution that was cut short first"},
		{"{job}/" + sharding + "/{item}/" + misfire, "a tick came while it ran, and is to be made up"},
		{"{job}/" + sharding + "/{item}/" + disabled, "an operator has disabled it"},
		{"{job}/" + sharding + "/{item}/" + failover, "the instance that has taken it over"},
		{"{job}/" + sharding + "/{item}/" + failovering, "the same, also when that instance has ended"},
		{"{job}/" + cursor, "how far handlers have come"},
		{"{job}/" + cursor + "/{item}", "how far the handler of an item has come"},
		{"{job}/" + kill, "runs that are to end"},
		{"{job}/" + kill + "/{item}", "the run of an item is to end"},
		{"{job}/" + pins, "items that belong to certain instances"},
		{"{job}/" + pins + "/{item}", "the instances that an item belongs to"},

		{"{job}/" + leader, "the leader, and what it does"},
		{"{job}/" + leader + "/election", "how the leader is elected"},
		{"{job}/" + leaderLatch, "where JVM members wait to become the leader"},
		{"{job}/" + leaderLatch + "/{candidate}", "a JVM member that waits"},
		{"{job}/" + leaderInstance, "the leader"},
		{"{job}/" + leader + "/" + sharding, "how items are dealt"},
		{"{job}/" + necessary, "the items are to be dealt again"},
		{"{job}/" + processing, "a JVM leader deals the items"},
		{"{job}/" + leader + "/" + failover, "how items are run again"},
		{"{job}/" + failoverItems, "items that wait to be run again after a crash"},
		{"{job}/" + failoverItems + "/{item}", "an item that waits to be run again"},
		{"{job}/" + leader + "/" + failover + "/latch", "where JVM members wait to take items over"},
		{"{job}/" + leader + "/" + failover + "/latch/{candidate}", "a JVM member that waits"},

		{"{job}/" + guarantee, "ticks that once-listeners are told of; its value is the last one"},
		{"{job}/" + guarantee + "/{tick}", "a tick that once-listeners are told of"},
		{"{job}/" + guarantee + "/{tick}/" + guaranteeOpen, "handlers of the tick may begin"},
		{"{job}/" + guarantee + "/{tick}/{item}", "how an item of the tick has ended"},
		{"{job}/" + guarantee + "/started", "items that have begun, of JVM members"},
		{"{job}/" + guarantee + "/started/{item}", "an item that has begun, of JVM members"},
		{"{job}/" + guarantee + "/completed", "items that have ended, of JVM members"},
		{"{job}/" + guarantee + "/completed/{item}", "an item that has ended, of JVM members"},
		{"{job}/" + guarantee + "/started-latch", "where JVM members wait to be the last that began"},
		{"{job}/" + guarantee + "/started-latch/{candidate}", "a JVM member that waits"},
		{"{job}/" + guarantee + "/completed-latch", "where JVM members wait to be the last that ended"},
		{"{job}/" + guarantee + "/completed-latch/{candidate}", "a JVM member that waits"},
		{"{job}/systemTime", "the store's clock, of JVM members"},
		{"{job}/systemTime/current", "JVM members write it to read the store's clock"},

		{"~elasticjob", "what the namespace has beside its jobs"},
		{Nodes, "processes"},
		{Nodes + "/{process}", "a process, and what it has"},
		{Calendars, "calendars"},
		{Calendars + "/{calendar}", "a calendar that jobs may name"},
		{Removals, "removed jobs"},
		{Removals + "/{job}", "who has removed the job; no program sets it up again"},
		{AppliedJobs, "jobs that belong to sets of files"},
		{AppliedJobs + "/{job}", "the set of files that the job belongs to"},
		{Audits, "what operators have changed"},
		{Audits + "/{change}", "a change by an operator"},
		{"~elasticjob/clock", "processes write it to read the store's clock"},
		{Migrations, "migrations from or to another namespace"},
		{Migrations + "/{migration}", "a migration that is not through"},
		{Migrations + "/{migration}/{job}", "how far a job has come in it"},
	}
}

type meaning struct{ pattern, text string }

// Meanings says what nodes are for.
type Meanings struct {
	text  string
	below map[string]*Meanings // by name, or by placeholder
}

// The placeholders that stand for certain names only; see meanings.
const (
	anyJob  = "{job}"
	anyItem = "{item}"
	anyTick = "{tick}"
	anyName = "{}"
)

// NewMeanings returns the meanings of the nodes of a namespace.
func NewMeanings() *Meanings {
	root := &Meanings{}
	for _, one := range meanings() {
		m := root
		for name := range strings.SplitSeq(one.pattern, "/") {
			if strings.HasPrefix(name, "{") && name != anyJob && name != anyItem && name != anyTick {
				name = anyName
			}
			if m.below == nil {
				m.below = map[string]*Meanings{}
			}
			if m.below[name] == nil {
				m.below[name] = &Meanings{}
			}
			m = m.below[name]
		}
		m.text = one.text
	}
	return root
}

// Of returns what a node is for; ok is false for one that nobody knows: it is junk, or that of a
// newer version.
func (m *Meanings) Of(path string) (text string, ok bool) {
	name, rest, isMore := strings.Cut(path, "/")
	for _, next := range m.of(name) {
		if !isMore && next.text != "" {
			return next.text, true
		}
		if text, ok := next.Of(rest); isMore && ok {
			return text, true
		}
	}
	return "", false
}

// of returns what a name may stand for. Names come before placeholders.
func (m *Meanings) of(name string) (list []*Meanings) {
	add := func(key string, is func(string) bool) {
		if next := m.below[key]; next != nil && is(name) {
			list = append(list, next)
		}
	}
	add(name, func(string) bool { return !strings.HasPrefix(name, "{") })
	add(anyItem, func(string) bool { _, ok := ParseItem(name); return ok })
	add(anyTick, func(string) bool { t, err := parseTime(name); return err == nil && !t.IsZero() })
	add(anyJob, IsName)
	add(anyName, func(string) bool { return name != "" })
	return list
}
