// Package sink sends the traces of a console elsewhere while they come: log-ins and changes of users and connections, which
// are in a file beside theirs, and changes of jobs, which are in the audit of the namespace. Both of these are bounded, and
// whoever administrates the machine or the store can change them.
//
//	access.Options.Tell          ─┐                      ┌─► queue of 4 MiB ──► stdout, or a file
//	connection.Options.Tell      ─┼─► one line of JSON ──┼─► queue of 4 MiB ──► syslog
//	connection.Options.OnChange  ─┘      (Record)        └─► queue of 4 MiB ──► webhook
//
// Nobody waits for a sink. It tries five times to write a line, with pauses, and drops the line then. From a full queue it
// drops the oldest lines of the user who has the most in it. What was dropped is in a metric and, at most once a minute, in
// the log.
//
// # What is not promised
//
// A line may come twice, because an answer was lost or two changes of several commits were made side by side. It never comes
// if it was dropped or the process has crashed, nor does what is done past the console, by the command or in the store.
package sink
