package doctor

import "fmt"

// Kind says what is wrong. The package comment has a table of all.
type Kind string

// The kinds of findings about a job.
const (
	NoInstance         Kind = "no-instance"
	NotOffered         Kind = "not-offered"
	NoLeader           Kind = "no-leader"
	AllDisabled        Kind = "all-disabled"
	LabelNobody        Kind = "label-nobody"
	NobodyMay          Kind = "nobody-may"
	Paused             Kind = "paused"
	Expired            Kind = "expired"
	NoTick             Kind = "no-tick"
	NotInForce         Kind = "schedule-not-in-force"
	CalendarBroken     Kind = "calendar-broken"
	ConfigUnreadable   Kind = "config-unreadable"
	ConfigRefused      Kind = "config-refused"
	ConfigBehind       Kind = "config-behind"
	ConfigDiffers      Kind = "config-differs"
	ProtocolNewer      Kind = "protocol-newer"
	ProtocolOlder      Kind = "protocol-older"
	Mixed              Kind = "mixed"
	MixedJVM           Kind = "mixed-jvm"
	Faulty             Kind = "fault"
	ServerIdle         Kind = "server-idle"
	ReshardPending     Kind = "reshard-pending"
	StaleProcessing    Kind = "stale-processing"
	StaleNode          Kind = "stale-node"
	Debris             Kind = "debris"
	NodeTooLarge       Kind = "node-too-large"
	JVMOnly            Kind = "jvm-only"
	UnusableName       Kind = "unusable-name"
	DocumentUnreadable Kind = "document-unreadable"
	FutureTime         Kind = "future-time"
	RequestWaits       Kind = "request-waits"
	KillWaits          Kind = "kill-waits"
	NeverSucceeded     Kind = "never-succeeded" // of a history
	TicksMissed        Kind = "ticks-missed"    // of a history
)

// IsOfHistory reports whether findings of the kind tell what only the history knows, which some may not see.
func (k Kind) IsOfHistory() bool { return k == NeverSucceeded || k == TicksMissed }

// The kinds of findings about items of a job.
const (
	ItemUnowned     Kind = "item-unowned"
	ItemOwnerGone   Kind = "item-owner-gone"
	ItemOwnerBarred Kind = "item-owner-barred"
	ItemNoRoom      Kind = "item-no-room"
	ItemDisabled    Kind = "item-disabled"
	ItemOverdue     Kind = "item-overdue"
	ItemQueued      Kind = "item-queued"
	RunOvertaken    Kind = "run-overtaken"
	ItemsFail       Kind = "items-fail"
	ItemLate        Kind = "item-late"
	StaleRunning    Kind = "stale-running"
	JVMRunning      Kind = "jvm-running"
	FailoverWaits   Kind = "failover-waits"
	PinUnmatched    Kind = "pin-unmatched"
)

// The kinds of findings about the namespace and the store.
const (
	NoJob             Kind = "no-job"
	RemovalRest       Kind = "removal-rest"
	RemovalIgnored    Kind = "removal-ignored"
	MigrationOpen     Kind = "migration-open"
	ClockOff          Kind = "clock-off" // also of an instance
	RightsMissing     Kind = "rights-missing"
	StoreOld          Kind = "store-old"
	StoreElasticJob   Kind = "store-elasticjob"
	StoreKeepsHistory Kind = "store-keeps-history"
	StoreNearQuota    Kind = "store-near-quota"
	StoreAlarm        Kind = "store-alarm"
	StoreMemberAway   Kind = "store-member-away"
	StoreUnknown      Kind = "store-unknown"
)

// Severity says how bad a finding is. The larger one is worse.
type Severity int

// The severities.
const (
	// Info: somebody may want it so, or it costs nothing.
	Info Severity = iota + 1
	// Warning: something does not work as it should, or soon will not.
	Warning
	// Critical: ticks do not run, or not at all places.
	Critical
)

func (s Severity) String() string {
	switch s {
	case Info:
		return "info"
	case Warning:
		return "warning"
	case Critical:
		return "critical"
	}
	return "none"
}

// MarshalText writes the severity as String does.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Severity) UnmarshalText(text []byte) error {
	for *s = Critical; *s > 0; *s-- {
		if s.String() == string(text) {
			return nil
		}
	}
	if string(text) != Severity(0).String() {
		return fmt.Errorf("severity %.20q: info, warning and critical are allowed", text)
	}
	return nil
}

// About is what can be said of a kind.
type About struct {
	Kind Kind `json:"kind"`
	// Worst is the highest severity that a finding of the kind has.
	Worst   Severity `json:"worst"`
	Meaning string   `json:"meaning"`
}

