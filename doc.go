// Package elasticjob is the root of a library that runs cron jobs in several processes, which agree through etcd or
// ZooKeeper. It has no code; README.md and docs say what the library does. These are its packages.
//
// # For programs that run jobs
//
//	job                   configurations, handlers, schedulers, nodes; what is promised
//	coord/etcd, coord/zk  the stores; coord has their contract, and coord/memory a simulated one with faults
//	job/dataflow          jobs that fetch rows and process them, with a cursor
//	job/script            jobs that run a program
//	job/httpjob           jobs that send a request
//	job/alert             error handlers that tell people; job/alert/email by SMTP
//	job/allow             what the configuration of a job may make its worker use
//	job/property          reads and checks the properties of types of your own; references to secrets
//	job/calendar          days and hours that jobs leave out
//	job/cronexpr          cron expressions of Quartz and of Unix
//	job/health            liveness, readiness and faults over HTTP
//	job/dump              what a process believes of its jobs beside what the registry has
//	strategy              how items are assigned to instances
//	jobfile               jobs, and the process that runs them, in files
//	jobtest               tests of your own jobs, in virtual or real time; copy_test.go has some to copy
//
// # For history, metrics and spans
//
//	trace           events of executions and lines of handlers, and sinks that keep them
//	trace/history   what can be asked of a history, and the answers
//	trace/sqltrace  the history in a database, in ElasticJob's tables and some more (a module)
//	trace/prom      metrics for Prometheus (a module); deploy has alerts and a dashboard
//	trace/oteljob   spans and metrics for OpenTelemetry (a module)
//	trace/prom/promfile, trace/sqltrace/sqlfile
//	                metrics and the history as types of the sections of job files
//
// # For tools
//
//	ops             shows, changes and steers jobs that run elsewhere
//	ops/declare     brings the jobs of a namespace to what files say, and writes such files
//	ops/doctor      what is wrong with the jobs of a namespace and its store, why, and what to do
//	ops/failed      what has failed in a span and has not succeeded since, and runs it again
//	ops/why         why a job, or an item of it, did not run at a moment
//	ops/migrate     moves the jobs of a namespace to another store
//	ops/rights      the least rights of a worker, an operator and a reader; another user for ZooKeeper
//	jobtype         the configuration of a job and its document, for tools that run no jobs
//	cmd/elasticjob  the command (a module)
//	console         the console as an http.Handler (a module); console/access has its users, console/access/oidc the log-in at a
//	                provider, console/connection its stores, console/sink sends traces of both elsewhere, console/legacy
//	                has the routes of ElasticJob's consoles, console/client is a client of its API
//	docs            the pages of documentation; console/docsite makes them a site
//
// # Examples
//
//	examples/quickstart  three instances, one of which is killed; begin with worker.go
//	examples/service     a whole service and its tests; copy this one
//	examples/orders      a dataflow over a SQL table, with a cursor and fencing tokens
//	examples/observed    history, metrics, spans, lines and dumps in one program
//	examples/steer       an operator's program: it pauses a job, runs an item, and resumes it
//	examples/manyjobs    many jobs in one process
//	examples/runner      a process that serves jobs which somebody else creates
//	examples/file        a file of jobs that have no Go code
//	examples/script, examples/http
//
// # For who changes the code
//
// A decision of an instance is a function of a snapshot, in internal/decide; internal/engine carries it out, and its comment
// lists the packages below it. internal/jobtree has the paths and values of a job's nodes, internal/jobconf the keys of
// configurations, internal/request runs beside the schedule, internal/removal the removal of jobs. Small parts are
// internal/clocks (the wall clock and the monotonic clock, kept apart), internal/storeclock, internal/liveness,
// internal/urgency, internal/veil, internal/slogzap, internal/yamldoc, internal/httpx, internal/bounded, internal/brief,
// internal/sleep, internal/fair, internal/either and internal/module. internal/errclass gives sentinel errors the class
// that HTTP statuses and exit codes follow from.
//
// coord/coordtest is the conformance suite of stores. integration attacks the promises with processes that are killed, stopped
// and cut off. For tests there are internal/testserver, internal/modelstore, internal/crowd and internal/mdpage;
// internal/rooms tests which package may import which, how large it may be, and what a program that imports us gets.
package elasticjob
