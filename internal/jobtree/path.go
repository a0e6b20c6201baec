package jobtree

import (
	"strconv"
	"time"
)

// Job is the name of a job, which is also the root of its tree within the namespace. The
// caller has checked that it is a valid name.
type Job string

// The names below a job's root.
const (
	config      = "config"
	servers     = "servers"
	instances   = "instances"
	sessions    = "sessions"
	faults      = "faults"
	schedule    = "schedule"
	trigger     = "trigger"
	sharding    = "sharding"
	leader      = "leader"
	guarantee   = "guarantee"
	instance    = "instance"
	running     = "running"
	fired       = "fired"
	misfire     = "misfire"
	disabled    = "disabled"
	failover    = "failover"
	failovering = "failovering"
	completed   = "completed"
	original    = "original"
	cursor      = "cursor"
	kill        = "kill"
	requests    = "requests"
	pins        = "pins"

	leaderLatch    = "leader/election/latch"
	leaderInstance = "leader/election/instance"
	necessary      = "leader/sharding/necessary"
	processing     = "leader/sharding/processing"
	failoverItems  = "leader/failover/items"
	failoverLatch  = "leader/failover/latch"
	guaranteeOpen  = "open" // below a tick
)

func (j Job) at(path string) string { return string(j) + "/" + path }

// Root is the job's node, whose value is the name of its implementation.
func (j Job) Root() string { return string(j) }

// Config holds the configuration document.
func (j Job) Config() string { return j.at(config) }

// Disabled stands while the whole job is disabled. Operators write and remove it.
func (j Job) Disabled() string { return j.at(disabled) }

// Server says whether instances on one host may have items: [Enabled] or [Disabled]. An
// operator changes it.
func (j Job) Server(ip string) string { return j.at(servers + "/" + ip) }

// Instances is the parent of the live instances.
func (j Job) Instances() string { return j.at(instances) }

// Sessions is the parent of the sessions of instances.
func (j Job) Sessions() string { return j.at(sessions) }

// Instance is the ephemeral node of a live instance; see [EncodeInstance].
func (j Job) Instance(id string) string { return j.at(instances + "/" + id) }

// Session is the ephemeral node that stands as long as the session of an instance does.
// It stays while the instance finishes its runs, after its instance node was removed, by
// itself or by an operator. Others take over what it ran only when both nodes are gone.
func (j Job) Session(id string) string { return j.at(sessions + "/" + id) }

// Faults is the ephemeral node in which an instance shows operators its faults, or a Runner that
// cannot join the job; see [EncodeFaults].
func (j Job) Faults(id string) string { return j.at(faults + "/" + id) }

// Schedule says since when the schedule is in force; see [EncodeSchedule].
func (j Job) Schedule() string { return j.at(schedule) }

// Trigger asks one instance for a run now, as JVM members and their consoles do; see
// [EncodeTrigger].
func (j Job) Trigger(id string) string { return j.at(trigger + "/" + id) }

// Requests is the parent of the requests to run items beside the schedule; its value is how
// many there have been.
func (j Job) Requests() string { return j.at(requests) }

// Request is one of them; see [EncodeRequest].
func (j Job) Request(id string) string { return j.at(requests + "/" + id) }

// Progress says how far an item has come with a request; see [EncodeProgress].
func (j Job) Progress(id string, item int) string {
	return j.at(requests + "/" + id + "/" + strconv.Itoa(item))
}

// Sharding is the parent of the items.
func (j Job) Sharding() string { return j.at(sharding) }

// Item is the parent of the nodes of one item.
func (j Job) Item(item int) string { return j.at(sharding + "/" + strconv.Itoa(item)) }

func (j Job) ofItem(item int, leaf string) string {
	return j.at(sharding + "/" + strconv.Itoa(item) + "/" + leaf)
}

// ItemInstance names the item's owner.
func (j Job) ItemInstance(item int) string { return j.ofItem(item, instance) }

// Running names the instance that runs the item now.
func (j Job) Running(item int) string { return j.ofItem(item, running) }

// Fired holds the last tick begun; see [EncodeFired].
func (j Job) Fired(item int) string { return j.ofItem(item, fired) }

