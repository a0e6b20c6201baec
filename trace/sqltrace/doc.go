// Package sqltrace keeps the history of jobs in a database, in ElasticJob's own two tables and
// in a few more, and answers what operators ask of it. The databases are SQLite, MariaDB or
// MySQL, and PostgreSQL. Oracle, SQL Server, DB2, H2 and GaussDB, which ElasticJob knows, are
// not among them.
//
//	db, err := sql.Open("pgx", dsn) // import _ "github.com/jackc/pgx/v5/stdlib"
//	tracer, err := sqltrace.Open(db, sqltrace.PostgreSQL, sqltrace.Options{
//		Retention: sqltrace.Retention{Age: 90 * 24 * time.Hour},
//	})
//	recorder, err := trace.New(tracer, trace.Options{})
//	s, err := job.Schedule(ctx, reg, cfg, handler, recorder.Option())
//	…
//	err = s.Shutdown(ctx)
//	err = recorder.Close(ctx) // after the job: writes what it has
//	tracer.Close()
//	err = db.Close()
//
// # A batch
//
//	             the tables are as they are to be        committed
//	Write ─► look ───────────────────────────────► write ─────────► kept
//	          │ ▲                                  │  │ ▲
//	          │ │ done                a table or a │  │ │ a row is refused: by halves,
//	          ▼ │                     column is    │  │ │ until it alone is dropped
//	        migrate ◄──────────────── missing ─────┘  └─┘
//
// Whatever else goes wrong is given back as an error: no connection, a deadlock, a database that is
// read-only or full, missing rights, no time left. The batch is there as a whole or not at all, but
// nobody may know which. The recorder comes with it again. Events and lines have keys, so it does not matter
// how often each comes, in which order, and in which batches. Errors are told apart by SQLSTATE
// or number, never by their messages.
//
// # The tables
//
// An execution is a row of JOB_EXECUTION_LOG, from its start on. Each change of its state is one
// of JOB_STATUS_TRACE_LOG. What else happens is in ELASTICJOB_EVENT, but for due ticks, which are
// for metrics. What operators have changed is there, too, if package ops is told so (ops.WithTrace).
// What a run has logged is in ELASTICJOB_RUN_LOG, how many executions have ended in
// ELASTICJOB_COUNT, and the version of all that in ELASTICJOB_SCHEMA. In the columns of
// JOB_EXECUTION_LOG that are ElasticJob's there stands
//
//	id, task_id       the task id of the execution, 36 characters; ElasticJob's has the job, the
//	                  items and the address in it, and is the same for all runs of a process
//	sharding_item     the item: a row is for one
//	execution_source  NORMAL_TRIGGER, MISFIRE or FAILOVER: one of ElasticJob's constants. MANUAL, RETRY and
//	                  BACKFILL are none of them, and are NORMAL_TRIGGER there, as ElasticJob's own triggers
//	                  are. Which it is, of all six, is in our column run_source
//	is_success        true after OK, false otherwise, and while it runs
//	start_time        when its handler was called
//	complete_time     when that returned, or when a leader found that its instance had ended;
//	                  NULL while it runs
//	failure_cause     the error of the last attempt, with the stack of a panic; 4,000 characters
//
// and in those of JOB_STATUS_TRACE_LOG
//
//	id                the id of the event
//	task_id           that of the execution
//	original_task_id  the execution that this one repeats, or the first one if there were several:
//	                  with FAILOVER the one that was cut short, with RETRY the one that failed;
//	                  otherwise empty
//	execution_type    FAILOVER of an execution with that source, otherwise READY
//	sharding_item     [7] for item 7, however many the job has
//	source            LITE_EXECUTOR
//	state             TASK_STAGING   it is claimed
//	                  TASK_DROPPED   its claim was released
//	                  TASK_RUNNING   its handler is called; once more after an attempt that failed
//	                  TASK_FINISHED  it ended with OK
//	                  TASK_ERROR     … FAILED or PANIC
//	                  TASK_FAILED    … TIMEOUT
//	                  TASK_LOST      … CUT, or its instance has ended in the middle of it
//	                  TASK_KILLED    … KILLED
//
// An execution whose instance has ended has the outcome LOST, in our column outcome, and no
// duration. If it ends after all, because its process lives and has only lost its session, the
// outcome becomes what the process tells. All columns of ours in these tables may be NULL, and
// are in the rows of JVMs; where run_source is, execution_source says it. Columns whose names end in micros count microseconds since 1970.
//
// # Retention
//
// Rows go when they are too old or too many, those of JVMs, too: the oldest first, a thousand in a
// transaction, with a pause after each. Of all processes one makes a pass, every ten minutes, say;
// ELASTICJOB_SCHEMA has when the last one began. [Stats] says what went.
//
// # JVMs
//
// JVMs of 3.0.0 to 3.0.5 may write into the same tables, made by them or by us, and read what
// is there. To tables of theirs a migration adds columns and indexes. It widens job_name to 200
// characters, which package job allows; source gets LITE_EXECUTOR as its default (but on
// SQLite, in a table that is there), for JVMs of 3.0.5, which do not know it; and on MySQL,
// where auto_id is the key since 3.0.1, the id of a status becomes unique. Of the rows of JVMs
// nothing is changed but a source that is NULL: it becomes LITE_EXECUTOR. Where it is NULL
// still, it is not known, and readers of 2.1 to 3.0.4, and UI 3.0.2, lose the page. While
// indexes are made, JVMs that write wait on PostgreSQL; on tables of many millions of rows that
// takes minutes.
//
// A table that ElasticJob has made may have a small character set, such as latin1. Then a row
// is kept with ? for each character that is not ASCII, if the table has not all of them.
// Options.Slog is told of such tables, their columns and what to do when the first batch comes,
// and of such rows, and [Stats] counts them. Sessions on MySQL are strict for that, whatever
// the server is.
//
// ElasticJob writes the local time of a JVM into TIMESTAMP on PostgreSQL; here all times are in
// UTC, so JVMs beside it should be, too. On MySQL a TIMESTAMP is a moment, in whole seconds. Its
// auto_id is an INT, and every row and every change of a row takes one: long before the
// 2,147,483,647th, make it a BIGINT.
//
// # Versions
//
// Version 1 wrote MANUAL, RETRY and BACKFILL into execution_source, with which ElasticJob's consoles lose the whole
// page. The migration to version 2 moves them to run_source. A program of version 1 that starts, or looks at the
// tables again, then fails with [ErrNewerSchema]. One that runs does not look: it writes as before until it ends, and
// should soon. What it writes meanwhile is moved by the next process that starts if the row of version 2 is
// removed from ELASTICJOB_SCHEMA.
//
// # Questions
//
// A Tracer is a [history.Reader]. Each page is as fast as the first one, however many rows there are.
// Rows of JVMs are among the answers, but not in Counts. On a million executions each takes
// less than 50 ms, but for the searches, which count all rows that they find: make history.
//
// # Not promised
//
//   - That everything is there. The recorder drops what has waited for too long, and counts it.
//   - That an output is kept as it was: a column holds 65,535 bytes of it at most, the last ones,
//     in UTF-8. The recorder's own bound is lower, unless it is raised (trace.Options.MaxOutput).
//   - That a row has all its columns: an event that was dropped has told them.
//   - An order of rows in the same microsecond; ids sort by the time at which they were made.
//   - That an execution has an end. One of a process that was killed gets it from a leader that
//     is traced too, if it was among the newest five runs of its item, and the item among the
//     first 1,000 that the instance has left.
//   - Other names, or a prefix, for the tables. Two clusters need two databases, or two schemas
//     in the search_path of PostgreSQL.
package sqltrace
