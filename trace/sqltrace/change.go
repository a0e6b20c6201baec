package sqltrace

import (
	"fmt"
	"strings"
)

// change returns the statements that make a table what it is to be. Nothing is removed, and no
// statement has to read the rows, but for those that make an index.
func (d Dialect) change(want table, there found) []string {
	if len(there.columns) == 0 {
		return append([]string{d.create(want)}, d.createIndexes(want, there)...)
	}
	var adds, others []string
	for _, c := range want.columns {
		old, ok := there.columns[c.name]
		if !ok {
			c.required = false // the rows that are there have no value
			adds = append(adds, "ADD COLUMN "+c.name+" "+d.typeOf(c))
			continue
		}
		others = append(others, d.adapt(want, c, old)...)
	}
	var statements []string
	switch {
	case len(adds) > 0 && d == SQLite: // takes one at a time
		for _, add := range adds {
			statements = append(statements, "ALTER TABLE "+want.name+" "+add)
		}
	case len(adds) > 0:
		statements = append(statements, "ALTER TABLE "+want.name+" "+strings.Join(adds, ", "))
	}
	statements = append(statements, others...)
	if !there.uniqueID && want.key[0] == "id" && len(want.key) == 1 {
		// From 3.0.1 on the key of ElasticJob's tables on MySQL is auto_id. Without this one a row
		// that is written twice would be there twice.
		statements = append(statements, fmt.Sprintf("CREATE UNIQUE INDEX EJ_%s_ID ON %s (id)", want.name, want.name))
	}
	return append(statements, d.createIndexes(want, there)...)
}

// adapt returns what a column that is there needs.
func (d Dialect) adapt(t table, c column, old foundColumn) []string {
	var statements []string
	if c.name == "job_name" && old.size > 0 && old.size < c.size {
		switch d {
		case MySQL:
			statements = append(statements, fmt.Sprintf("ALTER TABLE %s MODIFY COLUMN job_name VARCHAR(%d) CHARACTER SET %s COLLATE %s NOT NULL",
				t.name, c.size, old.charset, old.collation))
		case PostgreSQL:
			statements = append(statements, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN job_name TYPE VARCHAR(%d)", t.name, c.size))
		}
	}
	if c.preset != "" && !old.hasDefault && d != SQLite {
		statements = append(statements, "ALTER TABLE "+t.name+" ALTER COLUMN "+c.name+" SET DEFAULT '"+c.preset+"'")
	}
	return statements
}

func (d Dialect) create(t table) string {
	parts := make([]string, 0, len(t.columns)+1)
	for _, c := range t.columns {
		parts = append(parts, c.name+" "+d.typeOf(c))
	}
	parts = append(parts, "PRIMARY KEY ("+strings.Join(t.key, ", ")+")")
	engine := ""
	if d == MySQL {
		engine = " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"
	}
	return "CREATE TABLE " + t.name + " (" + strings.Join(parts, ", ") + ")" + engine
}

func (d Dialect) createIndex(t table, i index) string {
	columns, only := i.columns, ""
	switch {
	case i.failures && d == MySQL:
		columns = "is_success, " + columns
	case i.failures:
		only = " WHERE " + d.failed()
	}
	return "CREATE INDEX " + i.name + " ON " + t.name + " (" + columns + ")" + only
}

func (d Dialect) createIndexes(t table, there found) []string {
	var statements []string
	for _, i := range t.indexes {
		if !there.indexes[strings.ToLower(i.name)] {
			statements = append(statements, d.createIndex(t, i))
		}
	}
	return statements
}
