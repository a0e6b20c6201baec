// Package console is a web console: an http.Handler with pages and an API over package ops, for one namespace
// or many, in which every request is authorised and every change audited.
//
//	book, err := connection.Open(connection.Options{File: "connections.yaml", Dial: dial})
//	who, err := access.Open(access.Options{File: "console-users.yaml"})
//	c, err := console.New(console.Options{Connections: book, Access: who})
//	…
//	err = c.Close(ctx) // first of all: the server's Shutdown waits for streams
//	err = errors.Join(server.Shutdown(ctx), who.Close(), book.Close(ctx))
//
// # The way of a request
//
//	request
//	   │      too many, too long, too large, another host, a page of another site ──► 4xx, 503
//	   ▼
//	guard ──► route? ──► who? ──► about which namespace and job? ──► may he? ──► handler ──► ops ──► store
//	   ▲        404       401             404                          403          │ in his name: By, From
//	   └──────────────────────── answer: headers, log, metrics ◄────────────────────┘
//
// Every route says who may use it; one that does not cannot be added. The rights are asked for at each
// request, and for a stream again while it is open: every 15 s, and when a log-in ends or the users file changes.
//
// # What it answers
//
//	/, /namespaces/…, /account, …   the pages; who is not logged in gets the log-in at the same address
//	/assets/…   what the pages load, addressed by its content
//	/api/v1/…   the API, with its OpenAPI document: all that the pages show and do
//	/api/…      the routes of ElasticJob's consoles, if package legacy is mounted
//	/healthz    the process is alive
//	/readyz     it takes requests; and for those who may see everything, how its connections stand
//	/metrics    for Prometheus, for those who may see everything, or as Options say
//
// # What is promised
//
//   - Without a log-in nothing is answered but /healthz, /readyz, the document of the API, the modules, styles and
//     sign of the pages, the ways to log in and out, and refusals.
//   - A change is made in the name of the user, with his address, in the audit of the namespace.
//   - No answer, no log line and no metric has a password, a token, a cookie, or the value of a reference
//     to a secret; only who logs in or makes a token is told his own, once. What a handler says as it panics
//     goes to the log alone.
//   - Requests are bounded in number, size and time, in all and by address: see Limits. A store that hangs
//     holds up its own namespace only.
//   - A page of another site can change nothing with the authority that a browser sends along: cookies, HTTP
//     Basic, and what a proxy adds. No page can put the console into a frame.
//
// What ElasticJob's consoles tell or take, and this one does not:
//
//   - The digest of a registry centre, and the url and password of a data source, can be set, and are never told.
//   - Drivers of data sources come from a fixed list; of the url host, database, user and TLS count.
//   - jobExtraConfigurations is null, and secrets in a configuration that a JVM has written are ***.
//   - A dump connects to nothing, and its addresses are masked. connectTest activates nothing.
//   - The activated centre and data source are each caller's own. A trigger is a POST; a body is JSON.
//   - Nobody gets CORS headers. There is no default user, and no log-in of Casdoor.
//
// What is not promised:
//
//   - That texts of others have no secrets. Who may see a job sees its parameters, errors and lines of
//     handlers, and so what somebody has put into them.
//   - That a handler whose context has ended has stopped: an operation on a store that was under way may
//     have been done. The error says so.
//   - Protection from more traffic than the machine can take: connections are bounded by the server only.
//   - Any limit of the bytes of headers before they are read: that is http.Server.MaxHeaderBytes. Set
//     ReadHeaderTimeout and IdleTimeout, too, as "elasticjob console" does.
package console
