package sqltrace

import (
	"fmt"
	"strconv"
	"strings"
)

// Dialect is the kind of a database.
type Dialect int

// The dialects, with the versions that the tests know. MySQL is untested: the statements are
// those that MariaDB and MySQL 8 both document.
const (
	SQLite     Dialect = iota + 1 // 3.53, by modernc.org/sqlite
	MySQL                         // MariaDB 10.11, by github.com/go-sql-driver/mysql
	PostgreSQL                    // 15, by github.com/jackc/pgx/v5/stdlib
)

func (d Dialect) String() string {
	switch d {
	case SQLite:
		return "SQLite"
	case MySQL:
		return "MySQL"
	case PostgreSQL:
		return "PostgreSQL"
	}
	return "Dialect(" + strconv.Itoa(int(d)) + ")"
}

// placeholder returns the mark of argument n of a statement; the first is 1.
func (d Dialect) placeholder(n int) string {
	if d == PostgreSQL {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}

// bind returns a statement with the marks of this dialect. In query each ? is an argument, so
// none may stand in a literal.
func (d Dialect) bind(query string) string {
	if d != PostgreSQL {
		return query
	}
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(query, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString(d.placeholder(n))
		query = after
	}
}

// typeOf returns the type of a column, whether it may be NULL, and its default.
func (d Dialect) typeOf(c column) string {
	text := ""
	if d == MySQL {
		// The default of a server may be latin1. Names of jobs are told apart by their case.
		text = " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
	}
	var name string
	switch c.kind {
	case kindVarchar:
		name = fmt.Sprintf("VARCHAR(%d)%s", c.size, text)
	case kindText:
		name = "TEXT" + text
	case kindInt:
		name = "INT"
	case kindBigint:
		name = "BIGINT"
	case kindBool:
		if name = "INT"; d == PostgreSQL {
			name = "BOOLEAN"
		}
	case kindTime:
		name = "TIMESTAMP"
	}
	if c.required {
		name += " NOT NULL"
	} else {
		name += " NULL" // without it a TIMESTAMP of MySQL is not nullable
	}
	if c.preset != "" {
		name += " DEFAULT '" + c.preset + "'"
	}
	return name
}

// insert returns the statement that inserts that many rows. A row that is there already is
// merged with the new one, column by column.
func (d Dialect) insert(t table, rows int) string {
	columns := t.columns
	var b strings.Builder
	b.WriteString("INSERT INTO " + t.name + " (" + strings.Join(names(columns), ", ") + ") VALUES ")
	for r := range rows {
		if r > 0 {
			b.WriteString(", ")
		}
		b.WriteByte('(')
		for i := range columns {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(d.placeholder(r*len(columns) + i + 1))
		}
		b.WriteByte(')')
	}
	b.WriteString(d.onConflict(t))
	return b.String()
}

func (d Dialect) onConflict(t table) string {
	var merges []string
	for _, c := range t.columns {
		was, is := t.name+"."+c.name, "excluded."+c.name
		if d == MySQL {
			was, is = c.name, "VALUES("+c.name+")"
		}
		switch c.merge {
		case mergeFirst:
			merges = append(merges, c.name+" = COALESCE("+was+", "+is+")")
		case mergeLast:
			merges = append(merges, c.name+" = COALESCE("+is+", "+was+")")
		case mergeEnd:
			ended := strings.Replace(is, c.name, columnEnd, 1)
			merges = append(merges, c.name+" = CASE WHEN "+ended+" IS NULL THEN "+was+" ELSE "+is+" END")
		}
	}
	switch {
	case d == MySQL && merges == nil:
		// INSERT IGNORE would also take what does not fit.
		return " ON DUPLICATE KEY UPDATE " + t.key[0] + " = " + t.key[0]
	case d == MySQL:
		return " ON DUPLICATE KEY UPDATE " + strings.Join(merges, ", ")
	case merges == nil:
		return " ON CONFLICT (" + strings.Join(t.key, ", ") + ") DO NOTHING"
	}
	return " ON CONFLICT (" + strings.Join(t.key, ", ") + ") DO UPDATE SET " + strings.Join(merges, ", ")
}
