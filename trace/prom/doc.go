// Package prom has metrics of jobs for Prometheus, of the registry centre that they use, and of
// what keeps their history and tells of their failures:
//
//	m, err := prom.New(prom.Options{Namespace: "billing"})
//	prometheus.MustRegister(m)
//	reg := m.Registry(registry) // calls of the nodes are measured
//	node, err := job.NewNode(reg, job.NodeConfig{Options: []job.Option{m.Option()}})
//	m.Watch(node) // how the jobs stand, read at each scrape
//	…
//	http.Handle("/metrics", promhttp.Handler()) // the program serves them
//
// Registry, Option and Watch may be left out; their metrics are missing then. Besides there are
// WatchTrace, for the recorder of the history, and WatchAlerts, for error handlers that send
// messages. A program with jobs in files has all of them by package promfile.
//
// Counters and histograms are counted by an observer ([job.Observer]), beside the path of a run.
// If more than 10,000 events of a job wait for that, further ones are missed, and counted as such.
//
// # Names of jobs
//
// The label job_name is the job; it is not "job", which Prometheus gives to each target. Jobs that
// [Options] leave out share series without it. If there are more than Options.MaxJobs, the
// further ones share those of "~other", a name that no job can have. What jobs share is a sum, and
// they have no next tick. No other label has values that grow in number: which process it was says
// the target.
//
// All series of a job but those of faults and failovers begin with 0 as soon as this process is
// its instance, so that rate and increase see the first event. They go an hour after the process
// was an instance last.
//
// # The metrics
//
// c is a counter, g a gauge, h a histogram; all times are in seconds. With Options.Namespace each
// has the label job_namespace, too.
//
//	elasticjob_ticks_due_total                        c job_name              ticks of the schedule that came; each instance counts them all
//	elasticjob_jitter_seconds                         g job_name              how long after a tick items may begin, as of the last tick: Config.Jitter
//	elasticjob_ticks_made_up_total                    c job_name              missed ticks that executions here made up for
//	elasticjob_ticks_skipped_total                    c job_name reason       ticks of an item that nobody runs; reasons: [jobtype.SkipReason]
//	elasticjob_executions_started_total               c job_name source       ticks fired, made up, and so on; sources: [job.Source]
//	elasticjob_executions_finished_total              c job_name outcome      outcomes: [job.Outcome]; time-outs and kills are among them
//	elasticjob_execution_duration_seconds             h job_name              with all attempts and the pauses between them
//	elasticjob_start_lateness_seconds                 h job_name              from the tick to the handler, beyond Config.Jitter; of a make-up from the last tick that was missed
//	elasticjob_failover_lateness_seconds              h job_name              from the tick of an execution that was cut short until it runs again
//	elasticjob_retries_total                          c job_name              attempts that failed and were followed by another one
//	elasticjob_claims_released_total                  c job_name              items that were claimed and given up before they began
//	elasticjob_items_recovered_total                  c job_name              items whose instance ended while they ran; the leader counts them
//	elasticjob_leader_changes_total                   c job_name              how often this process became the leader
//	elasticjob_faults_begun_total                     c job_name kind         kinds: [job.FaultKind]
//	elasticjob_last_success_timestamp_seconds         g job_name              when an execution succeeded here last; 0 if none has
//	elasticjob_events_missed_total                    c                       events that are not counted here
//
// Of nodes that are watched:
//
//	elasticjob_jobs                                   g                       jobs that run here
//	elasticjob_jobs_beyond_limit                      g                       jobs of "~other"
//	elasticjob_items_owned                            g job_name              items that are assigned to this process
//	elasticjob_items_running                          g job_name              items that run here or wait for a thread
//	elasticjob_items_waiting                          g job_name              items that should have begun and have not, at most 100; on the leader those of all
//	elasticjob_leader                                 g job_name              1 if this process leads
//	elasticjob_registered                             g job_name              1 if it is an instance, with a session that can be trusted
//	elasticjob_enabled                                g job_name              1 if it is an instance, and its server is not disabled
//	elasticjob_paused                                 g job_name              1 if the job is paused
//	elasticjob_expired                                g job_name              1 if the job has an end and no tick to come
//	elasticjob_config_differs                         g job_name              1 if the program's configuration is another one than the registry's, which is effective
//	elasticjob_next_tick_timestamp_seconds            g job_name              the next tick, while registered; 0 if none is to come, or the job was removed
//	elasticjob_faults                                 g job_name kind         faults now; also stopped: its scheduler could not go on
//
// Of the registry centre, from the one that Registry has returned:
//
//	elasticjob_store_requests_total                   c operation result      commit, get, get_all, list, walk, view; result is ok or the kind of the error
//	elasticjob_store_request_duration_seconds         h operation             but for get_all and walk
//	elasticjob_store_conflicts_total                  c reason                commits of which a condition did not hold; reasons: [coord.ConflictError]
//	elasticjob_store_commit_group_size                h                       how many commits went in one request; etcd only
//	elasticjob_store_commits_waiting                  g                       commits that wait to be sent; etcd only
//	elasticjob_view_lag_seconds                       h                       from the answer to a commit until a scheduler here takes a snapshot with it
//	elasticjob_sessions_total                         c                       sessions that this process has had
//	elasticjob_session_state                          g state                 1 for the one that holds: connected, suspended, lost
//	elasticjob_session_left_seconds                   g                       how long the session lasts if it is not renewed
//	elasticjob_clock_ahead_seconds                    g                       how far the local clock is certainly ahead; negative: behind; absent: not known
//
// Of the recorder and of the error handlers:
//
//	elasticjob_trace_queued                           g what                  what is event or line: those that wait to be kept
//	elasticjob_trace_written_total                    c what                  those that were kept
//	elasticjob_trace_dropped_total                    c what                  those that could not be kept in time
//	elasticjob_trace_failing_since_timestamp_seconds  g                       since when nothing can be kept; 0 if it can
//	elasticjob_alerts_waiting                         g                       failures and recoveries that are still to be told
//	elasticjob_alerts_sent_total                      c                       messages that were sent
//	elasticjob_alerts_failed_total                    c                       messages that were given up
//
// The lag of views is measured with one commit a second at most, of those that change a node that
// was there. A commit that no snapshot shows for 10 s counts as that late if the node still has
// its old value; if the node has gone meanwhile, it does not count.
//
// How long it took from the end of an instance until its items run again is not known where they
// run: nobody writes down when an instance ended. So the lateness of a failover counts from the
// tick; of a trigger without a time it is not counted.
//
// # A job that should have run and did not
//
// deploy/prometheus/rules.yaml has alerts, deploy/grafana/elasticjob.json a dashboard. The
// schedulers find out themselves if items do not begin ([jobtype.FaultStarvation]); that they say so
// needs one that lives. If all processes of a job end, its series end. So one rule remembers the
// next tick that the last of them has told, for a day, and fires when it has passed. It is silent if
// that was 0: the job is paused or expired, has no schedule, or was removed. A removal is seen by
// processes that live until the next scrape; if a job is removed while no process serves it, the
// rule fires for a day.
//
// # What is not promised
//
// Counters are those of this process since its start. What happened between the last scrape and
// the end of a process is lost, so sums over processes can be too small. For what has to be exact
// there is the history of package trace.
package prom
