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
//	            Fire, BeginRequested                 Finish
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
// # Steps
//
// The rows have the order of a pass (internal/engine/pass.go). Who: the runner or the owner
// of an item, by the tree; any member; the leader; a candidate, which is not in the tree;
// or one that leaves. Paths are below the job. {i} is sharding/{i}, and {f} is
// leader/failover/items/{i}: the item waits to be run again; with it {i}/original is written,
// which names the execution that was cut short first. Marks are {i}/failover and
// {i}/failovering. {g} is guarantee/{t}: a tick that once-listeners are being told of.
//
//	step                who          when                                        what it writes
//	Restore             runner       somebody else has changed its record        {i}/running
//	Finish              runner       an execution is done                        {i}/running and marks go; {i}/completed; its
//	                                                                             part of a request; kill/{i} goes; {f} if it
//	                                                                             was killed to begin again
//	                                 … a tick came meanwhile, misfire is off     the same; {i}/fired
//	                                 … a tick came meanwhile, misfire is on      {i}/completed and the next claim: {i}/running,
//	                                                                             fired; {i}/misfire goes. Or as without a tick
//	TendTicks           coordinator  all members of a tick have ended, or its    guarantee/{t}
//	                                 time is over: Completed is to be called
//	                                 who was to call has ended                   guarantee/{t}
//	                                 nobody says that Started has ended          {g}/open
//	                                 nobody runs a member for the tick           guarantee/{t}; or {g}/{i}, if it was claimed
//	                                 a tick is over, or nobody wants to know     guarantee/{t} goes
//	EndCall             caller       Started was called                          {g}/open
//	                                 Completed was called                        guarantee/{t} goes
//	LeaveAtOnce         leaving      nothing runs, and all that it has shows     what Resign and Deregister do
//	Resign              leaving      first, and if it then turns out to lead     instances/{id} goes; leader/election/instance
//	                                                                             goes if it leads
//	                                 … and something runs, beside JVM members    sessions/{id}; instances/{id} goes later
//	ReleaseForFailover  leaving      executions were cut short                   {i}/running and marks go; {f} with failover on,
//	                                                                             unless they were killed; kill/{i} goes; or
//	                                                                             their parts of requests
//	Deregister          leaving      last; also if an identity is given up       sessions/{id}, instances/{id}, faults/{id} go;
//	                                                                             leader/election/instance goes if it leads;
//	                                                                             trigger/{id} goes if there is nobody to take it
//	Bootstrap           candidate    nobody is there, nothing is in the way      what Register, Elect, PutInForce and Assign do;
//	                                                                             config and the job's node if there is none;
//	                                                                             ~elasticjob/removed/{job} goes then
//	Register            candidate    it has not asked for its nodes              sessions/{id}, instances/{id};
//	                                                                             servers/{ip} if there is none
//	FenceRegistration   candidate    Register may yet come; also one that leaves sessions/{id}
//	Announce            member       sessions/{id} is out of date                sessions/{id}
//	RemoveStaleSelf     member       its process has another instance in the     sessions/{id}, instances/{id} go, and
//	                                 job, whose registration came late           leader/election/instance if that leads
//	Unmark              failover     its run has gone without its marks          marks go
//	                                 … beside JVM members: one put its run up    {f} goes
//	Witness             coordinator  a JVM member runs an item, or begins        {i}/fired
//	                                 nothing any more; an item has no fired
//	                    member       a JVM member has left a record behind       {i}/running goes
//	FailOver            member       an item waits, a thread is free             {f} goes; marks; {i}/running, fired; its part
//	                                                                             of a request
//	TakeTrigger         member       it was triggered                            trigger/{id} goes; requests, requests/{r}
//	BeginRequested      owner        a request waits for an idle item            {i}/running, fired; {i}/misfire goes;
//	                                                                             requests/{r}/{i}
//	BeginTick           owner        … and once-listeners are told of ticks      guarantee, guarantee/{t}
//	Fire                owner        a tick is due, the item is idle             {i}/running, fired; {i}/misfire goes
//	                                 … or the tick is about to come (Early)      {i}/running, fired
//	                                 … and it is not left to another (Yield)
//	MarkMisfire         owner        a tick is due, misfire is on, the item      {i}/misfire
//	                                 runs, and not in a JVM member
//	Skip                owner        nobody is to run the tick                   {i}/fired; {i}/misfire goes
//	                    member       … and all servers are disabled, the         the same
//	                                 owner has ended, it is the first member
//	ReleaseClaims       runner       a claim waits too long for a thread         {i}/fired as before; {i}/running and marks go;
//	                                                                             {f} after a failover; its part of a request
//	Settle              runner       the record says so, but nothing runs        {i}/running goes, as in Finish; or nothing: the
//	                                                                             item begins under the claim that it has
//	Elect               member       nobody leads, and it is its turn            leader/election/instance
//	                                 the leader's node is nobody's               leader/election/instance goes
//	Abdicate            leader       it may not lead any more                    leader/election/instance goes
//	Tidy                leader       foreign nodes are in the way                they go
//	PutInForce          leader*      the schedule or a calendar is new, is       schedule
//	                                 said in other words, or from the future
//	MarkForFailover     leader*      a runner is dead                            {i}/running and marks go; {f} with failover on,
//	                                                                             unless it was killed; as in ReleaseForFailover
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
//	AskForDeal          coordinator  a JVM leader has left somebody out          leader/sharding/necessary
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
// With MaxItems an item takes room where it is owned and where it runs. Place gives idle items what is left
// beside the runs, and Assign moves an item only to an instance that has room now, by a view that shows
// all that the leader has assigned before. FailOver keeps to the bound, too; it and Assign may still
// take the same room at the same time. No instance begins more than it may run ([World.MayBegin]).
//
// A member of a tick ends with {i}/completed. Where that does not tell for certain, or is about to
// be written anew, whoever ends the run, or writes it, also writes {g}/{i}.
//
// The coordinator is the leader, or the first of our members if a JVM member leads, or an old one. Where a
// leader has a star, the coordinator does it under a JVM leader. Who gives leadership up beside JVM members writes
// leader/sharding/necessary. The rules for jobs with JVM members are in the comment of [Mixed].
//
// In a job without records (MonitorExecution off) FireUnmonitored takes the place of Fire, and
// writes nothing. BeginRequested writes only requests/{r}/{i} there, and EndUnmonitored its end.
//
// Not written here are faults/{id} (internal/engine/report.go), cursor/{i}, by the handler that
// runs the item (internal/engine/exec), ~elasticjob/nodes/{id}, by one of the jobs of a process
// (internal/engine/pool), and what programs and operators ask for: requests (internal/request,
// by [Submit]), kills, pins and pauses (package ops).
//
// # Conditions
//
//   - Whatever is done to items as their runner or owner holds only while sessions/{id}
//     belongs to this session: so nobody has taken this instance for dead.
//   - Every claim rewrites {i}/fired at the version that was seen, so a tick of an item
//     starts once.
//   - A claim of a tick holds only while the schedule is the one that was seen: a pause stands
//     there. Settle claims nothing: it begins what was claimed.
//   - Whatever claims an item for a request, or puts it up to be run again for one, writes
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
//   - Whatever puts an item up to be run again holds only while kill/{i} and {f} are as they were
//     seen.
//   - An owner that has gone loses the item of a broadcast job only if it has really gone, and
//     nobody has had the item since: so an instance keeps its item.
//   - A job that has expired is removed, as a whole or item by item, only while nobody has asked for
//     anything, it is not paused, and each item that goes is as it was seen: nobody has claimed
//     it since, and it does not wait to be run again.
//   - Every change of a leader holds only while it leads, and while the configuration is the
//     one that was seen. For Tidy and Abdicate it is enough that it leads. Found creates the
//     leader's node instead.
//
// B-numbers are defects of ElasticJob. integration/README.md has a table of them.
//
// # Not here
//
// The controller decides what depends on time alone: when to ask again, how long to wait
// after a failure, and how long a difference may mean that the view is late.
package decide
