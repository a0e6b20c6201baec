// Package ops steers the jobs of a namespace, from any program: it needs a registry, and runs
// no job.
//
//	jobs := ops.New(reg).By("anna")
//	nightly := jobs.Job("nightly")
//	killed, err := nightly.Kill(ctx, ops.KillRequest{Items: []int{3}})
//	…
//	request, err := nightly.Trigger(ctx, jobtype.TriggerRequest{Items: []int{3}, Parameter: "again"})
//	…
//	results, err := request.Wait(ctx)
//
// All that is asked for stands in the tree of the job, and whoever it concerns obeys it: so it
// survives the end of any process, and of all. What an operator sees meanwhile:
//
//	                     stands in              obeyed by              ends
//	Kill                 kill/{item}            who runs the item,     when that run has ended
//	                                            or its recoverer
//	Pause, Resume        schedule               who owns the items     with Resume
//	Trigger, Retry,      requests/{id}, and     who owns the item      when all items are through; kept for an
//	Backfill             …/{item} for each      when its turn comes    hour for those who wait
//	Pin, Unpin           pins/{item}            the leader             with Unpin; not in broadcast jobs
//	Reshard              leader/sharding/…      the leader             when the items are assigned
//	Create, Update       config                 its instances          with the next one
//	Apply                config, and the set    its instances          with the next one; the set with
//	                     in ~elasticjob/applied                        Remove or Release
//	Implement            the job's node         who starts, Runners    with the next one
//	Remove               ~elasticjob/removed    its instances; who     with Readmit or Create, or for a
//	                                            would set it up again  program with a higher revision
//	PutCalendar          ~elasticjob/calendars  jobs that name it      with RemoveCalendar
//	DisableItems         sharding/{item}/…      who owns the item      with EnableItems
//	DisableServers       servers/{address}      everybody              with EnableServers
//	Shutdown             instances/{id} goes    that instance          when the process starts the job again
//
// [Job.Plan] tells what an update would change, the next ticks before and after, and what comes with it.
//
// # To stop something
//
//	                  what runs        ticks that come              failovers   triggers   JVM members
//	Kill              ends             as always                    not for it  as always  cannot be killed
//	Pause             goes on          none begins; made up once    as always   as always  do not know it: see
//	                                   or skipped at the end                               PauseRequest.DisableJVM
//	DisableItems      goes on          skipped                      wait        skipped    obey
//	DisableServers    goes on          other servers run them       by others   by others  obey
//	… all servers     goes on          skipped                      wait        refused    obey
//	Shutdown          goes on          other instances run them     by others   by others  obey
//
// ElasticJob's console knows three scopes for servers. A job and an address is Job(name) with that address
// here, a job alone is Job(name) without an address, and an address alone is [Ops.Server]: the same in all
// jobs that have the server, job by job, also if some of them fail.
//
// A change is decided on what stands in the tree, and committed only if that has not changed;
// otherwise it is decided anew, 20 times at most (ErrBusy). All methods return when the store
// has what was asked for; what obeys it comes a moment later.
//
// # To forget something
//
//	ClearMisfires    ticks that were missed, which would be made up
//	ClearFailovers   executions that were cut short, which would be run again
//	ClearServers     servers without an instance; a Go leader does that by itself, unless an operator has
//	                 said something of the server
//	ClearStale       what dead JVM members leave for others to wait for; a Go leader recovers executions
//
// # Who has changed what
//
// Each commit of an operation also writes an entry of the audit, ~elasticjob/audit/{id}: so there is no change by this package
// that [Ops.Audit] does not have, with who (By, From), when, what, and how it was before. A change that takes several commits has
// one entry. Those of an action on many jobs share entries ([Ops.Together]): each commit writes the entry of those before anew,
// with its job. The newest 1,000 are kept. What is as it should be already is not written, and is no change. [Ops.OnChange] tells
// of each change, and [Ops.DryRun] tells without making it. [WithTrace] keeps each in a database, too, where more of them stay,
// and [Ops.History] asks it for them.
//
// # To see what is
//
//	Jobs, Job.Info       a JobInfo of each job: status, members, what runs, the last end, the next tick, faults
//	Job.Describe         all of one job: its items, instances, servers, faults, requests, next ticks
//	Job.Items, …         parts of that
//	Instances, Servers,  over all jobs
//	JobsOn
//	Processes            what processes show beside their jobs: Runners, and those with a bound of items
//	Watch, Job.Watch     the same as it changes, from one view
//
// The statuses of jobs and items are those of ElasticJob's console. Nodes that are missing, or cannot
// be read, hide nothing: what is wrong with them is shown. Texts from the tree are cut.
//
// A list of all jobs reads the namespace once. On etcd that is a request for some 20,000 nodes each,
// on ZooKeeper one for each node, and another one for each parent. So who looks often had better watch.
//
// # Several stores
//
// Ops is about one namespace of one store. [Stores] has many, and connects when somebody asks.
//
// # A request
//
// Trigger, Retry and Backfill write a request: items, and the ticks that each of them is to run
// for. Items do not wait for each other. One item goes through these states:
//
//	waits ──► its turn ──► runs, again for each tick ──► through; with the last item
//	  │                      │                           the request ends, and is kept
//	  └── Cancel: SKIPPED    └── Cancel: no further tick
//
// These rules hold:
//
//   - Requests wait for an item in the order in which they were made; 100 for an item and 1000
//     for a job at most, then another one is refused with jobtype.ErrQueueFull.
//   - Its turn comes when the item is idle. A trigger or a retry begins before a tick that is due
//     at that moment, a backfill after it.
//   - Two with the same key are one, whoever asks, from wherever and however often: see
//     jobtype.TriggerRequest. What asks for something else with the key is refused with jobtype.ErrKeyUsed.
//   - If the item moves, or its owner ends before it has begun, the next owner goes on with the
//     request. If nobody may have the item it waits. [Job.Requests] says why, and so does
//     Status.Waiting of the leader; it is a fault, unless an operator has disabled all servers.
//   - A run that is cut short is run again if the job has failover; if not, its outcome is CUT.
//   - A kill ends the run of one tick, with the outcome KILLED. The request goes on with the next
//     one. Cancel is the opposite: it ends the request, and no run.
//   - Requests run during a pause. An item that is disabled or gone is SKIPPED; but one that waits
//     to be run again after it was cut short waits until it is enabled. The item of a JVM member
//     is SKIPPED, too: that member is asked in ElasticJob's way to run all of its items, and does
//     not tell how they end.
//
// # Not promised
//
//   - A handler that does not watch its context goes on after a kill.
//   - JVM members know no kill, no pause, no pins and no MaxItems, and pass no tick over for
//     Overlap. While one of them leads, nobody assigns by pins.
//   - Neither do Go members whose version knows no steering (protocol 1): Kill fails with
//     ErrOldMember, and Paused.Old lists them. A fault of the job names them, too.
//   - An instance that is shut down is not kept from coming back: a program that starts the job again, in
//     a new process or the same one, is a new instance.
//   - A backfill of items whose ticks are always late has no turn: ticks go first.
//   - Programs of versions before set a job up again that was removed, and JVM members do.
//   - What is left of a large job, whose removal has ended halfway, stays until somebody removes
//     the job again, or creates it. Nobody runs it.
//   - ZooKeeper counts the versions of a node from 0 again when it is created anew. So if something (a
//     job, a pin, a calendar) is removed and made again between the read and the commit of an
//     operation, that may concern the new one, and the audit has what stood there before.
//   - A run of a job without records (MonitorExecution off) cannot be killed, and a tick may
//     begin a moment after a pause.
//   - The tree does not tell when the handler of what runs was called, but the history does, and the
//     tree of what has ended last. It tells what runs is for, and where.
//   - On ZooKeeper a read shows each node as it was at some time while it was read.
//   - Who may do what is a question of rights in the store. By is what a program says.
package ops
