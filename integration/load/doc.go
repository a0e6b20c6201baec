// Command load runs many jobs on a real store and measures them. Anyone can run it on Linux:
//
//	go run ./integration/load -jobs 1000 -for 30s
//	go run ./integration/load -store zookeeper -jobs 500 -processes 3
//	go run ./integration/load -endpoints 10.0.0.7:2379 -jobs 5000 -bare -json
//	go run ./integration/load -jobs 500 -starting 1 -idle               # one start after the other
//	go run ./integration/load -jobs 1 -items 10000 -cron '0/5 * * * * ?' -for 30s   # a wide job
//	go run ./integration/load -jobs 1 -items 10000 -threads 100 -work 200ms -cron '0 * * * * ?' -for 60s   # 1 % at a time
//	go run ./integration/load -jobs 1 -items 10000 -processes 3 -idle -event join
//	go run ./integration/load -jobs 1 -items 1000 -processes 10 -work 20s -cron '0/30 * * * * ?' -for 60s -event kill
//
// Without -endpoints it starts a server of its own: one member that waits for its disk
// (fsync), with its data in a temporary folder, on the same machine. The report warns if
// temporary folders are in memory; set TMPDIR then. With -endpoints all goes into a
// namespace of its own, load-…, whose jobs it removes at the end, unless it is killed. On
// ZooKeeper the node of the namespace stays. Do not point it at a store that others need: it
// is meant to bring the store to its limit.
//
// The server, each process that runs jobs, and the bare client are processes of their own,
// made of this executable. What runs the jobs does nothing else. Its handlers note each run
// in memory that the program shares with them, and take -work long. All end when the program
// does, also when it is killed. SIGINT shuts the jobs down first, a second one does not.
//
// The exit status is 1 if a tick of an item within the window was missed or begun twice, or
// if the run failed. It is 2 for a wrong argument.
//
// # What is run
//
// Each process starts all jobs, -starting of them at a time; 1 is one after the other. When
// all have started and -warm has passed, the next tick begins the window. It lasts for -for,
// and has every tick from its begin up to its end, without the end. So that the counters see
// whole ticks, they are read 50 ms before the window begins and 50 ms before it ends. A
// process of a job with n items has threads for n of them, up to jobtype.MaxThreads, unless
// -threads says otherwise.
//
// # What the figures mean
//
//	bare client   -bare: fires/s of nothing but gRPC, before any job runs, on the same store. A
//	              fire is a claim (four comparisons, two puts) and a finish (two comparisons, a
//	              delete), each a nested transaction; -group of them go in a request, -flight
//	              requests are in flight, and one watch must show all of it. Up to 10 s.
//	machine       the load average before the run. Others are all processes of this machine
//	              but the program, those that run jobs, and a store of our own: figures of a
//	              run with much of it say little. A store elsewhere on this machine is counted
//	              as one of the others, if its CPU time is not known.
//	start         from the first call of job.Schedule until the last one has returned, in the
//	              slowest process; each call by itself. Items are assigned when each has an owner
//	              that knows it: that is asked every 5 ms, or less often if there are many jobs.
//	              shutdown is the same for Shutdown; it does not include the close of the
//	              registry.
//	executions    how many began for the ticks of the window, divided by its length.
//	missed        ticks of an item without any execution.
//	made up       executions that make up for missed ticks (misfire). The last of these ticks
//	              is the one that it is for, so only those before it are missed.
//	twice         executions of a tick beyond one, failovers left out.
//	failed over   executions of a tick that began before and were cut short.
//	not ended     executions whose handlers did not return, or returned early because their
//	              context ended.
//	late          from the tick until the handler is called, by the clock of this machine, for
//	              all executions but failovers. p99: 99 of 100 were not later.
//	first item    how late the first item of a tick of a job began; last item likewise.
//	commits       calls of Commit of the registry. Requests are the transactions that the store
//	              has handled, those of others included, and each is how many commits went in
//	              one. Revisions are how much the store's revision grew, fsyncs how often the
//	              first member has waited for its write-ahead log. Failed are those commits
//	              that failed for another reason than a conflict.
//	CPU           of the processes that run jobs, all together, user and system, in percent of one
//	              core. What an execution costs is all of it divided by the executions, so it
//	              includes what idle jobs cost. Allocations likewise. store is the store's
//	              CPU.
//	memory        RSS is the memory of each process that no file is behind (RssAnon), garbage
//	              included, at the end of the window. For a job: what was added since before
//	              the first job, divided by the jobs. heap is what lives after a collection,
//	              stacks those in use.
//	join          -event: in the middle of the window one more process starts all jobs. leave:
//	              one shuts them down. kill: one is killed, as by a crash. Then "owners change"
//	              is when the first and the last process saw that it has other items. Even says
//	              that at the end each job's items were assigned to those that stay, and none had two
//	              more than another; items that still run then are not moved. Commits are those of the processes that stay, until the end
//	              of the window, for executions too: with -idle only those for the change.
//	failover      of a kill: the executions that were cut short, and how long after the kill
//	              they began elsewhere, the rest of the session included. A tick that was missed
//	              until the session ended does not count against the exit status then.
//
// # What is not measured
//
// The network: all is on one machine with a store of our own. Several members: such a store
// has one. What ZooKeeper does for a commit: it has no metrics that all versions show, so
// requests, revisions and fsyncs are unknown there, and so is the CPU time of a ZooKeeper
// elsewhere. Its JVM compiles while it runs, so a longer -warm makes it faster. The work of
// compaction: our own etcd does none, so a window has up to 2,000,000 executions.
//
// Clocks that differ, faults of the store, and whether promises hold under them: that is what
// the fault suite is for (package integration).
package main
