// Package job runs cron jobs that are split into sharding items over any number of
// equal processes, with no central scheduler. The processes share a small tree of
// nodes in a registry centre (package coord); each decides from a snapshot of it what
// it may do next, and does it only if one conditional commit succeeds.
//
//	reg, err := etcd.Dial(ctx, etcd.Config{Endpoints: endpoints, Namespace: "billing"})
//	s, err := job.Schedule(ctx, reg, job.Config{
//		Name: "settle", Cron: "0/5 * * * * ?", ShardingTotalCount: 3,
//		ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou", Failover: true,
//	}, job.Func(settle))
//	…
//	err = s.Shutdown(drain) // with a context of its own: how long what runs may take
//
// # An item
//
//	          fire: its tick is due          finish
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
// One instance, the leader, deals the items by a strategy (package strategy), brings
// what dead instances left unfinished up for the others, and tidies up. Anyone can be
// the leader, and nothing that a leader did half needs to be known to the next: each
// commit leaves the tree whole.
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
// earliest of them. Config.MaxTimeDiff bounds that.
package job
