package job

// CommandedEvent tells what an operator has asked for, and that it is obeyed. Fields that the
// command does not have are zero.
type CommandedEvent struct {
	Event
	Command Command
	// Over is true when what was asked for is taken back: items or servers are enabled, pins are
	// removed.
	Over bool
	// Items are those that it is about, ascending. Of a request they are all of its items.
	Items []int
	// Server is the address of a server, Instance the id of an instance, Label a label of
	// instances: what it is about, or what the items are pinned to.
	Server, Instance, Label string
	// RequestID is the id of the request.
	RequestID string
	// Token is the fencing token of the run that is killed.
	Token int64
	// By is who has asked, and Why is what he has said, where the tree knows it.
	By, Why string
}

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
	// leader tells it, when it sees the request.
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
	// CommandDealAnew: the leader tells it. JVM members ask for it, too, whenever members come or
	// go.
	CommandDealAnew
	// CommandRemoveInstance: the instance is to shut down. It tells that itself.
	CommandRemoveInstance
)

func (c Command) String() string {
	switch c {
	case CommandKill:
		return "kill"
	case CommandTrigger:
		return "trigger"
	case CommandRetry:
		return "retry"
	case CommandBackfill:
		return "backfill"
	case CommandCancel:
		return "cancel"
	case CommandDisableItems:
		return "disable items"
	case CommandDisableServer:
		return "disable server"
	case CommandPin:
		return "pin"
	case CommandDealAnew:
		return "deal anew"
	case CommandRemoveInstance:
		return "remove instance"
	}
	return "unknown"
}
