package sqltrace

import (
	"errors"
	"slices"

	"github.com/go-sql-driver/mysql"
)

// trouble is what an error of a database means for what was to be written.
type trouble int

const (
	// troublePasses: the same may succeed later. No connection, a deadlock, read-only, a full
	// disk, missing rights: all that is not known to be one of the others.
	troublePasses trouble = iota
	// troubleSchema: a table or a column is not there.
	troubleSchema
	// troubleRow: the database refuses a row for what is in it, and always will.
	troubleRow
)

// trouble tells errors by their codes, because messages differ by version and language.
func (d Dialect) trouble(err error) trouble {
	switch d {
	case SQLite:
		return sqliteTrouble(sqliteCode(err))
	case MySQL:
		if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
			return mysqlTrouble(e.Number)
		}
	case PostgreSQL:
		if e, ok := errors.AsType[interface {
			error
			SQLState() string
		}](err); ok {
			return postgresTrouble(e.SQLState())
		}
	}
	return troublePasses
}

// sqliteCode returns the code of an error of modernc.org/sqlite; 0 if it is none.
func sqliteCode(err error) int {
	e, ok := errors.AsType[interface {
		error
		Code() int
	}](err)
	if !ok {
		return 0
	}
	return e.Code() & 0xff // the rest is the extended code
}

// isBusy reports whether SQLite wants to be asked again, because others write.
func isBusy(err error) bool { return sqliteCode(err) == 5 }

// sqliteTrouble takes a result code of https://sqlite.org/rescode.html.
func sqliteTrouble(code int) trouble {
	switch code {
	case 1: // SQLITE_ERROR: a missing table has no code of its own
		return troubleSchema
	case 18, 19, 20, 25: // TOOBIG, CONSTRAINT, MISMATCH, RANGE
		return troubleRow
	}
	return troublePasses
}

// mysqlTrouble takes an error number. SQLSTATE does not do: MariaDB has HY000 for some of these.
func mysqlTrouble(number uint16) trouble {
	switch {
	case slices.Contains([]uint16{
		1054, // ER_BAD_FIELD_ERROR
		1146, // ER_NO_SUCH_TABLE
	}, number):
		return troubleSchema
	case slices.Contains([]uint16{
		1048, // ER_BAD_NULL_ERROR
		1062, // ER_DUP_ENTRY: of an index that others have added; ours are merged
		1264, // ER_WARN_DATA_OUT_OF_RANGE
		1265, // WARN_DATA_TRUNCATED
		1292, // ER_TRUNCATED_WRONG_VALUE
		1364, // ER_NO_DEFAULT_FOR_FIELD
		1366, // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD: the column's character set has no such character
		1406, // ER_DATA_TOO_LONG
		1452, // ER_NO_REFERENCED_ROW_2
		3819, // ER_CHECK_CONSTRAINT_VIOLATED of MySQL
		3988, // ER_IMPOSSIBLE_STRING_CONVERSION of MySQL
		4025, // ER_CONSTRAINT_FAILED of MariaDB
	}, number):
		return troubleRow
	}
	return troublePasses
}

// postgresTrouble takes a code of appendix A of PostgreSQL's manual.
func postgresTrouble(state string) trouble {
	switch {
	case slices.Contains([]string{
		"3F000", // invalid_schema_name
		"42703", // undefined_column
		"42P01", // undefined_table
		"42P10", // invalid_column_reference: there is no unique index for ON CONFLICT
	}, state):
		return troubleSchema
	case len(state) == 5 && (state[:2] == "22" || state[:2] == "23"): // data exception, integrity constraint
		return troubleRow
	}
	return troublePasses
}
