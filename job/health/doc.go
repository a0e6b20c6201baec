// Package health shows over HTTP how a node stands, to Kubernetes and to people:
//
//	mux.Handle("/health/", http.StripPrefix("/health", health.Handler(node)))
//
// [Handler] answers GET and HEAD, with JSON, and with status 200 or 503:
//
//	/live    503: a restart of the process would help       [job.Node.Live]
//	/ready   503: it still starts, or it shuts down         [job.Node.Ready]
//	/faults  503: a job is at fault, or has stopped         [job.Node.Faults]
//
// The first two are for probes, and the third is for alerts and for people. It must not be a
// probe: a fault of one job, or a store that is away, would then restart a whole fleet, or take
// it out of its Service.
//
//	                          live  ready  faults
//	before Run, or while the
//	  first jobs start        200   503    200
//	works                     200   200    200
//	the store is away         200   200    503
//	a configuration is wrong  200   200    503
//	an operator has removed
//	  the instance or a job   200   200    503
//	a scheduler has panicked
//	  or stands still         503   200    503
//	it shuts down             200   503    200, or 503
//
// # In Kubernetes
//
// A Deployment may ask like this (see "Liveness, Readiness, and Startup Probes" in the
// documentation of Kubernetes):
//
//	spec:
//	  minReadySeconds: 10 # a program that crashes by then stops the rollout
//	  template:
//	    spec:
//	      terminationGracePeriodSeconds: 45 # NodeConfig.Drain, 30 s, and 15 s more
//	      containers:
//	        - name: worker
//	          startupProbe: # until the program listens
//	            httpGet: {path: /health/live, port: 8080}
//	            periodSeconds: 2
//	            failureThreshold: 30
//	          livenessProbe:
//	            httpGet: {path: /health/live, port: 8080}
//	            periodSeconds: 10
//	            timeoutSeconds: 5 # 1 s by default, which is little for a busy machine
//	            failureThreshold: 3
//	          readinessProbe:
//	            httpGet: {path: /health/ready, port: 8080}
//	            periodSeconds: 5
//	            timeoutSeconds: 5
//
// Startup: the other probes wait until it succeeds once. It asks /live and not /ready, because
// a restart does not help a program that waits for its store. If the program listens before it
// dials the registry, it can do without.
//
// Liveness: after three failures in a row the container is restarted. /live fails only if the
// process cannot recover, so it could be restarted at the first failure; three of them are for a
// machine that is too busy to answer. So a process is restarted a minute and a half after one of its
// schedulers has begun to stand still; it drains first, and as that scheduler does not end, it is killed
// when terminationGracePeriodSeconds are over. The items of that scheduler wait until then. Those of
// one that has panicked are given to other processes at once.
//
// Readiness: a rollout goes on when a new process is ready for minReadySeconds. So a program
// that cannot start its jobs stops the rollout, and the old processes go on. It gates the
// traffic of Services, too; a worker that serves none needs it all the same.
//
// Shutdown: Kubernetes sends SIGTERM, and kills the process when
// terminationGracePeriodSeconds are over. Until then [job.Node.Run] drains: it waits for handlers
// up to NodeConfig.Drain, then ends their contexts and waits for WithCancelGrace (1 s), for what
// is to be told to the store (5 s at most for each job, all at once), and for error handlers that
// have something to send (1 s more). Closing the registry takes up to the time that the program
// gives it. So give the drain and 15 s. /live says yes meanwhile, because a supervisor that asks
// then must not cut the drain short; the kubelet does not ask.
//
// # Bounds, and what is not promised
//
// /live and /ready are cheap, whatever the number of jobs, and ask nobody: the store may be
// away. /faults shows up to 100 faults, with 500 bytes of each text, and says how many more there
// are. No answer is to be cached.
//
// Errors are those of the log: they name jobs, items, paths and hosts. They show no secret that was
// given as a reference (package property). Whoever may not read the log should not reach the port
// either; there is no log-in.
//
// A process that cannot answer at all, because it has no memory or CPU, is found out by the
// probe's time-out, not by what is checked here. A handler that hangs is not looked for:
// Config.Timeout is for that, and an item that is late for it is a fault.
package health
