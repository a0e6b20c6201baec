// Package job runs cron jobs that are split into sharding items over any number of
// equal processes, with no central scheduler. The processes share a small tree of
// nodes in a registry centre (package coord); each decides from a snapshot of it what
// it may do next, and does it only if one conditional commit succeeds.
//
//	reg, err := etcd.Dial(ctx, etcd.Config{Endpoints: endpoints, Namespace: "billing"})
//	s, err := job.Schedule(ctx, reg, job.Config{
//		Name: "settle", Cron: "0/5 * * * * ?", ShardingTotalCount: 3,
//		ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou", Failover: true,
//	}, job.HandlerFunc(settle))
//	…
//	err = s.Shutdown(drain) // with a context of its own: how long what runs may take
//
// # An item
//
//	          fire: its tick is due,
//	          a thread is free               finish
//	 ┌──────► claim: running, fired ────────────────────┐
//	 │                │         ▲                       ▼
//	idle              │         └─── make up ── a tick came meanwhile?
//	 ▲ ▲              │ instance ends                   │ no
//	 │ └──────────────┼─────────────────────────────────┘
//	 │                ▼
//	 │        recover: waits for failover ──► take over: a claim elsewhere ──► finish
//	 └──────── (failover off: nothing waits)
//
// A claim is one commit. It says that the item is still assigned here, that it does
// not run, and that this tick of it was not begun, and it moves the item's fired
// record on to the tick. So a tick of an item starts at most once, whoever owns the
// item. The store-wide number of the claim is the execution's fencing token: every
// later claim of the item has a larger one.
//
// # An instance
//
//	register ──► enabled ──► leaves: out of the tree, items dealt to others ──► signs off
//	   ▲            │             what runs here comes to its end first
//	   └── session lost: contexts of its handlers end; a new session is a new instance
//
//	   └── its nodes removed or replaced by a stranger: handlers return, a new identity
//
// One instance, the leader, deals the items by a strategy (package strategy), brings
// what dead instances left unfinished up for the others, and tidies up. Anyone can be
// the leader, and nothing that a leader did half needs to be known to the next: each
// commit leaves the tree whole.
//
// # Words
//
//	item       a sharding item: one of the parts into which a job is split
//	instance   one process, as a member of a job; it has another id in each session
//	tick       a scheduled time
//	claim      the commit that begins an item; its number is the fencing token
//	record     the nodes that say that an item runs, and for which tick
//	deal       give items their owners; the leader does, by the strategy
//	make up    run an item once for the ticks that it missed
//	pass over  move on over a tick that nobody is to run
//	orphan     the record of a run whose instance has ended
//	recover    put the item of an orphan up to be run again
//	take over  run an item again that was recovered, or handed over (failover)
//	hand over  give up what is not finished, when an instance leaves
//	hand back  give up a claim that waits for a thread
//	leftover   a record of a run here, although nothing runs
//	mend       put the record of a run back that somebody has removed
//	fault      something that keeps the job from running as it should
//
// Each process goes through a list of steps whenever something has changed. Who does what
// when, and what it writes, stands in a table of package internal/decide.
//
// # What is promised
//
//   - A tick of an item starts at most once in the cluster. Only a failover may start it
//     again, with a larger token.
//   - An item has one live owner at most, and its tokens grow strictly.
//   - With misfire on and one enabled instance alive, no item stays without a run for
//     the ticks that it missed.
//   - With failover on, a run that was cut short by the end of its instance is run
//     again, by whoever is alive or comes up first, also after the taker ended, or all.
//   - A graceful stop causes no second run of an item that had finished.
//   - What an operator disabled stays disabled, and misses nothing by it.
//   - Running work is not moved; idle work moves at once.
//   - A handler's context ends before its item can start elsewhere.
//   - No item stays without a run that it should have had, and without a fault that says
//     why, for longer than its misfire tolerance and some ten seconds, as long as an
//     enabled instance is alive.
//
// # Faults
//
// Nothing ends in silence. What goes wrong is tried again, each step with a back-off of
// its own and at most a few requests a second, and a node that is in the way costs only
// what needs that node. What lasts is a [Fault] with a kind and a cause: in
// [Status], in the log once when it begins and once when it ends, and for operators in
// the tree, in the node faults/{instance} (YAML, at most 4 KiB, rewritten every 5 s at
// most). Whatever the reason, known or not, it shows in items that do not begin, or whose
// executions are not through when they should begin again: each instance watches its own
// and the one after each of them, and the leader all. A fault that comes back soon after
// its end is over only when it has stayed away for half a minute.
//
//	requests fail, the session is not renewed, the view does not follow   FaultStore
//	nodes are in the way, nobody leads                                    FaultTree
//	a configuration is refused, its schedule is not put in force          FaultConfig
//	clocks differ by more than 5 s, the tree has times from the future    FaultClock
//	items do not begin: no thread, an execution that goes on, nobody      FaultStarvation
//	who may have them, others who do not begin them
//	the strategy fails, or does not stick to its answer                   FaultStrategy
//
// A scheduler that cannot go on at all leaves in order: its handlers' contexts end, its
// nodes go, others take over, and [Scheduler.Err] says why. Where the store does not let
// its nodes go, it is asked again as long as the session lives.
//
// # What is not promised
//
// That the effects of a handler happen exactly once. An execution that was finished,
// but whose instance ended before it could say so, is run again. Handlers are
// idempotent, or pass ShardingContext.Token to what they write to.
//
// That a handler which ignores its context, in a process that was stopped or cut off,
// is not still at work when its item starts elsewhere. The token is for that too.
//
// With MonitorExecution off there are no claims, and none of the promises about ticks,
// failover and owners hold while items move.
//
// Clocks decide when a tick is due: processes whose clocks differ fire as early as the
// earliest of them. Config.MaxTimeDiff bounds that. What a clock that was far ahead has
// left in the tree is corrected by the leader, as soon as the store's clock is known; a
// process begins no tick twice for that, unless its own clock was set back. An instance
// whose clock is more than 10 s off leaves its items to others whose clocks are right. An
// instance alone whose clock is set back waits until it has come that far again.
//
// That each of two failovers of one item happens: an item whose run is cut short while an
// earlier one still waits to be run again is run once more, for the later tick.
//
// With Misfire off, that a tick is run which waited for a thread when its item was given
// to another instance: there it is late, and let go.
//
// That anything holds across a store that was put back to an earlier state, or replaced:
// what happened after that state is forgotten, so ticks may start again, and tokens may be
// smaller. Sessions end then, contexts of handlers with them, and jobs go on from what the
// store holds.
package job
