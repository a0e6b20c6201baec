package sqltrace

import (
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// The tables. ElasticJob's two have its names and its columns first.
const (
	tableExecution = "JOB_EXECUTION_LOG"
	tableStatus    = "JOB_STATUS_TRACE_LOG"
	tableEvent     = "ELASTICJOB_EVENT"
	tableLine      = "ELASTICJOB_RUN_LOG"
	tableSchema    = "ELASTICJOB_SCHEMA"
)

// Bounds of texts, in characters.
const (
	maxID       = 40
	maxJobName  = 200 // ElasticJob's 100 are too few for names that package job allows
	maxAddress  = 50
	maxInstance = 320 // an address of 255, a process, a random part
	maxCause    = 4000
	maxWhat     = 100
	maxActor    = 255
	maxReason   = 1000
	maxItems    = 4000
)

// maxOutput bounds the output of an execution, in bytes: what a TEXT of MySQL holds.
const maxOutput = 1<<16 - 1

type table struct {
	name    string
	columns []column
	key     []string // its primary key in a table that is made here
	indexes []index
	// since names the column that is indexed and by which rows grow old; "" if they do not.
	since string
}

type column struct {
	name     string
	kind     kind
	size     int // kindVarchar
	required bool
	preset   string // its default; "" if there is none
	theirs   bool   // ElasticJob has it
	merge    merge
}

type index struct {
	name    string
	columns string
	// failures: only rows of executions that have ended without success. MySQL, which has no
	// such indexes, has them all, with is_success before the columns.
	failures bool
}

// kind is what a column holds.
type kind int

const (
	kindVarchar kind = iota
	kindText
	kindInt
	kindBigint
	kindBool // INT, or BOOLEAN on PostgreSQL, as with ElasticJob
	kindTime // TIMESTAMP, as with ElasticJob: in seconds on MySQL
)

// merge says what becomes of a column if its row is written again.
type merge int

const (
	mergeNever merge = iota // all that write the row write the same
	mergeFirst              // the first that is not NULL stays
	mergeLast               // the last that is not NULL counts
	mergeEnd                // that of the row with an end counts
)

// columnEnd is NULL in a row that does not know of an end.
const columnEnd = "complete_time"

// columnSource has the source of our executions. ElasticJob's own column has one of its constants only: its
// readers know no others, and lose the whole page.
const columnSource = "run_source"

// runSource is the expression for the source of a row: JVMs, and version 1, write execution_source only.
const runSource = "COALESCE(" + columnSource + ", execution_source)"

// tables are those of this version, but for the one with the version.
func tables() []table {
	return []table{executionTable(), statusTable(), eventTable(), lineTable(), countTable()}
}

func executionTable() table {
	return table{
		name: tableExecution,
		columns: []column{
			{name: "id", size: maxID, required: true, theirs: true},
			{name: "job_name", size: maxJobName, required: true, theirs: true},
			{name: "task_id", size: 255, required: true, theirs: true},
			{name: "hostname", size: 255, required: true, theirs: true},
			{name: "ip", size: maxAddress, required: true, theirs: true},
			{name: "sharding_item", kind: kindInt, required: true, theirs: true},
			{name: "execution_source", size: 20, required: true, theirs: true},
			{name: "failure_cause", size: maxCause, theirs: true, merge: mergeLast},
			{name: "is_success", kind: kindBool, required: true, theirs: true, merge: mergeEnd},
			{name: "start_time", kind: kindTime, theirs: true, merge: mergeFirst},
			{name: columnEnd, kind: kindTime, theirs: true, merge: mergeLast},
			{name: "instance", size: maxInstance},
			{name: "scheduled_micros", kind: kindBigint},
			{name: "start_micros", kind: kindBigint, merge: mergeFirst},
			{name: "waited_micros", kind: kindBigint, merge: mergeFirst},
			{name: "duration_micros", kind: kindBigint, merge: mergeLast},
			{name: "token", kind: kindBigint},
			{name: "attempts", kind: kindInt, merge: mergeLast},
			{name: "outcome", size: 20, merge: mergeLast},
			{name: "request_id", size: 255},
			{name: "original_task_id", size: 255},
			{name: "output_tail", kind: kindText, merge: mergeLast},
			{name: columnSource, size: 20},
		},
		key: []string{"id"},
		indexes: []index{
			{name: "EJ_EXECUTION_TIME", columns: "start_time, id"},
			{name: "EJ_EXECUTION_JOB", columns: "job_name, start_time, id"},
			{name: "EJ_EXECUTION_ITEM", columns: "job_name, sharding_item, start_time, id"},
			{name: "EJ_EXECUTION_IP", columns: "ip, start_time, id"},
			{name: "EJ_EXECUTION_FAILED", columns: "start_time, id", failures: true},
		},
		since: "start_time",
	}
}

func statusTable() table {
	return table{
		name: tableStatus,
		columns: []column{
			{name: "id", size: maxID, required: true, theirs: true},
			{name: "job_name", size: maxJobName, required: true, theirs: true},
			{name: "original_task_id", size: 255, required: true, theirs: true},
			{name: "task_id", size: 255, required: true, theirs: true},
			{name: "slave_id", size: maxAddress, required: true, theirs: true},
			// 3.0.4 requires it, and 3.0.5 does not know it. Readers of 2.1 to 3.0.4, and UI 3.0.2, lose a whole page for a NULL.
			{name: "source", size: 50, preset: sourceLite, theirs: true},
			{name: "execution_type", size: 20, required: true, theirs: true},
			{name: "sharding_item", size: 100, required: true, theirs: true},
			{name: "state", size: 20, required: true, theirs: true},
			{name: "message", size: maxCause, theirs: true},
			{name: "creation_time", kind: kindTime, theirs: true},
			{name: "instance", size: maxInstance},
			{name: "time_micros", kind: kindBigint},
			{name: "attempt", kind: kindInt},
		},
		key: []string{"id"},
		indexes: []index{
			{name: "TASK_ID_STATE_INDEX", columns: "task_id, state"},
			{name: "EJ_STATUS_TIME", columns: "creation_time, id"},
			{name: "EJ_STATUS_JOB", columns: "job_name, creation_time, id"},
		},
		since: "creation_time",
	}
}

func eventTable() table {
	return table{
		name: tableEvent,
		columns: []column{
			{name: "id", size: maxID, required: true},
			{name: "time_micros", kind: kindBigint, required: true},
			{name: "kind", size: 20, required: true},
			{name: "job_name", size: maxJobName, required: true},
			{name: "instance", size: maxInstance},
			{name: "from_instance", size: maxInstance},
			{name: "task_id", size: 255},
			{name: "sharding_item", kind: kindInt},
			{name: "items", size: maxItems},
			{name: "scheduled_micros", kind: kindBigint},
			{name: "ticks", kind: kindInt},
			{name: "request_id", size: 255},
			{name: "token", kind: kindBigint},
			{name: "what", size: maxWhat},
			{name: "actor", size: maxActor},
			{name: "reason", size: maxReason},
			{name: "is_over", kind: kindBool, required: true},
			{name: "detail", kind: kindText},
			{name: "text_before", kind: kindText},
			{name: "text_after", kind: kindText},
		},
		key: []string{"id"},
		indexes: []index{
			{name: "EJ_EVENT_TIME", columns: "time_micros, id"},
			{name: "EJ_EVENT_JOB", columns: "job_name, time_micros, id"},
			{name: "EJ_EVENT_KIND", columns: "kind, time_micros, id"}, // few are of operators
		},
		since: "time_micros",
	}
}

func lineTable() table {
	return table{
		name: tableLine,
		columns: []column{
			{name: "task_id", size: maxID, required: true},
			{name: "line_number", kind: kindInt, required: true},
			{name: "job_name", size: maxJobName, required: true},
			{name: "sharding_item", kind: kindInt, required: true},
			{name: "time_micros", kind: kindBigint, required: true},
			{name: "level", kind: kindInt, required: true},
			{name: "text", kind: kindText, required: true},
		},
		key:     []string{"task_id", "line_number"},
		indexes: []index{{name: "EJ_RUN_LOG_TIME", columns: "time_micros"}},
		since:   "time_micros",
	}
}

func schemaTable() table {
	return table{
		name: tableSchema,
		columns: []column{
			{name: "version", kind: kindInt, required: true},
			{name: "applied_micros", kind: kindBigint, required: true},
			{name: "retained_micros", kind: kindBigint}, // when the last pass of retention began
		},
		key: []string{"version"},
	}
}

// position returns where a column is among the columns; -1 if it is not.
func (t table) position(name string) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
}

func names(columns []column) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.name
	}
	return list
}

// kindName returns the name under which a kind of events is kept: MADE_UP.
func kindName(k jobtype.EventKind) string {
	return strings.ReplaceAll(strings.ToUpper(k.String()), " ", "_")
}
