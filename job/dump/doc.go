// Package dump shows what a process believes of a job beside what the registry has, with the
// differences marked: what an operator looks at, and sends to others, when a job does not run as it
// should. It is ElasticJob's snapshot service, and answers its clients.
//
//	service, err := dump.New(reg, node, dump.Options{})
//	mux.Handle("/", service.Handler()) // among the pages of a program, or alone
//
//	$ curl -s '127.0.0.1:8080/dump/settle?format=text'
//
// For ElasticJob's clients a port of its own answers its line:
//
//	l, err := net.Listen("tcp", "127.0.0.1:9888")
//	err = service.ServeLines(ctx, l) // until ctx ends
//
//	$ echo dump@settle | nc 127.0.0.1 9888
//
// [Take] and [Directly] dump a job without a service.
//
// # What is asked, and what is answered
//
//	line                      answer, until the connection closes
//	dump@{job}                the text of a dump, masked: see [Dump.WriteText]
//	{name}@{arguments}        what a command of the program writes
//	anything else             error: and why, in one line
//
//	HTTP                      answer
//	GET /dump                 {"jobs": […]}: those of the namespace
//	GET /dump/{job}           a [Dump]; ?format=text for the text, ?mask=false for plain addresses
//	GET /jobs                 {"jobs": […]}: those that run in this process
//	GET /jobs/{job}           how one stands here: a [Status]
//	GET /log/{job}            {"lines": […], "more": false}: a [Line] each of an execution; ?item=0&task=…&after=0
//	POST /command/{name}      what a command of the program writes; its arguments are the body
//
// A job may have an @ in its name. Where [Options.Token] is set, it stands behind the last @ of each
// line (dump@settle@token), and over HTTP in "Authorization: Bearer token". ElasticJob's clients
// take settle@token for the name of a job, and so work, too. ElasticJob itself answers nothing where
// this package answers with an error.
//
// Over HTTP an error is 400 for a question that is wrong, 401 without the token, 403 for a command
// that the page of another site sends from a browser, 404 for what is not there, 503 while the
// service is busy or the registry away, and 504 if it takes longer than a minute to find the answer.
//
// # What differs
//
// The tree moves while it is read, so a view that differs need not be wrong. If it does, a second later both are read
// again, and a node differs if it did both times and the view has taken in no change of it meanwhile. What the view is
// about to take in is no difference: the dump has the node as the registry has it.
//
// A node that the view shows neither time differs only if the registry had the same one both times: another may have
// come and gone. A parent that nobody wrote is no difference. If the job does not run here, or has stopped, nothing is
// compared.
//
// # Bounds
//
//	at a time          8 answers that are found or read, and one dump that is taken: all that the registry is asked
//	                   for. Of lines, 64 connections: further ones are closed at once
//	a client           20 s to read the answer, and 5 s to send a line. A server for the handler needs time-outs of
//	                   its own until a request is there
//	an answer          a minute to be found
//	a dump             200,000 nodes and 64 MiB: it says if there are more
//	a line             4,096 bytes
//	a command          64 KiB of arguments over HTTP, and 16 MiB of what it writes
//	an answer of /log  1,000 lines
//	a [Status]         1,000 items in a list, and 500 bytes of an error
//
// So a client that is silent or slow delays nobody. 8 that do not read delay others by 20 s at most, and 64 that say
// nothing keep other lines out for 5 s.
//
// # What is not promised
//
// Nothing is encrypted, unless the listener is one of package crypto/tls, and without a token there is
// no access control: whoever reaches the port reads what the registry has of the jobs, and runs the
// program's commands. So listen on a loopback address, or in a private network. A page of a browser
// that runs there may reach the port, too, under a name of its own for that address (DNS rebinding):
// only a token keeps it out. What the service answers has no secrets of the configuration, with ?mask=false
// neither ([Dump.WithoutSecrets]): ours has references to them (package property), that of a JVM has them in clear
// text. What has a name that says nothing is shown, and so are parameters, and the values of other nodes. [Take] and
// [Directly] return what the registry has.
//
// Masking is for what is sent to others. It hides addresses, not names of hosts and jobs, and not
// from whoever may ask for ?mask=false. With [Take] and [Directly] it goes with WithoutSecrets.
//
// On ZooKeeper a dump is not of one moment: each node is as it was when it was read.
package dump
