// Package jobfile runs jobs that are described in files. What ElasticJob has in Spring's
// namespace and starter stands in elasticjob.yaml:
//
//	func main() {
//		supervisor := script.Supervise() // first of all, if there are scripts
//		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
//		defer stop()
//		app, err := jobfile.Load(ctx, jobfile.Options{
//			Handlers:   map[string]job.Handler{"settle": job.HandlerFunc(settle)},
//			Supervisor: supervisor,
//		}, "elasticjob.yaml")
//		…
//		err = app.Run(ctx) // until ctx ends; meanwhile it reloads the file when it has changed
//	}
//
// A file:
//
//	registry: # exactly one of etcd, zookeeper and memory
//	  etcd:
//	    endpoints: ["https://etcd-0:2379", "https://etcd-1:2379"]
//	    namespace: shop/jobs
//	    username: jobs
//	    password: ${env:ETCD_PASSWORD:-secret} # better ${file:/run/secrets/etcd}
//	    tls: {serverName: etcd} # and ca, cert, key: paths
//	node:
//	  labels: [gpu]
//	  threads: 100
//	  drain: 20s
//	allow: # what configurations of jobs may make this process use; see package allow
//	  "*": {references: {folders: [/run/secrets]}, http: {hosts: [hooks.slack.com]}}
//	  report: {script: {commands: [/opt/report/*]}}
//	  ping: {http: {hosts: [shop.example.com]}}
//	log: {level: INFO, format: json}
//	defaults: # of all jobs
//	  failover: true
//	  jobErrorHandlerType: LOG,SLACK
//	  props:
//	    slack.webhook: ${file:/run/secrets/slack} # looked up when it is needed
//	jobs:
//	  settle:
//	    implementation: settle # of Options.Handlers
//	    revision: 3 # raise it with every change
//	    cron: 0 0/5 * * * ?
//	    timeZone: Asia/Shanghai
//	    shardingTotalCount: 3
//	    shardingItemParameters: 0=Beijing,1=Shanghai,2=Guangzhou
//	    timeout: 2m
//	    retry: {attempts: 3, initialBackoff: 500ms}
//	  report:
//	    type: SCRIPT
//	    cron: 0 0 3 * * ?
//	    shardingTotalCount: 1
//	    props: {script.command.line: /opt/report/run.sh --full}
//	  ping:
//	    type: HTTP # without cron: runs when it is triggered
//	    shardingTotalCount: 1
//	    props: {http.uri: "https://shop.example.com/ping", http.method: GET}
//	tracing: {include: [settle*]}
//	metrics: {type: EXPVAR, listen: "127.0.0.1:8080"} # the default PROMETHEUS is in trace/prom/promfile
//	dump: {listen: "127.0.0.1:8080"}
//	health: {listen: ":8081"}
//	profiles:
//	  test: # ELASTICJOB_PROFILES=test
//	    registry: {etcd: null, memory: {namespace: test}}
//	    defaults: {jobErrorHandlerType: LOG, props: {slack.webhook: null}}
//	    jobs: {report: {enabled: false}}
//
// Jobs have the keys of ElasticJob's documents, and those of ours that stand in their props;
// elasticjob.schema.json ([Schema]) describes all keys, for editors.
//
// A file may have calendars, too, by their names: each is the text of a document, such as
// ${file:holidays.yaml}. A process that runs the jobs writes none of them into the namespace, and takes
// there what the jobs name. Who writes them is package ops/declare, which brings a namespace to what files
// say ([Declare], [Declarations.Write]), and runs no job: elasticjob apply.
//
// # Rules
//
// A key that is not known, one that stands there twice, and a value of another type are
// mistakes: nothing starts, and all of them are shown with file, line and column ([Error]).
// A text may be any single value, and is taken as it is written; numbers and booleans have no
// quotation marks. A cron expression needs some within braces, or if it begins with *; that is
// YAML's rule. A file is a regular one of up to 8 MiB.
//
// Later ones come over earlier ones: first the files, in their order; then what the files have
// for the first profile that is chosen, in the order of the files; then for the second one. At
// last, each job comes over defaults. Mappings are put together key by key. Lists and single
// values are replaced. null removes, and a key with nothing behind it is null.
//
// ${env:NAME}, ${env:NAME:-text if it is not there, or empty} and ${file:path} are expanded in
// values, not in keys, when all is put together: so what is replaced need not be there. Numbers
// and booleans may come from them, too. $${ stands for ${ itself. A relative path begins in the
// folder of the file that names it.
//
// In props of jobs and defaults nothing is expanded, and $${ stays. Types and error handlers look
// references up by themselves when they run, each in its own process, in the properties for which
// they say so: a script in its variables (script.env.*), and not in its command. What is expanded
// in another key of a job comes into the registry, which everybody may read who runs jobs, and
// into logs and errors: secrets do not belong there. And it should be the same in all processes.
//
// # What is in force
//
// The registry has one configuration of a job, for all processes. A job that is not there yet is
// set up. One that is there is replaced if its revision in the file is larger, or if it has
// overwrite: true, as with a program ([job.Config.Revision]). Otherwise
// the registry's stays in force. At a start a warning in the log says how they differ.
//
// [App.Run] reloads the files when they have changed, and at a SIGHUP:
//
//	a job is new               it starts
//	it has gone, or is not     it ends in this process, when its handlers have returned; it stays in
//	enabled any more           the registry, where other processes may run it
//	it has changed             it is written to the registry in one commit, if nobody has changed it
//	                           there meanwhile, and if its revision is larger or it overwrites; all
//	                           instances go by it a moment later. Otherwise it is not in force, and
//	                           is a fault. So is what a type, or an error handler, would refuse
//	it has another type or     it ends here, and starts anew, which the registry refuses as long as
//	implementation             it has the job with the other one
//	another section has        nothing, but a fault: it needs a restart
//	changed
//	a file has mistakes        nothing, but a fault
//
// With node.serve the process is a [job.Runner], too: it also runs jobs that others have put into
// the namespace; what the section allow does not list for a job is refused then. One that has gone from the files, or has enabled: false, is one of those when the
// process starts anew. One that comes into the files goes on, and then goes by them, unless it has
// another type or implementation. No file needs to have a job.
//
// A job that cannot start, or whose change cannot be written, is a fault of that job alone
// ([App.Faults]), and is tried again after a second, and then less and less often, up to once a
// minute. One that an operator has ended here, or removed, stays so until the files have
// something else for it. One that was removed before the start also comes when that is allowed
// again ([ops.Ops.Readmit]).
//
// # Not promised
//
// Processes whose files differ put their own ones in force if they overwrite, or if their
// revisions are larger: the last one wins. A change of a file that a reference names is noticed
// at a SIGHUP only; certificates of the client are read for each connection. What listens has no
// access control, but for the token of dump.
package jobfile

//go:generate go test -run TestSchemaIsCurrent -update .
