// Package script runs a program for each item of a job: ElasticJob's SCRIPT type.
//
//	func main() {
//		supervisor := script.Supervise() // first of all
//		…
//		scripts, err := script.New(supervisor, script.Options{})
//		…
//		s, err := job.Schedule(ctx, reg, job.Config{
//			Name: "report", Cron: "0 0 * * * ?", ShardingTotalCount: 3, Timeout: time.Minute,
//			Props: map[string]string{"script.command.line": "/opt/report/run.sh --full"},
//		}, job.OfType(script.Name, scripts))
//	}
//
// Programs in the registry run with the rights of the worker: whoever may write the
// configuration of such a job may run anything, unless Options.Allow lists what it may.
//
// # Properties
//
// Durations are written as Go does (1.5s, 2m); codes are numbers and ranges (3,5-7); "-" is
// no default. Other names that begin with "script." are refused.
//
//	Name                     Default  Allowed, meaning
//	script.command.line      -        the program and its arguments, split at spaces (see Commands)
//	script.command.args      -        the same as a JSON list of texts: ["/bin/sh","-c","exit 3"]; one of the two is required
//	script.context.argument  true     true, false: whether the sharding context is the last argument, as JSON
//	script.directory         -        an absolute path: the working directory; that of the worker if left out
//	script.env.*             -        a variable of the environment; references such as ${env:NAME} and ${file:/path} are replaced at each run
//	script.inherit           PATH,HOME,USER,LOGNAME,SHELL,LANG,LC_*,TZ,TMPDIR  names of variables of the worker that the program gets; one may end with *; * alone: all; none: none
//	script.user              -        name or number of the user to run as, with his groups, HOME, USER and LOGNAME; another one than the worker's needs root
//	script.group             -        name or number of the group, with script.user; its own group if left out
//	script.grace             10s      0s to 1h: the time between the request to end (SIGTERM) and the kill
//	script.codes.success     0        0 to 255: the exit codes of success
//	script.codes.skip        -        0 to 255: exit codes that say that there was nothing to do; logged, and no failure
//	script.codes.retry       -        0 to 255: if it is there, Config.Retry counts after these exit codes only, and not after signals
//
// The start of a job, and a change of its configuration, check what the text tells, and that
// references find something, as with other types. What else depends on the host fails the item
// when it runs: whether there is such a program, folder or user. So one host that lacks one does
// not refuse a change that is right for others.
//
// # Commands
//
// A program is found in the PATH of its own environment, unless its name has a slash. There is
// no shell: variables, globs and pipes need one, as in ["/bin/sh","-c","…"]. [Hint] finds lines
// that look as if there were one; elasticjob validate warns of them.
//
// A command line is split as ElasticJob does (with commons-exec): at spaces; single and double
// quotes group, and are removed; there are no escapes. ElasticJob then hands words that have
// spaces or quotes in them over with quotes around them, and trims words; here a program gets
// what stands within the quotes.
//
// The last argument is the JSON of [job.ShardingContext] (see its MarshalJSON). The
// environment has the same as ELASTICJOB_JOB_NAME, _TASK_ID, _INSTANCE_ID, _ITEM, _TOTAL,
// _ITEM_PARAMETER, _JOB_PARAMETER, _SCHEDULED_TIME (RFC 3339), _SOURCE, _ATTEMPT and _TOKEN,
// the fencing token. What [job.Propagate] passes on is there, too, such as TRACEPARENT, unless
// script.env.* has the same name. Standard input is empty. A program has no terminal.
//
// # Results
//
// A code of success or of skipping succeeds. Any other end is an error with an [*ExitError] in
// it, which has the code or the signal, and the last lines of standard error. A program whose
// context ended before it had ended by itself has failed with the cause of that
// (job.ErrTimeout, say), also if it exits with 0 then. A program that cannot be started is an
// error that Config.Retry counts for.
//
// # Output
//
// Each line goes to [job.Logger]: standard output as INFO, standard error as WARN, with the
// attribute stream. Lines longer than 4 KiB are logged in pieces, empty ones not at all; of a
// line that was overwritten with carriage returns the last state; wrong UTF-8 is replaced.
// The last 64 KiB of both streams together are kept with [job.SetOutput]. Lines of the two
// that were written at the same moment may change places. The values of references are never
// logged; what the program itself writes is, and may stand in the error: it must not write
// secrets.
//
// A log that is slow slows the program: up to 512 KiB wait in memory. If the log takes nothing
// for a second, lines are dropped until it does; a line in the log says how many.
//
// # The end of a program
//
// When the context of the execution ends, all processes of the script are asked to end
// (SIGTERM; what is left when the program itself has ended, once more), and killed after
// script.grace. Execute returns when all are gone. If the item may soon run elsewhere (the
// session or the item was lost, the registry was closed), the grace is 100 ms at most. After a
// shutdown the scheduler waits only for [job.WithCancelGrace]; let that be longer than
// script.grace.
//
// When a program ends by itself, what it has left behind has half a second to end, too; then
// it is ended in the same way, which the log says. The code of the program counts.
//
// What belongs to a script depends on the system:
//
//	                                    Linux                 other Unix         Windows
//	children                            all                   process group      not ended
//	daemons, sessions of their own      all                   not ended          not ended
//	time of what is left behind         0.5 s, then grace     grace              for ever
//	request to end, grace               yes                   yes                killed at once
//	the worker is killed                all end, 100 ms       not ended          not ended
//	another user                        yes                   yes                refused
//	program is looked for in            its own PATH          the worker's       the worker's
//
// On Linux each run has a supervisor: the executable of the worker, started once again, which
// adopts all processes whose parents end (a child subreaper). [Supervise] makes it one. It
// needs /proc. It costs a start of the worker's executable for each run.
//
// # Not promised
//
//   - If somebody kills the supervisor (SIGKILL, or for lack of memory), the kernel kills the
//     program itself; other processes of the script may go on, and the error says so.
//   - Processes with rights that the worker cannot touch (a script that calls sudo, while the
//     worker is not root), and those that hang in the kernel, may stay. After 5 s of attempts
//     Execute returns [ErrLeft] with their ids. So may processes that go on starting the next
//     one, each in a process group of its own: in one group they end at once.
//   - A worker that is paused (SIGSTOP, a paused virtual machine) does not end its scripts
//     before it goes on. They pass the fencing token to what they write to.
//   - A process that another service starts on request (at, systemd-run, docker run) is not
//     one of the script.
package script
