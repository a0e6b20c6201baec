// Package legacy answers the routes of ElasticJob's own consoles, so that scripts written for them go on
// working: each route of elastic-job-lite-console 2.1.5, and each of shardingsphere-elasticjob-ui 3.0.x.
// What they send and answer is taken from their sources. A console has them by choice:
//
//	old, err := legacy.New(legacy.Options{Connections: book, Access: who})
//	c, err := console.New(console.Options{Connections: book, Access: who, Mount: []console.Routes{old}})
//
// The command's console has them.
//
//	request ─► Access-Token? ── yes ─► ui:       {"success", "errorCode", "errorMsg", "model"}, HTTP 200
//	              │ no
//	              ├── a route of 3.x only ─► the same, with the status of what went wrong
//	              └── any other ─► console:      JSON, or 204 without content
//
// # Errors
//
// 2.1.5 answers each error with 500 and a stack. Here it is one line of text/plain: 400 for what cannot be
// understood, 401 for who is not known, 403 for who may not, 404 for what is not there, 409 for what
// stands in the way, 415 for a body that is not application/json, 503 for a store that is away. 500 is our
// own failure. 3.x answers 200 whatever happens, and so does this package to who sends an Access-Token,
// because its clients look at success: errorCode is 403 for who is not known or may not, 400 for what the
// caller has done wrong, and 500 otherwise. Who has no Access-Token yet, as with POST /api/login, gets
// the same envelope with a true status.
//
// # Who may
//
// Callers log in as everywhere: by name and password (Basic, as in 2.1.5), a token, a session; POST
// /api/login begins a session for the header Access-Token. A viewer reads, what a guest was to do in
// 2.1.5; an operator triggers, disables, enables, shuts down and removes servers; an admin changes and
// removes jobs; who administers everything adds, deletes and tests registry centres and data sources.
// Lists and counts have the jobs that the caller may see. What concerns a server in all jobs needs the
// role for all jobs. The header identify is root for who administers everything, and guest otherwise.
//
// # The activated registry centre
//
// A registry centre is a namespace of the console, a data source one of its databases. ElasticJob has one
// of each that is activated, for everybody. Here each caller has his own: by session, token, or name and
// password. They are activated by POST …/connect, kept in memory, and forgotten after 12 hours without
// use, or when the process ends; at most 10,000 are kept. Who may see only one centre has that one
// activated, and with a centre goes its data source unless another one is activated. Without a centre
// routes answer 409, where 2.1.5 has a NullPointerException; lists that are empty in ElasticJob without
// one are empty here.
//
// # Refused, or masked
//
//   - The digest of a centre, and the url and password of a data source, are never told. They can be set.
//   - Drivers of data sources come from a fixed list (GET /api/data-source/drivers). Of the url the host,
//     the database, the user and whether there is TLS count, and of its parameters no others.
//   - POST /api/data-source/connectTest activates nothing. 2.1.5 is told whether the database was reached,
//     3.x also a word about why not.
//   - jobExtraConfigurations is null, as in 3.x: it may have the password of a data source. It stays as
//     it is when the job is changed. Other secrets that a JVM has written into a configuration are ***,
//     which stands for what is there when it is sent back.
//   - POST /api/servers/{ip}/{port}/jobs/{job}/dump connects to nothing: it reads the registry, whatever
//     the port, with addresses masked. It is for an admin of the job, and the server has to be one of it.
//   - The log-in of Casdoor is refused. The console has OpenID Connect.
//   - Who may see some jobs only has to name one that he may see in questions about the past. Rows are found by
//     name: a database that several namespaces share has those of each.
//   - A trigger is POST only, and a body has to be application/json.
//   - Requests of other sites get no CORS headers, which 3.x gives to any.
//
// # Settings of a job
//
// PUT /api/jobs/config changes what the body names, and what it leaves out stays. (In ElasticJob that is off,
// zero or empty.) null stays, too, but for texts in 3.x, where it is the default. It fails with 409 if somebody
// has changed the job since it was read here, and while members of elastic-job 2.1 run it by a document of theirs: they
// would run nothing once it is written here. What 2.1.5 has no field for stays. Its jobType, jobClass, monitorPort and
// executor_service_handler cannot change; other values than those that were read are refused. Of a
// document of 3.x the type is told by its properties, and the class is the implementation.
//
// # The past
//
// Searches have the rules of each: by page and column, times within (2.1.5) or between (3.x) the two that
// are given, at most 1,000 rows a page. Times without a zone are in Options.Zone, and so are
// those that 2.1.5 is answered, such as Jan 31, 2026 9:30:00 AM. 3.x is answered milliseconds since 1970.
// The sources MANUAL, RETRY and BACKFILL are ours.
//
// # What differs beside
//
//   - A job that is removed stays so, and its instances stop.
//   - Counts are of what lists have, not of all that stands in the namespace.
//   - What ElasticJob passes over in silence is an error: a job, server or item that is not there, a
//     trigger where no instance is. Only a server of a job that is disabled ahead is made.
//   - Items that the job is to have are listed before they were assigned.
//   - Descriptions are cut after some hundred bytes in lists.
//   - Of two routes that fit, one that has a literal first counts: DELETE /api/jobs/config/disable removes
//     the job disable.
package legacy
