// Package alert has error handlers that tell people, or other programs, that a job fails, or
// does not run: [WeChat], [DingTalk] and [Slack] write into a group or a channel, [Webhook] sends a request
// to any URL. Package email sends mail. A program gives each the name that a configuration
// uses, and a job names it:
//
//	s, err := job.Schedule(ctx, reg, job.Config{
//		Name: "settle", Cron: "0 0/5 * * * ?", ShardingTotalCount: 3,
//		ErrorHandler: "LOG,DINGTALK",
//		Props: map[string]string{
//			"dingtalk.webhook": "https://oapi.dingtalk.com/robot/send?access_token=${env:DINGTALK_TOKEN}",
//			"dingtalk.secret":  "${file:/run/secrets/dingtalk}",
//			"alert.recovery":   "true",
//		},
//	}, handler, job.WithErrorHandler(alert.NameDingTalk, alert.DingTalk(alert.Options{})))
//
// # What is sent, and when
//
// The first failure is told at once. Further ones with the same error, in any item, share a
// message at the end of the window (alert.window), with their number, their items, and the
// times of the first and the last. So while a job fails in one way, there is one message in a
// window. "The same error" is the same text, in its first 4096 bytes.
//
// In a window, alert.queue different errors have messages of their own. All further ones share
// one message, which has the last of them. So a job sends at most alert.queue + 1 messages in
// a window, and some more with alert.recovery, however often it fails.
//
// With alert.after=3, an item's failures count from the third in a row on. With
// alert.recovery=true, a message tells of items that work again after a message was to tell of
// their failure. It comes after all messages about failures before; those are sent early if
// need be. An item that fails again before is left out. Recoveries have a window of their own.
//
// Failures, successes and windows of items are those of one process, under one configuration: a change
// of the job's properties begins anew. An item that fails here and then works on another
// instance is not told to work again; it counts as failing here until it works here.
//
// # What has not happened
//
// The leader of the job tells what holds of the whole job, so that is told once for a cluster, by
// any process: there is nothing to set up. It tells, as the alerts of deploy/prometheus/rules.yaml do:
//
//	ticks that no item has begun in three minutes, and Config.Jitter       alert.missed
//	faults of the job in any process, of each kind, that last two minutes  alert.faults
//	starvation, which is that items have not begun, after 30 seconds       alert.faults
//	a tick that has not ended with success by a time                       alert.by
//
// Ticks that came while no process was there are told when one is there again. One message says
// that something holds, as long as it does, and one with alert.recovery that it is over; of
// alert.by there is one for each tick. alert.by=06:00 is about the last tick before six in the
// zone of the job, 90m about each tick an hour and a half later. An item is done if it has ended
// with success for the tick, or has ended for a later one. Messages come up to half a minute
// after that. They have windows of their own; alert.after and alert.queue are not about them.
//
// A leader that loses its session tells that after two minutes as a fault of the kind store, and
// so does one that stands still. So an outage of the store is told for each job, by the process
// that led it.
//
// Not promised: if the leader changes, or the job gets other properties, what still holds is told
// again, and perhaps nobody tells that it is over. What an operator wants is not told: pauses, and
// items and servers that are disabled. Ticks are not told of jobs with MonitorExecution off and of
// those with JVM members; nothing is, as long as a JVM member leads. A job without any process
// tells nothing: somebody else has to look, such as a job of other processes that runs
// "elasticjob doctor" (docs/operate/messages.md).
//
// # How it is sent
//
// No item waits for a message. A goroutine sends; it exists only while something waits. Until
// the first failure a handler is an idle structure, so 10,000 jobs may have one. What waits is
// a few counters for each error, so memory is bounded, too.
//
// A type value sends eight messages at the same time, or Options.Parallel. If many jobs fail
// together, the messages of the others wait. One that waits to be tried again keeps no other
// from being sent, but one to a receiver that does not answer does, until its time-outs. So
// give receivers that must not wait for each other type values of their own.
//
// A message that fails is tried again after a second, and then after twice the time before, up
// to a minute, less a random part; Retry-After is obeyed up to five minutes. After
// alert.attempts attempts the message is given up. Answers that say that the request is wrong
// (status 4xx but 408, 425 and 429, most errcodes), and certificates that are not valid, end
// the attempts at once. What is given up is logged, at growing intervals, and the next message
// has the number of failures that nobody was told of.
//
// When the scheduler ends, or other properties come into force, everything that waits is sent
// at once, as long as there is time for it.
//
// A receiver may see a message twice, if its answer is lost. Nothing is kept on disk: what
// waits in a process that is killed is lost.
//
// # Secrets
//
// URLs of messengers, keys and passwords stand in the process, not in the registry. A property
// refers to them: see [property.FromProcess]. A reference that cannot be looked up refuses the
// configuration. It is looked up again at each attempt to send, so secrets may change; if it
// cannot be looked up then, the message is tried again later, as after other errors. Errors and
// the log show neither URLs nor what references stand for; they may show the host and its
// address. Redirects are not followed.
//
// Each sender takes a configuration for TLS by name, from Options.TLS. A proxy is taken from
// the environment: see [net/http.ProxyFromEnvironment].
//
// # Properties
//
// A property that is wrong, or not known under one of these beginnings, refuses the
// configuration. The columns are the name, the default, what is allowed, and the meaning.
//
// Of all senders, also those of package email:
//
//	alert.after     1      1 to 1000                                         a failure counts from so many failures of the item in a row on
//	alert.recovery  false  true, false                                       whether a message tells that an item works again, or that something is over
//	alert.window    1m     durations from 1s to 24h0m0s                      the time between two messages with the same error
//	alert.queue     10     1 to 100                                          how many errors have messages of their own
//	alert.attempts  10     1 to 100                                          how often a message is tried
//	alert.missed    true   true, false                                       whether a message tells of ticks that no item has begun in three minutes
//	alert.faults    true   true, false                                       whether a message tells of a fault that lasts for two minutes; starvation for 30 s
//	alert.by               durations from 1m0s to 168h0m0s and times of day  how long after its tick, or by which time in the zone of the job, a tick is to be done
//
// WECHAT: a text of up to 2048 bytes. Success is status 200 and errcode 0; -1 and 45009 mean
// "later".
//
//	wechat.webhook                     required  a reference      the URL, with a reference for its token or for all of it
//	wechat.connectTimeoutMilliseconds  3000      1 to 300000      bounds the time to connect, and that of the TLS handshake
//	wechat.readTimeoutMilliseconds     5000      1 to 300000      bounds the time from then to the end of the answer
//	wechat.tls                                   up to 255 bytes  the name of a configuration in Options.TLS
//
// DINGTALK: a text of up to 20,000 bytes. Success is as for WECHAT; -1, 130101 and 410100 mean
// "later".
//
//	dingtalk.webhook                     required  a reference      the URL, with a reference for its token or for all of it
//	dingtalk.keyword                               up to 255 bytes  what the robot wants to see in each text; it comes first
//	dingtalk.secret                                a reference      signs the requests
//	dingtalk.connectTimeoutMilliseconds  3000      1 to 300000      bounds the time to connect, and that of the TLS handshake
//	dingtalk.readTimeoutMilliseconds     5000      1 to 300000      bounds the time from then to the end of the answer
//	dingtalk.tls                                   up to 255 bytes  the name of a configuration in Options.TLS
//
// SLACK: a text of up to 40,000 bytes. Success is status 200 and the text "ok".
//
//	slack.webhook                     required  a reference      the URL, with a reference for its token or for all of it
//	slack.connectTimeoutMilliseconds  3000      1 to 300000      bounds the time to connect, and that of the TLS handshake
//	slack.readTimeoutMilliseconds     5000      1 to 300000      bounds the time from then to the end of the answer
//	slack.tls                                   up to 255 bytes  the name of a configuration in Options.TLS
//
// WEBHOOK:
//
//	webhook.url                         required          an absolute URL with http or https          the URL, which may have references; a password in it must be one
//	webhook.method                      POST              POST, PUT, PATCH                            the method
//	webhook.header.*                                      up to 4096 bytes                            a header, which may have references; Authorization and Cookie must
//	webhook.content.type                application/json  up to 255 bytes                             the header Content-Type
//	webhook.template                    {{json .}}        up to 16384 bytes                           makes the body of a Message
//	webhook.success.codes               200-299           numbers from 100 to 599 and ranges of them  the status codes that mean success
//	webhook.connectTimeoutMilliseconds  3000              1 to 300000                                 bounds the time to connect, and that of the TLS handshake
//	webhook.readTimeoutMilliseconds     5000              1 to 300000                                 bounds the time from then to the end of the answer
//	webhook.tls                                           up to 255 bytes                             the name of a configuration in Options.TLS
//
// # Templates
//
// webhook.template is a template of package text/template, whose data are a [Message]. Beside
// the functions of that package it has json, which writes a value as JSON, and secret, which
// looks up what the process has: {{secret "env:KEY" | json}}. It may range over .Items only,
// not within another range, and cannot define templates. The body has up to 64 KiB. A start
// tries the template with messages of all sorts, so a mistake is found there; if the content
// type is one of JSON, the body must be JSON. [Message.Resolved] tells when an incident may be closed; there are
// examples for PagerDuty and Alertmanager.
//
// # Senders of your own
//
// [NewType] makes a type of error handlers of anything that can send a message.
package alert
