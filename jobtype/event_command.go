package jobtype

// Command is what an operator may ask for.
//
// One instance tells it. What the leader tells, an instance tells that sees it and leads, or that
// sees it while nobody leads, and leads next. So it may be told twice if the leader ends at that
// moment, and by nobody if the leader was cut off, and its session had not ended yet. What was
// asked for before the processes have joined the job is not told.
type Command int

// The commands.
const (
	// CommandKill: a run is to end. The instance that runs the item tells it.
	CommandKill Command = iota + 1
	// CommandTrigger, CommandRetry and CommandBackfill: items are to run beside the schedule. The
	// leader tells it, when it sees the request. Items are all those of the request.
	CommandTrigger
	CommandRetry
	CommandBackfill
	// CommandCancel: a request was ended before all of its items were through. The leader tells
	// it. The tree does not know who has asked.
	CommandCancel
	// CommandDisableItems and CommandDisableServer: the leader tells it. A job is disabled if all
	// its servers are.
	CommandDisableItems
	CommandDisableServer
	// CommandPin: items are to belong to instances of one kind. The leader tells it.
	CommandPin
	// CommandReshard: items are to be assigned as if nobody had had any. The leader tells it. JVM members ask for it,
	// too, whenever members come or go.
	CommandReshard
	// CommandRemoveInstance: the instance is to shut down. It tells that itself.
	CommandRemoveInstance
)

var commands = [...]string{
	"unknown", "kill", "trigger", "retry", "backfill", "cancel", "disable items", "disable server", "pin", "reshard", "remove instance",
}

func (c Command) String() string { return word(commands[:], int(c)) }

// Target is what a command is about, or what items are pinned to: the address of a server, the id of an instance, or
// a label of instances.
type Target struct{ Server, Instance, Label string }
