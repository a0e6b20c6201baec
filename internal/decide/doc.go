// Package decide holds the decisions of a job's instance: functions of a [World], which is
// a snapshot of the job's tree and what one process knows at that moment. They return what
// is to be done, each [Change] in one conditional commit, and touch nothing. The controller
// of package job does it, and asks again when something has changed.
//
// Nothing here can log, wait, read the clock, commit or call a handler. A test in
// internal/rooms holds that.
//
// # An item
//
//	            Fire, BeginTriggered                 Finish
//	 ┌────────► claim: running, fired ──────────────────────────┐
//	 │             │     ▲       ▲                              ▼
//	idle           │     │       └── make up ──── a tick came meanwhile?
//	 ▲ ▲           │     │                                      │ no
//	 │ └───────────┼─────┼──────────────────────────────────────┘
//	 │   HandBack  │     │ TakeOver
//	 └─────────────┤     │
//	               │ instance ends      HandOver: instance leaves
//	               ▼     │                 │
//	            Recover ─┴─ waits in leader/failover/items ◄──┘
//
// # Steps
//
// Who: the owner of an item, the runner of one (both by the tree), any member, the leader,
// or an instance that joins or leaves. Paths are below the job; {i} is an item's node,
// sharding/{i}.
//
//	step            who      when                                 what it writes
//	Register        joining  it is not in the tree                sessions/{id}, instances/{id}, servers/{ip} if it is new
//	Forestall       joining  the answer to Register was lost      sessions/{id}, so that it cannot come late
//	Announce        member   configuration or clock has changed   sessions/{id}
//	TakeOver        member   an item waits, a thread is free      leader/failover/items/{i} goes; {i}/running, fired, failover, failovering
//	Obey            member   it is asked to run items             trigger/{id} goes
//	PassOn          member   it was asked for items of others     trigger/{their id}
//	BeginTriggered  owner    a triggered item is idle             {i}/running, fired
//	Fire            owner    a tick is due, the item is idle      {i}/running, fired; {i}/misfire goes
//	Flag            owner    a tick is due, the item runs         {i}/misfire
//	PassOver        owner    nobody is to run the tick            {i}/fired; {i}/misfire goes
//	HandBack        runner   a claim waits for a thread too long  {i}/fired as before; {i}/running goes; a failover waits again
//	Mend            runner   somebody has removed its record      {i}/running
//	Finish          runner   the execution is done                {i}/running and marks go; {i}/completed; or the next claim in its place
//	Settle          runner   the tree has it, the process has not {i}/running goes, or is claimed again
//	Elect           member   nobody leads, and it is its turn     leader/election/instance; one that is nobody's goes first
//	Abdicate        leader   it may not lead any more             leader/election/instance goes
//	Tidy            leader   nodes of strangers are in the way    they go
//	PutInForce      leader   the schedule is new                  schedule
//	Recover         leader   a runner is dead                     {i}/running and marks go; leader/failover/items/{i}
//	Rewind          leader   a tick has not come yet              {i}/fired
//	Clean           leader   options were switched off            what they have left goes; so do triggers of the dead
//	Sweep           leader   now and then                         servers/{ip} that nobody uses go
//	Assign          leader   items have the wrong owner           {i}/instance, {i}/fired of new ones; items beyond the total go
//	StepDown        leaving  first                                instances/{id} goes, and leadership
//	HandOver        leaving  executions were cut short            {i}/running goes; leader/failover/items/{i}
//	SignOff         leaving  last                                 all that is left of it goes
//
// Every change of an owner or runner holds only while sessions/{id} is its own, so nobody
// has taken it for dead. Every claim rewrites {i}/fired at the version that was seen, so a
// tick of an item starts once. Every change of a leader holds only while it leads, by the
// configuration that it has seen.
//
// # Not here
//
// What is about time alone: when to ask again, how long to wait after a failure, whether a
// view that is late has been waited for long enough. That is the controller's.
package decide
