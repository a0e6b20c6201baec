// Package doctor finds, explains, and says what to do about what is wrong with the jobs of a
// namespace and with its store. It runs no job, and changes nothing.
//
//	report, err := doctor.Examine(ctx, reg, doctor.Options{})
//	for _, found := range report.Findings {
//		fmt.Println(found)
//	}
//
// A [Finding] has a kind, a severity, what it is about, the cause, and advice. There is one for each cause,
// wherever in a job that shows: other instances and nodes with the same trouble are listed in it, and so is what
// follows from it, such as late items from busy threads. A cluster that is well has no finding of the severity warning or above, also in the midst of starts, failovers and
// assigns:
//
//	the whole namespace, job by job ──► nothing is wrong: this is the report
//	      │
//	      ▼ symptoms
//	5 s ──► the jobs that have some, again ──► those that stand in both looks, by the
//	                                           same nodes: these are the findings
//
// What is late is a finding only 10 s after its misfire tolerance. With a history ([Options].History) it also tells of the past:
// of ticks that were missed, and of jobs that have never had a success.
//
// # Kinds
//
// With the highest severity that each can have by itself. A finding is as bad as the worst of its effects:
//
//	no-instance             critical  the job has work to come, and no instance lives
//	not-offered             critical  the same, and no Runner of the namespace offers what would run it
//	no-leader               critical  instances may lead, and none does
//	all-disabled            info      the servers of all instances are disabled
//	label-nobody            critical  no enabled instance has the label that the job asks for
//	nobody-may              critical  all instances refuse the configuration, or have clocks that are off
//	paused                  info      an operator has paused the job
//	expired                 info      the job has reached its end, and is still there
//	no-tick                 warning   the schedule has no tick to come, and is not to end
//	schedule-not-in-force   critical  the leader has not recorded the schedule of the configuration
//	calendar-broken         critical  a calendar that the job names is gone, or cannot be read
//	config-unreadable       critical  the configuration in the store cannot be read
//	config-refused          critical  instances refuse the configuration in the store
//	config-behind           warning   an instance works by an earlier configuration
//	config-differs          warning   a program brings another configuration than that of the store, which is in force
//	protocol-newer          critical  an instance shares the tree by rules that this binary does not know
//	protocol-older          warning   an instance is too old to know what operators ask for
//	mixed                   info      the job has JVM members and Go members
//	mixed-jvm               critical  the job has JVM members, and uses what they do not know, or do otherwise
//	fault                   warning   an instance shows a fault
//	server-idle             info      a server is disabled that has no instance
//	reshard-pending         warning   the items are to be resharded, and the leader does not do it
//	stale-processing        critical  a mark says that items are being assigned, so nobody begins any
//	stale-node              warning   a node that ends with a session belongs to none
//	debris                  warning   nodes stand below those that have no children
//	node-too-large          warning   nodes are too large, or too many, to be read
//	jvm-only                info      the job has a name that only JVM members can use
//	unusable-name           warning   nodes have names that no program can use
//	document-unreadable     warning   a node has a value that cannot be read
//	future-time             warning   recorded ticks have not come yet by the store's clock
//	request-waits           warning   a request has waited for five minutes
//	kill-waits              warning   a run that was killed goes on after a minute
//	item-unowned            critical  items have no owner
//	item-owner-gone         critical  the owner of items has ended
//	item-owner-barred       warning   the owner of items may not have them
//	item-no-room            warning   items have no owner, because no instance has room
//	item-disabled           info      items are disabled
//	item-overdue            critical  items should have begun, and their owner does not begin them
//	item-queued             critical  the same, and other executions of the owner hang
//	run-overtaken           warning   executions go on although the next tick has come, or for longer than they may
//	items-fail              warning   the last executions of all items have failed; if only of some, it is info
//	item-late               warning   the last executions of items have begun late
//	never-succeeded         warning   executions have ended, and none of them was a success
//	ticks-missed            warning   many ticks were missed within a day; if none within the last hour, it is info
//	stale-running           critical  items are shown as running by an instance that has ended
//	jvm-running             warning   items are shown as running in a JVM member for longer than a tick: they may have failed there
//	failover-waits          warning   items that were cut short wait to be run again
//	pin-unmatched           critical  items are pinned to what is not there
//	no-job                  info      a child of the namespace is no job
//	removal-rest            warning   a removal was cut short
//	removal-ignored         critical  a job was moved, and is there again; if it was removed, it is a warning
//	clock-off               critical  a clock is off
//	migration-open          warning   a migration has stopped halfway
//	rights-missing          critical  this user may not read, or not write
//	store-old               critical  servers of the store are too old
//	store-elasticjob        warning   ElasticJob's own registry for etcd keeps jobs in the store, which cannot run there
//	store-keeps-history     warning   the store does not compact its history
//	store-near-quota        critical  the database is near its quota
//	store-alarm             critical  an alarm stands in the store
//	store-member-away       warning   a server of the store does not answer
//	store-unknown           info      the store does not tell its version
//
// # Beside JVM members
//
// A finding of the kind mixed says which of the instances are JVM members (members of ElasticJob), who
// leads, who is the coordinator, and which rules Go members keep as long as JVM members are there:
//
//	record JVM runs   the coordinator records the schedule, and the ticks that JVM members begin
//	failover latch    items that await failover are claimed under the latch of JVM members
//	late resignation  an instance that leaves stays in the list until nothing of it runs
//	JVM order         items are assigned in the order in which JVM members assign
//
// under a JVM leader:
//
//	pause while a JVM reshards   fires wait while it assigns items, and are not late for that
//	complete what a JVM leaves   the coordinator fails over what JVM members leave, and requests another assignment
//
// and under a Go leader:
//
//	gated moves          items move from or to a JVM member only after leader/sharding/necessary has stood for a while
//	reshard on handover  a leader that resigns leaves a mark that the items are to be assigned
//
// What the configuration has that JVM members do otherwise is that of [jobtype.MixedIn], if it does harm. Members of
// elastic-job 2.1 are one finding with the order in which they go, and what else there is to say of the configuration is an
// effect. Beside a document of 3.0, which they do not read, they are those of [jobtype.MixedOld]: critical if they own items.
// If they cannot start they leave nothing: then their servers are named that are there from before, until they are cleared.
//
// # Bounds
//
// It holds the tree of one job at a time, and those of jobs between whose nodes its nodes stand in
// the order of their paths: a, a-b, a/b. A report has 10,000 findings at most, 1,000 of a kind, and
// 100 items in each. One look at 10,000 jobs that are well, of 3 items and an instance each, takes 2 s on etcd and
// 12 s on ZooKeeper, on two busy cores, and less than 100 MB (go test ./ops/doctor -run - -bench .).
//
// # Not promised
//
//   - What only a process knows is not found: why a commit fails, how many threads are busy. Its
//     faults say that, in the tree, and they are findings.
//   - A job without a time zone runs by the zones of its processes. Nothing is said about its late
//     items, unless a tick that has begun shows that the zone here is the same.
//   - As long as the store's clock is not known, this host's is believed. A user who may not write
//     does not learn that of ZooKeeper.
//   - Nothing is known of when JVM members run items, because they record no ticks.
//   - On ZooKeeper the nodes of a job are not of one moment. Two looks make it unlikely, not
//     impossible, that a job which changes all the time looks wrong in both of them.
//   - A database of several namespaces knows jobs by their names only: what it tells may be of a job of that name in another
//     one. It is asked for 20 jobs at most, those with the newest missed ticks and failures.
//   - An etcd server does not tell whether it compacts its history. It is a finding if it still has
//     what a server that compacts has not.
package doctor