// Misfire stands if a tick of the item came while it ran.
func (j Job) Misfire(item int) string { return j.ofItem(item, misfire) }

// ItemDisabled stands while the item is disabled. Operators write and remove it.
func (j Job) ItemDisabled(item int) string { return j.ofItem(item, disabled) }

// Failover names the instance that took the item over. It is ephemeral, so it ends with
// that instance.
func (j Job) Failover(item int) string { return j.ofItem(item, failover) }

// Failovering names the same instance, and stays when that ends.
func (j Job) Failovering(item int) string { return j.ofItem(item, failovering) }

// Completion says how the last execution of the item ended; see [EncodeCompletion].
func (j Job) Completion(item int) string { return j.ofItem(item, completed) }

// Original names the execution that was cut short first; see [EncodeOriginal].
func (j Job) Original(item int) string { return j.ofItem(item, original) }

// Kill says that the run of an item is to end; see [EncodeKill]. It is not below the item,
// because it must not keep the record of an item that is gone.
func (j Job) Kill(item int) string { return j.at(kill + "/" + strconv.Itoa(item)) }

// Pin says which instances an item belongs to; see [EncodePin].
func (j Job) Pin(item int) string { return j.at(pins + "/" + strconv.Itoa(item)) }

// Cursor says how far the item's handler has come; see [EncodeCursor]. It is not below the
// item, so that a view need not follow it.
func (j Job) Cursor(item int) string { return j.at(cursor + "/" + strconv.Itoa(item)) }

// LeaderLatch is the queue in which JVM members wait to become the leader.
func (j Job) LeaderLatch() string { return j.at(leaderLatch) }

// LeaderInstance is the ephemeral node that names the leader.
func (j Job) LeaderInstance() string { return j.at(leaderInstance) }

// Necessary stands if the leader is asked to reshard. JVM members that do not lead
// begin nothing while it stands. Our leader writes it for that alone, with the value [Holding].
func (j Job) Necessary() string { return j.at(necessary) }

// Holding is the value of [Job.Necessary] if nobody asks to assign as if nobody had had any items: JVM
// members are only to begin nothing for a moment. They pay no heed to the value.
const Holding = "holding"

// Processing stands while a JVM leader assigns the items.
func (j Job) Processing() string { return j.at(processing) }

// FailoverItems is the parent of the items that wait to be taken over.
func (j Job) FailoverItems() string { return j.at(failoverItems) }

// FailoverLatch is the queue in which JVM members wait to take over an item.
func (j Job) FailoverLatch() string { return j.at(failoverLatch) }

// FailoverItem stands while the item waits to be taken over.
func (j Job) FailoverItem(item int) string { return j.at(failoverItems + "/" + strconv.Itoa(item)) }

// Guarantees is the parent of the ticks that once-listeners are told of. Its value is the last
// of them, as [EncodeFired] writes it.
func (j Job) Guarantees() string { return j.at(guarantee) }

// Guarantee is one of these ticks; see [EncodeGuarantee].
func (j Job) Guarantee(tick time.Time) string {
	return j.at(guarantee + "/" + string(EncodeFired(tick)))
}

// GuaranteeOpen stands when Started of a tick has ended, so that handlers may begin.
func (j Job) GuaranteeOpen(tick time.Time) string { return j.Guarantee(tick) + "/" + guaranteeOpen }

// GuaranteeItem holds the outcome of a member of a tick, where {i}/completed does not.
func (j Job) GuaranteeItem(tick time.Time, item int) string {
	return j.Guarantee(tick) + "/" + strconv.Itoa(item)
}

// MaxItems bounds the number of items of a job. Nodes of larger item numbers are ignored.
const MaxItems = 100_000

// ParseItem reads an item number as it stands in a path: decimal digits without a
// sign or a leading zero, below MaxItems. "01" is not item 1.
func ParseItem(name string) (item int, ok bool) {
	if name == "" || len(name) > 1 && name[0] == '0' {
		return 0, false
	}
	for i := range len(name) {
		digit := name[i] - '0'
		if digit > 9 {
			return 0, false
		}
		if item = item*10 + int(digit); item >= MaxItems {
			return 0, false
		}
	}
	return item, true
}