// Kinds returns all kinds, in the order of the table in the package comment.
func Kinds() []About {
	return []About{
		{NoInstance, Critical, "the job has work to come, and no instance lives"},
		{NotOffered, Critical, "the same, and no Runner of the namespace offers what would run it"},
		{NoLeader, Critical, "instances may lead, and none does"},
		{AllDisabled, Info, "the servers of all instances are disabled"},
		{LabelNobody, Critical, "no enabled instance has the label that the job asks for"},
		{NobodyMay, Critical, "all instances refuse the configuration, or have clocks that are off"},
		{Paused, Info, "an operator has paused the job"},
		{Expired, Info, "the job has reached its end, and is still there"},
		{NoTick, Warning, "the schedule has no tick to come, and is not to end"},
		{NotInForce, Critical, "the leader has not recorded the schedule of the configuration"},
		{CalendarBroken, Critical, "a calendar that the job names is gone, or cannot be read"},
		{ConfigUnreadable, Critical, "the configuration in the store cannot be read"},
		{ConfigRefused, Critical, "instances refuse the configuration in the store"},
		{ConfigBehind, Warning, "an instance works by an earlier configuration"},
		{ConfigDiffers, Warning, "a program brings another configuration than that of the store, which is in force"},
		{ProtocolNewer, Critical, "an instance shares the tree by rules that this binary does not know"},
		{ProtocolOlder, Warning, "an instance is too old to know what operators ask for"},
		{Mixed, Info, "the job has JVM members and Go members"},
		{MixedJVM, Critical, "the job has JVM members, and uses what they do not know, or do otherwise"},
		{Faulty, Warning, "an instance shows a fault"},
		{ServerIdle, Info, "a server is disabled that has no instance"},
		{ReshardPending, Warning, "the items are to be resharded, and the leader does not do it"},
		{StaleProcessing, Critical, "a mark says that items are being assigned, so nobody begins any"},
		{StaleNode, Warning, "a node that ends with a session belongs to none"},
		{Debris, Warning, "nodes stand below those that have no children"},
		{NodeTooLarge, Warning, "nodes are too large, or too many, to be read"},
		{JVMOnly, Info, "the job has a name that only JVM members can use"},
		{UnusableName, Warning, "nodes have names that no program can use"},
		{DocumentUnreadable, Warning, "a node has a value that cannot be read"},
		{FutureTime, Warning, "recorded ticks have not come yet by the store's clock"},
		{RequestWaits, Warning, "a request has waited for five minutes"},
		{KillWaits, Warning, "a run that was killed goes on after a minute"},
		{ItemUnowned, Critical, "items have no owner"},
		{ItemOwnerGone, Critical, "the owner of items has ended"},
		{ItemOwnerBarred, Warning, "the owner of items may not have them"},
		{ItemNoRoom, Warning, "items have no owner, because no instance has room"},
		{ItemDisabled, Info, "items are disabled"},
		{ItemOverdue, Critical, "items should have begun, and their owner does not begin them"},
		{ItemQueued, Critical, "the same, and other executions of the owner hang"},
		{RunOvertaken, Warning, "executions go on although the next tick has come, or for longer than they may"},
		{ItemsFail, Warning, "the last executions of all items have failed; if only of some, it is info"},
		{ItemLate, Warning, "the last executions of items have begun late"},
		{NeverSucceeded, Warning, "executions have ended, and none of them was a success"},
		{TicksMissed, Warning, "many ticks were missed within a day; if none within the last hour, it is info"},
		{StaleRunning, Critical, "items are shown as running by an instance that has ended"},
		{JVMRunning, Warning, "items are shown as running in a JVM member for longer than a tick: they may have failed there"},
		{FailoverWaits, Warning, "items that were cut short wait to be run again"},
		{PinUnmatched, Critical, "items are pinned to what is not there"},
		{NoJob, Info, "a child of the namespace is no job"},
		{RemovalRest, Warning, "a removal was cut short"},
		{RemovalIgnored, Critical, "a job was moved, and is there again; if it was removed, it is a warning"},
		{ClockOff, Critical, "a clock is off"},
		{MigrationOpen, Warning, "a migration has stopped halfway"},
		{RightsMissing, Critical, "this user may not read, or not write"},
		{StoreOld, Critical, "servers of the store are too old"},
		{StoreElasticJob, Warning, "ElasticJob's own registry for etcd keeps jobs in the store, which cannot run there"},
		{StoreKeepsHistory, Warning, "the store does not compact its history"},
		{StoreNearQuota, Critical, "the database is near its quota"},
		{StoreAlarm, Critical, "an alarm stands in the store"},
		{StoreMemberAway, Warning, "a server of the store does not answer"},
		{StoreUnknown, Info, "the store does not tell its version"},
	}
}
