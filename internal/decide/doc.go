// Package decide holds the decisions of a job's instance. They are functions of a [World],
// which is a snapshot of the job's tree and what one process knows at that moment. A decision
// touches nothing: it returns changes. The controller of internal/engine commits each [Change]
// in one conditional commit, and asks again when something has changed.
//
// Nothing here can log, wait, read the clock, commit or call a handler; a test in
// internal/rooms makes sure of that.
//
// # An item
//
//	            Fire, ClaimRequested                 Finish
//	 ┌────────► claim: running, fired ──────────────────────────┐
//	 │             │     ▲       ▲                              ▼
//	idle           │     │       └── make up ──── a tick came meanwhile?
//	 ▲ ▲           │     │                                      │ no
//	 │ └───────────┼─────┼──────────────────────────────────────┘
//	 │   Release   │     │ FailOver
//	 └─────────────┤     │
//	               │ instance ends      ReleaseForFailover: instance leaves
//	               ▼     │                 │
//	    MarkForFailover ─┴─ waits in leader/failover/items ◄──┘
//
// # Words
//
// Paths are below the job. {i} is sharding/{i}, {f} is leader/failover/items/{i}, and {g} is guarantee/{t}: a tick that
// once-listeners are being told of.
//
// Who acts:
//
//	runner         the instance whose id {i}/running has: it runs the item
//	owner          the instance that the item is assigned to, by {i}/instance
//	member         any instance that is in the tree
//	candidate      an instance that is not in the tree yet
//	leader         the member that leader/election/instance names
//	acting leader  the leader; while a JVM member leads, the coordinator (leader* in the table)
//	coordinator    the leader; while a JVM member or an old one leads, the first of our members that is not old and not leaving
//
// Records that do not fit what happens:
//
//	leftover       {i}/running names this instance, and nothing runs here
//	unanswered     a leftover of a claim whose answer was lost (the others are of runs that have ended here)
//	orphan         {i}/running names an instance that has ended
//	torn orphan    an orphan whose running and fired may be of different commits, by a view that shows one in parts
//	stuck          the part of a request that no instance can bring to an end
//
// [RecordOwner] says how the record of a run that goes on here stands: ours, not ours any more, or not yet in the view.
//
// An item awaits failover while {f} is there; two marks, {i}/failover and {i}/failovering, say that an instance has
// claimed it for that. A tick that came while the item ran sets the misfire mark, {i}/misfire. What is done about a
// tick is a [verdict], with the table of all cases in judge.go.
//
// # Steps
//
// The rows have the order of a pass ([Steps]). With {f} also {i}/original is written, which names the execution that
// was cut short first. Marks are {i}/failover and {i}/failovering.
//
//	step                who          when                                        what it writes
//	Restore             runner       somebody else has changed its record        {i}/running
//	Finish              runner       an execution is done                        its end (see ends.go)
//	                                 … a tick came meanwhile, misfire is on      {i}/completed and the next claim: {i}/running,
//	                                                                             fired; {i}/misfire goes. Or as without a tick
//	                                 … the next tick is about to come            {i}/completed and its claim: {i}/running, fired
//	AdvanceTicks        coordinator  all members of a tick have ended, or its    guarantee/{t}
//	                                 time is over: Completed is to be called
//	                                 who was to call has ended                   guarantee/{t}
//	                                 nobody says that Started has ended          {g}/open
//	                                 nobody runs a member for the tick           guarantee/{t}; or {g}/{i}, if it was claimed
//	                                 a tick is over, or nobody wants to know     guarantee/{t} goes
//	EndCall             caller       Started was called                          {g}/open
//	                                 Completed was called                        guarantee/{t} goes
//	LeaveInOneCommit    leaving      nothing runs, and all that it has shows     what Resign and Deregister do
//	Resign              leaving      first, and if it then turns out to lead     instances/{id} goes; leader/election/instance
//	                                                                             goes if it leads
//	                                 … and something runs, beside JVM members    sessions/{id}; instances/{id} goes later
//	ReleaseForFailover  leaving      executions were cut short                   their ends (see ends.go)
//	Deregister          leaving      last; also if an identity is given up       sessions/{id}, instances/{id}, faults/{id} go;
//	                                                                             leader/election/instance goes if it leads;
//	                                                                             trigger/{id} goes if there is nobody to take it
//	Bootstrap           candidate    nobody is there, nothing is in the way      what Register, Elect, RecordSchedule and Assign do;
//	                                                                             config and the job's node if there is none;
//	                                                                             ~elasticjob/removed/{job} goes then
//	Register            candidate    it has not asked for its nodes              sessions/{id}, instances/{id};
//	                                                                             servers/{ip} if there is none
//	FenceRegistration   candidate    Register may yet come; also one that leaves sessions/{id}
//	Announce            member       sessions/{id} is out of date                sessions/{id}
//	RemoveStaleSelf     member       its process has another instance in the     sessions/{id}, instances/{id} go, and
//	                                 job, whose registration came late           leader/election/instance if that leads
//	Unmark              failover     its run has gone without its marks          marks go
//	                                 … beside JVM members: one added its item     {f} goes
//	RecordJVMRuns       coordinator  a JVM member runs an item, or begins        {i}/fired
//	                                 nothing any more; an item has no fired
//	                    member       a JVM member has left a record behind       {i}/running goes
//	FailOver            member       an item awaits failover, a thread is free   {f} goes; marks; {i}/running, fired; its part
//	                    owner        … with MaxItems                             of a request
//	TakeTrigger         member       it was triggered                            trigger/{id} goes; requests, requests/{r}
//	ClaimRequested      owner        a request waits for an idle item            {i}/running, fired; {i}/misfire goes;
//	                                                                             requests/{r}/{i}
//	OpenTick            owner        … and once-listeners are told of ticks      guarantee, guarantee/{t}
//	Fire                owner        a tick is due, the item is idle             {i}/running, fired; {i}/misfire goes
//	                                 … or the tick is about to come (Early)      {i}/running, fired
//	                                 … and it is not held for rebalance
//	MarkMisfire         owner        a tick is due, misfire is on, the item      {i}/misfire
//	                                 runs, and not in a JVM member
//	Skip                owner        nobody is to run the tick                   {i}/fired; {i}/misfire goes
//	                    member       … and all servers are disabled, the         the same
//	                                 owner has ended, it is the first member
//	ReleaseClaims       runner       a claim waits too long for a thread         its end (see ends.go)
//	Settle              runner       the record says so, but nothing runs        its end (see ends.go); or nothing: the item
//	                                                                             begins under the claim that it has
//	Elect               member       nobody leads, and it is its turn            leader/election/instance
//	                                 the leader's node is nobody's               leader/election/instance goes
//	Abdicate            leader       it may not lead any more                    leader/election/instance goes
//	Tidy                leader       external writers' nodes are in the way                they go
//	RecordSchedule      leader*      the schedule or a calendar is new, is       schedule
//	                                 said in other words, or has not come
//	MarkForFailover     leader*      a runner is dead                            its end (see ends.go)
//	Rewind              leader       a recorded tick has not come yet            {i}/fired
//	Clean               leader       failover is off                             {f} goes; marks of idle items go
//	                                 misfire is off, or nothing was missed       {i}/misfire goes
//	                                 a kill came too late                        kill/{i} goes
//	AdoptTrigger        leader       an instance has left its trigger            trigger/{id} goes; requests, requests/{r}
//	EndRequests         coordinator  an item cannot go on for a request          requests/{r}/{i}; trigger/{id} of a JVM member
//	                                 … it waits for one that was cancelled       requests/{r}/{i}; {f} goes
//	                                 all items of a request are through          requests/{r}
//	                                 a request has ended, and was kept           requests/{r} goes
//	Sweep               leader       a server has no instance, and is in the     servers/{ip} goes
//	                                 state in which servers begin
//	Expire              leader       the job has expired, is to be removed       ~elasticjob/removed/{job}; the whole job goes
//	                                 then, and nothing is left to do
//	                                 … and it has many items, first              {i} goes, cursor/{i} goes, pins/{i} goes
//	RequestReshard      coordinator  a JVM leader has assigned wrongly          leader/sharding/necessary
//	Assign              leader       an item has another owner than it should    {i}/instance
//	                                 … from or to a JVM member: first            leader/sharding/necessary
//	                                 … and it has begun what nobody knows of     {i}/instance, {i}/fired
//	                                 a JVM member that assigned is gone          leader/sharding/processing goes
//	                                 an item is new                              {i}/instance, {i}/fired
//	                                 an item is beyond the total, and idle       {i} goes, {f} goes, cursor/{i} goes
//	                                 nobody may have an item                     {i}/instance goes
//	                                 … in a broadcast job: an instance gets      {i}/instance, fired; {i}/misfire, {i}/completed,
//	                                 a free item, which begins anew              cursor/{i} go
//	                                 items are assigned                          leader/sharding/necessary goes
//
// With MaxItems an item counts where it is owned and where it runs. Place gives idle items the capacity that runs
// leave, and Assign moves an item only to an instance that has capacity now, by a view that shows all that the leader
// has assigned before. FailOver, ClaimRequested and Fire claim only items that the instance owns then, and no more
// than it may run ([World.ClaimCapacity]).
//
// A member of a tick ends with {i}/completed. Where that does not tell for certain, or is about to
// be written anew, whoever ends the run, or writes it, also writes {g}/{i}.
//
// A leader that gives leadership up beside JVM members writes leader/sharding/necessary. The rules for jobs with
// JVM members are in the comment of [Mixed].
//
// In a job without records (MonitorExecution off) FireUnmonitored takes the place of Fire, and
// writes nothing. ClaimRequested writes only requests/{r}/{i} there, and EndUnmonitored its end.
//
// Not written here are faults/{id} (internal/engine/diagnose), cursor/{i}, by the handler that runs the item
// (internal/engine/exec), ~elasticjob/nodes/{id}, by one of the jobs of a process (internal/engine/pool), and what
// programs and operators ask for: requests (internal/request, by [Submit]), kills, pins and pauses (package ops).
//
// # Conditions
//
//   - Whatever is done to items as their runner or owner holds only while sessions/{id}
//     belongs to this session: so nobody has taken this instance for dead.
//   - Every claim rewrites {i}/fired at the version that was seen, so a tick of an item
//     starts once.
//   - A claim of a tick holds only while the schedule is the one that was seen: a pause stands
//     there. Settle claims nothing: it begins what was claimed.
//   - Whatever claims an item for a request, or makes it await failover for one, writes
//     requests/{r}/{i} in the same commit. So the number of that commit tells for which request an item runs,
//     or waits; and nothing is repeated for another reason than it was begun for.
//   - A claim of a member of a tick holds only while guarantee/{t} is as it was seen: so nobody
//     has skipped it, and Completed is not being called. A claim of any other item holds only
//     while nobody is told of the tick, or its members are known.
//   - A member that nobody has begun is skipped only at the version of {i}/fired that was seen, and
//     when no owner can begin it any more: by what the tree says, or by the slowest clock that an
//     instance with items may have. The coordinator's clock does not count.
//   - A tick is told of only if it is later than the one in guarantee, at the version that was
//     seen: so no tick is told of twice.
//   - A schedule is recorded only while the nodes of its calendars are as this process knows
//     them. If one is gone or cannot be read, it stays as it is recorded.
//   - Whatever makes an item await failover holds only while kill/{i} and {f} are as they were
//     seen.
//   - An owner that has gone loses the item of a broadcast job only if it has really gone, and
//     nobody has had the item since: so an instance keeps its item.
//   - A job that has expired is removed, as a whole or item by item, only while nobody has asked for
//     anything, it is not paused, and each item that goes is as it was seen: nobody has claimed
//     it since, and it does not await failover.
//   - Every change of a leader holds only while it leads, and while the configuration is the
//     one that was seen. For Tidy and Abdicate it is enough that it leads. Bootstrap creates the
//     leader's node instead.
//
// B-numbers are defects of ElasticJob. integration/README.md has a table of them.
//
// # Not here
//
// The controller decides what depends on time alone: when to ask again, how long to wait
// after a failure, and how long a difference may mean that the view is late.
package decide
