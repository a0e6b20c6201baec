// Package ops steers the jobs of a namespace, from any program: it needs a registry, and runs
// no job.
//
//	jobs := ops.New(reg).By("anna")
//	nightly := jobs.Job("nightly")
//	killed, err := nightly.Kill(ctx, ops.KillRequest{Items: []int{3}})
//	…
//	request, err := nightly.Trigger(ctx, job.TriggerRequest{Items: []int{3}, Parameter: "again"})
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
//	Pin, Unpin           pins/{item}            the leader             with Unpin
//	DealAnew             leader/sharding/…      the leader             when the items are dealt
//	DisableItems         sharding/{item}/…      who owns the item      with EnableItems
//	DisableServers       servers/{address}      everybody              with EnableServers
//
// # To stop something
//
//	                  what runs        ticks that come              failovers   triggers   JVM members
//	Kill              ends             as always                    not for it  as always  cannot be killed
//	Pause             goes on          none begins; made up once    as always   as always  know it not: see
//	                                   or passed over at the end                           PauseRequest.DisableJVM
//	DisableItems      goes on          passed over                  wait        skipped    obey
//	DisableServers    goes on          other servers run them       by others   by others  obey
//	… all servers     goes on          passed over                  wait        refused    obey
//
// A change is decided on what stands in the tree, and committed only if that has not changed;
// otherwise it is decided anew, 20 times at most (ErrBusy).
//
// # Not promised
//
//   - A handler that does not watch its context goes on after a kill.
//   - A run of a job without records (MonitorExecution off) cannot be killed, and a tick may
//     begin a moment after a pause.
//   - Who may do what is a question of rights in the store. By is what a program says.
package ops
