// Package httpjob is a type of jobs that send an HTTP request for each item, as ElasticJob's
// type HTTP does:
//
//	requests := httpjob.New(httpjob.Options{})
//	defer requests.Close()
//	s, err := job.Schedule(ctx, reg, job.Config{
//		Name: "settle", Cron: "0 0 2 * * ?", ShardingTotalCount: 3,
//		Props: map[string]string{
//			"http.uri":                  "https://billing.example.com/settle/${shardingItem}",
//			"http.method":               "POST",
//			"http.content.type":         "application/json",
//			"http.data":                 `{"city": ${json:shardingParameter}}`,
//			"http.header.Authorization": "Bearer ${env:BILLING_TOKEN}",
//		},
//	}, job.OfType(httpjob.Name, requests))
//
// # Properties
//
// They are checked at the start and at each change. Times are in milliseconds, up to a day.
//
//	name                              default      allowed                        meaning
//	http.uri                                       a URL with http or https       where the request goes; it or http.url is required
//	http.url                                       the same                       another name of http.uri; both only if they are equal
//	http.method                       required     GET, HEAD, POST, PUT, PATCH,   the method
//	                                               DELETE, OPTIONS
//	http.data                                                                     the body, sent with POST, PUT, PATCH and DELETE only
//	http.content.type                                                             the header Content-Type
//	http.header.*                                                                 further headers: http.header.Accept
//	http.connect.timeout.milliseconds 3000         from 1                         the longest time until there is a connection, with name
//	                                                                              look-up, proxy and TLS
//	http.read.timeout.milliseconds    5000         from 1                         the longest silence of the server: from the connection
//	                                                                              until the header of the answer is complete, and then
//	                                                                              between two pieces of its body
//	http.answer.timeout.milliseconds  60000        from 1                         the longest time that the body of an answer may take
//	http.success.codes                200-399      100 to 599, ranges, commas     the codes of success
//	http.redirects                    10           0 to 100                       how many redirects are followed; 0: a redirect is an
//	                                                                              answer as others are
//	http.proxy                        environment  environment, none, a URL with  environment: HTTP_PROXY, HTTPS_PROXY and NO_PROXY of the
//	                                               http, https or socks5          process
//	http.tls                                       a name in Options.TLS          settings for TLS; left out: the system's
//	http.retry.attempts               2            0 to 100                       how many more times a request is sent in one execution
//	http.retry.unsafe                 false        true, false                    whether POST and PATCH are sent again, too
//	http.retry.backoff.milliseconds   500          from 1                         the pause before that; it doubles up to 30 s, and up to
//	                                                                              half of it is left out by chance
//	http.retry.after.max.milliseconds 60000        from 0                         the longest Retry-After that is waited for
//	http.poll                         false        true, false                    whether an answer 202 with a Location is polled
//	http.poll.interval.milliseconds   1000         from 1                         the pause between two polls, without Retry-After
//	http.poll.timeout.milliseconds    600000       from 1, up to 15 days          the longest time of all polls of an execution
//
// Each of these times is per request, but for the last one. What bounds the execution as a
// whole is Config.Timeout: set it. When the context of the execution ends, the request ends.
//
// ElasticJob takes codes from 400 for success, too; http.success.codes "100-599" does that. It
// sends no body with PATCH, follows no redirects between http and https, and takes the time-out
// 0 for none; here 0 is refused.
//
// # Placeholders and references
//
// URL, body, headers, and Content-Type may have placeholders, which each execution fills:
// ${jobName}, ${taskId}, ${shardingTotalCount}, ${jobParameter}, ${shardingItem},
// ${shardingParameter}, ${instanceId}, ${scheduledTime} (RFC 3339), ${source}, ${attempt} and
// ${token}, which are the fields of [job.ShardingContext]. ${env:NAME} and ${file:/path} are
// references to what the process has: see [property.FromProcess] and Options.Lookup. $${ is ${
// itself. A name that is not known, or a reference that finds nothing, refuses the
// configuration. References are looked up anew for each execution.
//
// What is put in depends on where it stands:
//   - In the path, the query and the user of a URL it is escaped: a value is one segment of the
//     path, or one value of the query. A segment . or .. is refused. In the host it has
//     letters, digits, dots, hyphens and underscores, and from a reference a port, too.
//   - In a header a value with a line break or another control character is refused.
//   - In the body it stands as it is. ${json:NAME} is a JSON string with its quotation marks,
//     and ${url:NAME} is escaped, for forms.
//
// An item whose value is refused fails without a retry.
//
// # Headers
//
// Three headers are always sent. shardingContext has the JSON of the sharding context.
// Idempotency-Key has the task id, which is the same for all attempts of an execution: a
// receiver that remembers it does the work once. http.header.Idempotency-Key replaces it.
// Fencing-Token has the token, unless that is 0: a receiver that refuses smaller ones than it
// has seen for the item is safe from an old execution that is still under way.
//
// What [job.Propagate] passes on is sent, too, such as traceparent, but to no other origin that the
// server redirects to. http.header.* counts more; and the names that it cannot have, and those that
// need a reference, are left out.
//
// Authorization, Cookie, X-Api-Key, X-Auth-Token and the password of a URL must come from a
// reference, because the registry has properties in clear text. Private keys come from
// Options.TLS only.
//
// # The answer
//
// Its first 64 KiB are kept by [job.SetOutput]. Another 256 KiB are read and dropped; of a
// longer answer, even of one without an end, only the code counts, and its connection is closed.
// An answer that breaks off before that is a failure.
//
// A code that is no success makes a [StatusError]. Codes from 400 to 499 are not tried again by
// Config.Retry, but for 408, 409, 423, 425 and 429.
//
// # Sending again
//
// Within one execution a request is sent again, http.retry.attempts times, if
//   - no connection came about, so that the server has got nothing. A certificate that does not
//     fit is not tried again;
//   - the connection broke or a time-out ended the request, or the code is 429, 502, 503 or 504
//     and no success: only with GET, HEAD, OPTIONS, PUT and DELETE, which may be repeated by
//     RFC 9110, and with all methods if http.retry.unsafe is true.
//
// Retry-After, in seconds or as a date, makes the pause longer. If it is longer than
// http.retry.after.max.milliseconds, or than the time that is left, the execution fails at once.
// Each attempt of Config.Retry begins anew, so both multiply.
//
// # Redirects
//
// A redirect, and a Location that is polled, may lead to another origin: another scheme, host or
// port. The headers of http.header.* are not sent there. A body with a reference in it is not,
// either: the item fails; and so it does if a redirect leads from https to http. After 301, 302
// and 303 a POST becomes a GET without a body, as with all clients.
//
// # Polling
//
// With http.poll, an answer 202 says that the server goes on with the work. Its Location is
// asked with GET, with the same headers but for Idempotency-Key and Content-Type, until the
// answer is another one, which then counts. An answer 202 may name another Location. Retry-After
// is waited for, up to its maximum. Polls may be repeated always. An item that is polled keeps
// its thread, and stays where it is until it ends. If the polls fail, the server may go on;
// another attempt of Config.Retry sends the first request again, with the same Idempotency-Key.
//
// # Errors and the log
//
// They show URLs without user and query, and stars for the values of references that have at
// least four bytes, also in what the server answers.
//
// # What is not promised
//
// That the server does the work once: a request whose answer is lost may have been done.
// Idempotency-Key and Fencing-Token are for the server to look at. That the server stops when
// the context ends: it only sees the connection closed. That the request goes only where the
// configuration says: the server's redirects are followed, to addresses within the network of
// this process, too, unless http.redirects is 0, or Options.Allow does not list them. Without
// that list, who may change the configuration may send requests from here, with what the
// references bring.
package httpjob
