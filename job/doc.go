// Package job runs cron jobs that are split into sharding items over any number of
// equal processes, with no central scheduler. The processes share a small tree of
// nodes in a registry centre (package coord). Each process decides from a snapshot of
// the tree what it may do next, and does it only if one conditional commit succeeds.
//
//	reg, err := etcd.Dial(ctx, etcd.Config{Endpoints: endpoints, Namespace: "billing"})
//	s, err := job.Schedule(ctx, reg, job.Config{
//		Name: "settle", Cron: "0/5 * * * * ?", ShardingTotalCount: 3,
//		ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou", Failover: true,
//	}, job.HandlerFunc(settle))
//	…
//	err = s.Shutdown(drain) // a context of its own: until it ends, handlers may run on
//
// # An item
//
//	          fire: its tick is due, or a
//	          request has its turn;
//	          a thread is free               finish, also after a kill
//	 ┌──────► claim: running, fired ────────────────────┐
//	 │                │         ▲                       ▼
//	idle              │         └─── make up ── a tick came meanwhile?
//	 ▲ ▲              │ instance ends                   │ no
//	 │ └──────────────┼─────────────────────────────────┘
//	 │                ▼
//	 │        recover: waits for failover ──► take over: a claim elsewhere ──► finish
//	 └──────── (failover off, or killed: nothing waits)
//
// A claim is one commit. Its conditions are that the item is still assigned here, that
// it does not run, that its tick was not begun, and that the job is not paused. The commit
// moves the item's fired node on to the tick. So the schedule starts a tick of an item at most
// once, whoever owns the item. A request's claim is for no tick, or for one that its maker has
// named; its conditions are that it is the request's turn, and that nobody has cancelled it.
// The store-wide number of the commit is the execution's fencing token: every later
// claim of the item has a larger one. Claims of other items and jobs may have the same one.
//
// # An instance
//
//	register ──► member ──► steps down: others get its items ──► its runs end ──► signs off
//	   ▲           │
//	   ├───────────┤ session lost: handlers' contexts end; the new session is a new instance
//	   │           │
//	   └───────────┘ a stranger removed or replaced its nodes: handlers return, a new identity
//
// One instance, the leader, deals the items by a strategy (package strategy), puts up the
// items that dead instances have left unfinished, and cleans up. Any instance can be the
// leader. If a leader dies halfway, the next one need not know: each commit leaves the
// tree whole.
//
// # Words
//
// The processes:
//
//	registry centre  the store: etcd or ZooKeeper, through package coord
//	tree             the nodes of a job in the registry centre
//	session          the store's word that a process is alive; ephemeral nodes belong to it
//	view, snapshot   a live copy of the tree in a process; its state at one moment
//	instance         one process as a member of a job, under a new id in each session
//	Node             what the jobs of one process share; a node, in small letters, is one of the tree
//	Runner           a Node that serves every job it has the work for; a runner, in small letters,
//	                 is the instance that runs an item
//	offer            what a Runner has the work for: a type, or the name of an implementation
//	leader           the instance that deals, recovers and cleans up
//	stranger         whoever writes into the tree and is no instance
//	JVM member       an instance of ElasticJob: it has no node in sessions
//	pass, step       a process goes through the same list of steps after each change; a table
//	                 of the package internal/decide says who writes what when
//
// Items and ticks:
//
//	item             a sharding item: one of the parts into which a job is split
//	owner            the instance to which an item is assigned
//	broadcast job    one in which each instance owns one item, and so runs every tick
//	deal             to give items their owners; the leader does, by the strategy
//	tick             a scheduled time
//	due, fire        a tick is due when it has come; its owner then fires: it claims the item
//	slack            how much later than usual a tick may be seen and still be on time
//	calendar         days and windows that jobs leave out; see below
//	end, expire      a job has expired when no tick is to come any more, and that is its end
//	in force         said of a configuration that is obeyed; of a schedule that the leader has
//	                 recorded, with the time since when it counts
//	misfire          a tick was missed: nobody began it in time, or the item still ran
//	flag             to note in the tree that a tick came while the item ran
//	make up          to run an item once for all ticks that it missed
//	skip             to move on over a tick that nobody is to run
//
// Runs:
//
//	run, execution   one run of an item: its handler is called, and again if it is retried
//	runner           the instance that runs an item; it need not be the owner
//	claim            the commit that begins items, or the part of it for one item
//	fired            the node with the last tick of an item; every claim rewrites it, it stays
//	fencing token    the number of the claim's commit: later claims of an item have larger ones
//	thread           a slot for one handler; Config.Threads says how many there are, and
//	                 NodeConfig.Threads how many all jobs of a node have
//	release          to give up a claim that has waited too long for a thread
//	record           the nodes that show a run: running, which goes at its end, and fired
//	finish           to remove running when the handler has returned
//	mend             to write running again after a stranger has removed or changed it
//	cursor           how far the handler has come with an item, kept between its runs
//	leftover         a record of a run here, although nothing runs
//	settle           to end a leftover: remove its record, or begin the item after all, under the claim that it has
//
// After the end of an instance (failover):
//
//	failover         to run an item again elsewhere after its run was cut short
//	orphan           a record whose runner has ended
//	recover          to remove an orphan and, with failover on, let its item wait for a taker
//	hand over        the same, by the runner itself, when it leaves
//	take over        to claim an item that waits to be run again
//	original         the execution that was cut short first, or had failed, of those that repeat it
//	claim early      to claim an item for its next tick; the run waits for the tick
//	mark             a node that says who has taken an item over
//
// Coming, going, asking:
//
//	register         to create the nodes of an instance
//	found            to register as the only instance, to lead and to deal in one commit
//	forestall        to block a registration whose outcome is unknown
//	step down        to leave the list of instances and give leadership up; runs go on
//	sign off         to remove the last nodes of an instance
//	once-listener    a listener that is told of each tick once in the cluster
//	member           of a tick: an item whose run a once-listener waits for
//	fault            something that keeps the job from running as it should
//
// Steering (package ops):
//
//	kill             to end one run, named by its item and token; it is not made up
//	pause, resume    to let no tick begin, until somebody ends that
//	owed             said of ticks of a pause that are to be made up when it ends
//	request          a node that asks for runs of items beside the schedule, for one reason:
//	trigger          … to run now, with a parameter; also ElasticJob's node that asks for that
//	retry            … to run again for a tick in which the items have failed
//	backfill         … to run for some ticks of the past, one after the other
//	turn             said of the first of the requests that wait for an item
//	progress         the node that says how far an item has come with a request
//	through          said of an item that has nothing left to do for a request
//	obey             to turn a trigger of ElasticJob's kind into a request
//	clerk            who looks after requests, and ticks of once-listeners: the leader, or the
//	                 first Go member if a JVM member leads
//	cancel           to end a request; what runs for it ends by itself
//	skip             to leave out an item of a request: it is disabled, gone or a JVM member's
//	pin              to give an item to instances of one kind, whatever the strategy says
//	remove, note     to take a job out of the registry; the node beside the jobs that says so
//	readmit          to remove that note: programs may set the job up again
//	reshard          to deal as if nobody had had any items
//	overlap          what becomes of ticks that come while the item runs
//
// # What is promised
//
//   - A tick of an item starts at most once in the cluster. Only a failover may start it
//     again, with a larger token, or an operator: with a retry, or a backfill. What a wrong
//     clock has begun more than 15 s before the tick came does not count: see below.
//   - An item has one live owner at most, and its tokens grow strictly.
//   - With misfire on and one enabled instance alive, no item stays without a run for
//     the ticks that it missed. Overlap SKIP leaves those out that came while it ran.
//   - Every tick of an item is run, or made up for, or an observer is told that it was skipped, and how many
//     were: see "A change of the schedule" for what counts then. What was claimed and had not begun when the session
//     ended counts as run. With failover on it is run again; with failover off nobody runs it.
//   - With failover on, an item whose run was cut short by the end of its instance is run
//     again by whoever is alive or comes up first: even if the taker ends too, or all do.
//     Only a kill keeps it from that, or the cancel of the request for which it ran.
//   - A graceful stop causes no second run of an item that had finished.
//   - What an operator disabled stays disabled. Ticks that nobody may run meanwhile are
//     skipped, and not made up later.
//   - Running work is not moved; idle work moves at once. An item that is always due again when its run ends is left
//     idle then for its new owner, for three seconds, unless its tick would be lost by that.
//   - In a broadcast job each tick starts at most once on an instance, and only on one that had
//     its item when the tick came. With misfire on none stays without a run for the ticks that it
//     missed, as long as it may have items.
//   - A handler's context ends before its item can start elsewhere.
//   - If an item does not get a run that it should have had, a fault says why, at most its
//     misfire tolerance and some ten seconds later, as long as an enabled instance is alive.
//   - A once-listener is told of a tick at most once, unless an instance ends in the middle of
//     a call: then it is called again, and told so. No handler of a member begins before
//     Started has ended, and Completed is not called before all members have ended, unless
//     the time that the listener allows is over. So it is under clocks that differ, too.
//   - A cursor is moved only by the execution that has the item, and every later execution of
//     the item goes on there.
//   - A kill ends the run that it names and no other one, also if its runner is cut off or dies
//     before it sees the kill.
//   - No tick is claimed between the commit of a pause and that of its end, whoever ends or
//     comes up meanwhile. What was claimed before may still begin in the pause, under the token that it
//     has; and a failover runs again in it what was cut short.
//   - A request that the registry has is carried out, in its turn for each item, or its result
//     says why it was not. It survives the end of all processes, and is never merged with another,
//     but with one of the same key. What repeats a run of it has its parameter; once it is cancelled,
//     nothing of it begins, and nothing that was cut short is run again.
//   - No tick begins after the end of a job. What came before is made up, and run again after a
//     crash, also after the end.
//   - A job that was removed stays removed, until somebody readmits it, creates it again, or starts
//     it with a higher Config.Revision.
//
// # Steering
//
// [Scheduler.Trigger] runs items now, and tells how they have ended. All else that an
// operator may ask for is in package ops: kill, pause and resume, retry, backfill, cancel, pin,
// disable, reshard. It stands in the tree, so any program may ask, and whoever it concerns
// obeys. Package ops says what JVM members of the job do not obey.
//
// # Kinds of work
//
// A [Handler] does the work of an item. Its settings may stand in Config.Props: then it is a
// [Type], too, which checks them at the start and at each change, and makes the handler for a
// configuration. Types may have names ([WithType], [OfType]); the job's node holds the name
// then. There are packages dataflow, script and httpjob.
//
// A handler may ask its context: [Logger], [PropertiesNow], [StopAsked], [Cursor],
// [MoveCursor], [SetOutput], [Propagated]. A handler that works for long asks StopAsked between two pieces of
// work, because running work is not moved: its item goes elsewhere when it returns.
//
// Around the handler there are listeners, which have names, too (Config.Listeners): a [Listener]
// is told of each execution on its instance, a [OnceListener] of each tick once in the cluster.
// Neither of them holds an item up for longer than its time.
//
// # Looking on
//
// An [Observer] is told what happens, in a goroutine of its own. A [Scope] is open around each
// execution, and its context is the handler's. A [LogHandler] gets the lines of an execution.
// [Scheduler.Snapshot] is the tree as this process sees it. None of them changes what runs, and
// none that panics harms it; but only observers may take their time.
//
// What an execution repeats is in its events: [Execution].OriginalTaskID. A task id follows from the
// claim: instance, item, token and tick. So the leader that finds the record of a run that was cut short
// knows its id, and notes it in sharding/{item}/original with what it puts up to be run again. It
// is not known if a JVM member ran the item, recovered it or took it over, if a stranger has changed
// the record, and in retries of more than 1,000 items.
//
// # Calendars
//
// A job may name calendars ([Config.Calendars], package calendar). They stand in the namespace,
// in ~elasticjob/calendars/{name}, and package ops writes them. A tick that one of them leaves
// out has never been: it is not run, not made up, and not counted; neither is it for a backfill.
//
// The node schedule has the calendars that are in force, each with a short hash of what it says.
// An instance begins ticks only if it has the same. So a calendar that changes is a change of
// the schedule (see below), and who is late with one of the two begins nothing. For each process and calendar:
//
//	unread ──► current ◄──► former
//	   └─────► unknown ──► current
//
//	unread   the view is being opened: no tick begins here
//	current  its node says what this process goes by
//	former   its node is gone or cannot be read; ticks go by what it said last; a fault. If
//	         something else is recorded, it is as with unknown
//	unknown  the same, and this process has never read it: no tick begins here, and others get
//	         the items if they can; a fault
//
// The leader records a current calendar as it is, and only if its node has not changed
// meanwhile. Of a former one processes may remember different states: the recorded one stays.
// If all processes that knew a calendar have ended, nobody begins a tick until it is back.
//
// The jobs of a [Node] share one view of the calendars, which is open while one of them names
// any. JVM members, and members of versions without calendars, do not know them: they run
// every tick.
//
// # A change of the schedule
//
// The node schedule has the expressions, the calendars and the end that are in force, and since when. Other words
// for the same (a year of *, Etc/UTC for UTC, a comment in a calendar, another order) are no change. After a
// change the earlier ticks of the new schedule are no ticks: nobody makes them up. What had come by the schedule
// before stays due: the leader records its last tick, and an item that has not begun that makes it up
// once, or passes it over, as without the change. However many ticks of that schedule it has missed, they count
// as one.
//
// If no process remembers what a calendar said, it counts for that as it is now. If the new configuration does not
// name it any more either, or if misfire was off before, the tick is skipped, with jobtype.SkipScheduleChanged for
// the reason. If MonitorExecution or Broadcast changes, items begin anew, and nothing is left of before.
//
// # The end of a job
//
// A job may end at a time, or after some ticks ([Config.Expiry]); the leader records when, in the
// node schedule, so all agree on the last tick. It may also be that its expressions have no tick
// any more.
//
//	runs ──► expired: no tick is to come ──► nothing is left to do ──► removed, and noted
//	 ▲          │                            (with Expiry.Remove)
//	 └──────────┘ its end is moved, or a calendar changes
//
// Nothing is left to do when no item runs, or waits to be run again or made up, and no request is
// there. As long as ticks have come and nobody may have an item, the job stays, with a fault. Then
// the leader removes the job: in one commit, which also writes the note, in
// ~elasticjob/removed/{job}. Many items go before it, in parts; whoever leads next goes on with
// that. The processes of the job stop with [ErrJobRemoved]. Package ops removes jobs that have
// not expired, too, and brings them back.
//
// A job that is paused, or has JVM members, is not removed. JVM members, and Go members of versions
// without it, know no end: they run on. Programs of such versions set a job up again that was
// removed.
//
// # Many jobs in one process
//
// A [Node] runs the jobs of a process. They share a registry, options, and, if that is
// wanted, a number of threads. An item is then claimed when there is a thread for it. Jobs
// that wait for one stand in a queue: each gets one thread when it is its turn, and goes to
// the end if it needs more. So no job waits for ever while handlers return, and a job that is
// always late does not keep the others waiting. [Schedule] and [OneOff] are the short form,
// for one job that shares nothing but the registry.
//
// A controller does nothing until something changes, and looks then only at the items that
// have changed; so what an execution costs does not grow with the number of items. Thousands
// of jobs that fire at one moment still have to be claimed one after the other.
// [WithEarlyClaims] does that before the tick, so that the handlers begin when it comes. It
// moves a claim, not a run: a tick still starts at most once, and never before its time.
//
// # Runners
//
// A [Runner] serves jobs that others create, change and remove, with package ops or any other
// program: all of the namespace whose implementation or type it offers. It follows the namespace
// by one view of the jobs' nodes and their configurations, joins jobs, and writes no
// configuration. For each job:
//
//	other's ──► waiting ──► served ──► leaving ──► waiting, or other's
//	             ▲   ▲       │  │
//	             │   └───────┘  └──► over ──► waiting, or other's
//	             └ refused ┘
//
//	other's  the Runner offers nothing for it, it is no Go job, or it is not there
//	waiting  it is to be started; 32 start at a time
//	served   it has a scheduler, which follows all changes of the configuration by itself
//	refused  the start has failed or hangs, or the scheduler has stopped with an error: a fault of this job
//	         alone. It is tried again after a second, then less and less often, up to every two
//	         minutes; and at once when the job's node or its configuration changes
//	leaving  it has another implementation now, or was removed and created anew: the scheduler is
//	         shut down, with NodeConfig.Drain for its handlers
//	over     it was removed; or an operator has removed the instance, or the program has shut the
//	         scheduler down. It is not started here again until it is created anew
//
// That a job is gone is what its scheduler finds out, never the Runner: its view may leave out
// what it may not read. A job that is refused shows in [Node.Refused] and [Node.Health], in the
// log when that begins and ends, and in the job's tree in faults/{id}, with the id of the process
// in ~elasticjob/nodes. That node says what the process offers, also while it runs no job.
//
// A Runner joins jobs whose Config.Label it has not. It gets none of their items; but if nobody
// has the label, there is somebody who says so. It does not join a job of which it offers
// nothing, so none of its items ever waits for it.
//
// Jobs that the program starts itself on a Runner ([Node.Schedule], [Node.OneOff]) are the
// program's until they stop, although the Runner may offer the same. The names of those that the
// Runner serves are taken: ErrJobTwice.
//
// # JVM members
//
// Instances of ElasticJob 3.0.x may share a job with ours, on ZooKeeper. While one is there, ours keep rules of
// their own for that: README says what holds then, and Config.Mixed what of a configuration cannot work. Members of
// elastic-job 2.1 read its own documents only: with one that is written here they run nothing, and do not start.
// Who writes it where they have been, or sees them beside it, warns in the log.
// What is promised above holds among ours. Of an item that a JVM member has, or that comes from one:
//
//   - That a tick starts at most once rests on the timing of the JVM member, which looks, and then writes
//     without a condition: it may not stand still for half a second in between, ticks are at least 1.5 s
//     apart, and it does not deal just after a tick has begun.
//   - It has no token, no task id and no outcome. Nobody makes up for what a JVM member has missed.
//   - Under a JVM leader nothing is dealt while anything runs, and ticks that come meanwhile wait for that.
//   - A JVM member of 3.0.6-SNAPSHOT keeps the record of an item that has failed, and nobody runs the item as long:
//     see [Config.Mixed].
//
// # Faults
//
// No failure is silent. What fails is tried again, with a back-off for each step and at most
// a few calls to the store a second. A node that is in the way stops only what needs that
// node. What lasts becomes a [Fault] with a kind and a cause. It shows in [Status], and in
// the log when it begins and when it ends. For operators it stands in the tree, in the node
// faults/{instance} (YAML, at most 4 KiB, rewritten every 5 s at most).
//
// Whatever the reason is, known or not: if a job does not run, items do not begin, or their
// executions are not through when the next tick comes. So each instance watches its own
// items and the item after each of them, and the leader watches all. A fault that comes back
// soon after its end is over only when it has stayed away for half a minute.
//
//	calls to the store fail, the session is not renewed, the view is late FaultStore
//	nodes are in the way, nobody leads                                    FaultTree
//	a configuration is refused, its schedule is not put in force          FaultConfig
//	clocks differ by more than 5 s, the tree has times from the future    FaultClock
//	items do not begin: no thread is free, an execution goes on, no       FaultStarvation
//	instance may have them, or another instance does not begin them
//	the strategy fails, or keeps changing its answer                      FaultStrategy
//	a broadcast job has more instances than items, pins, or JVM members   FaultConfig
//	a job that is to end has JVM members                                  FaultConfig
//	the job has another implementation than this program                  FaultConfig
//	a calendar is gone, or cannot be read                                 FaultCalendar
//	a Runner cannot start a job, or its scheduler has stopped             any of these, by the cause
//
// A scheduler that cannot go on at all leaves in order: its handlers' contexts end, its
// nodes go, others take over, and [Scheduler.Err] says why. If its nodes cannot be removed,
// that is tried again as long as the session lives. Only a [Runner] starts it again. Otherwise
// [Node.Live] says that a restart of the process would help, as it does if a scheduler stands
// still. [Node.Ready] says whether all jobs were started. Package health shows both to Kubernetes,
// and the faults to people.
//
// # What is not promised
//
// The effects of a handler may happen more than once: if an instance ends after a handler
// has returned and before the tree says so, the item is run again. So handlers have to be
// idempotent, or pass ShardingContext.Token to what they write to.
//
// A handler that ignores its context, in a process that was stopped or cut off, may still
// be at work when its item starts elsewhere. The token is for that, too.
//
// A call of a once-listener is exactly once only as long as its caller lives until the tree says
// that it has returned. If an instance ends in the middle, another one calls again. If more than 50
// ticks are told of at a time, further ones are not. Completed comes late if nobody can lead.
//
// A Runner needs a moment to see that a job was created or has another implementation. In between
// an old and a new implementation may both be members of the job; an item still has one owner.
// Whether somebody offers a job that was created, its creator has to find out: a job of which
// nobody offers anything has no instance, and nobody who would say so.
//
// A disable is obeyed by who has seen it: a tick that is being claimed at that moment may still begin.
//
// With MonitorExecution off there are no claims, and none of the promises about ticks,
// failover and owners hold while items move. Runs cannot be killed then, and a tick may
// begin a moment after a pause.
//
// A handler that ignores its context goes on after a kill. If it succeeds, the outcome is OK.
//
// The local wall clock decides when a tick is due. If clocks differ, the earliest one counts;
// Config.MaxTimeDiff bounds the difference. Sessions, time-outs, back-offs and durations are
// measured by the monotonic clock, which nobody can set. That a wall clock was set is seen within
// 30 s, and when the next tick is due. A clock that is far ahead leaves ticks in the
// tree that have not come: the leader corrects them as soon as the store's clock is known and its
// own one is right; until then their items do not run.
// A tick that was begun more than 15 s before it came, by the store's clock, and was taken
// back counts as not begun: when it comes it begins once more, with a larger token, and
// once-listeners are told of it once more. Only a process that does not know the store's clock
// begins ticks so early, or any process while nobody's clock is right. An
// instance whose clock is more than 10 s off leaves its items to instances whose clocks are
// right. If the clocks of all instances are set back behind the store's, a time of day comes a
// second time. Its ticks have begun, so nothing begins until the clocks show again what they showed before.
//
// Each member of a tick begins by the clock of its owner. One that nobody begins is skipped when a
// later tick has come by the slowest clock: one that is 15 s behind the store's, or, while
// nobody's clock is right, as far as an instance says of its own. If the store's clock is not
// known, the clerk's counts in its place. Clocks that are then more than 15 s apart are a fault,
// and members may be skipped that begin later.
//
// If a run of an item is cut short while the item still waits to be run again for an earlier
// one, the item is run again once, for the later tick. A run for a request is not lost by that: the
// request has its turn again.
//
// In a broadcast job nobody runs what an instance has not begun, or not finished, when it ends. A
// process that loses its session comes back as a new instance, which does not know what the old
// one has missed.
//
// With Misfire off, a tick that waits for a thread is skipped if its item is given to
// another instance meanwhile, because it is late there.
//
// Nothing holds across a store that was put back to an earlier state, or replaced. It has
// forgotten what happened after that state, so ticks may start again, and tokens may be
// smaller. Sessions end then, and contexts of handlers with them; jobs go on from what the
// store holds.
package job
