package sqltrace

import (
	"context"
	"fmt"
	"strings"
)

// found is what there is of a table.
type found struct {
	columns map[string]foundColumn // by their names in small letters; none if there is no table
	indexes map[string]bool
	// uniqueID is true if no two rows have the same id.
	uniqueID bool
}

type foundColumn struct {
	required   bool
	hasDefault bool
	size       int    // characters of a VARCHAR; 0 if there is no bound
	charset    string // MySQL's of the column, PostgreSQL's of the database; "" if it is no text
	collation  string
}

// look returns what there is of a table in the schema that its bare name means.
func (d Dialect) look(ctx context.Context, on querier, name string) (found, error) {
	f := found{columns: map[string]foundColumn{}, indexes: map[string]bool{}, uniqueID: d != MySQL}
	if err := d.lookColumns(ctx, on, name, f); err != nil {
		return f, fmt.Errorf("columns of table %s: %w", name, err)
	}
	if err := d.lookIndexes(ctx, on, name, &f); err != nil {
		return f, fmt.Errorf("indexes of table %s: %w", name, err)
	}
	return f, nil
}

func (d Dialect) lookColumns(ctx context.Context, on querier, name string, f found) error {
	var query string
	switch d {
	case SQLite:
		query = `SELECT name, "notnull" <> 0, dflt_value IS NOT NULL, 0, '', '' FROM pragma_table_info(?)`
	case MySQL: // MariaDB has the word NULL for a column without a default
		query = `SELECT column_name, is_nullable = 'NO', COALESCE(column_default, 'NULL') <> 'NULL', COALESCE(character_maximum_length, 0),
			COALESCE(character_set_name, ''), COALESCE(collation_name, '')
			FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?`
	case PostgreSQL:
		query = `SELECT attname, attnotnull, atthasdef, CASE WHEN atttypmod > 4 THEN atttypmod - 4 ELSE 0 END,
			CASE WHEN attcollation <> 0 THEN current_setting('server_encoding') ELSE '' END, ''
			FROM pg_catalog.pg_attribute WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped`
	}
	rows, err := on.QueryContext(ctx, d.bind(query), d.named(name))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var column string
		var c foundColumn
		if err := rows.Scan(&column, &c.required, &c.hasDefault, &c.size, &c.charset, &c.collation); err != nil {
			return err
		}
		f.columns[strings.ToLower(column)] = c
	}
	return rows.Err()
}

func (d Dialect) lookIndexes(ctx context.Context, on querier, name string, f *found) error {
	var query string
	switch d {
	case SQLite:
		query = `SELECT name, 0 FROM pragma_index_list(?)`
	case MySQL: // the second column is for indexes whose only column is id
		query = `SELECT index_name, COALESCE(MIN(non_unique) = 0 AND COUNT(*) = 1 AND MIN(LOWER(column_name)) = 'id', 0)
			FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ? GROUP BY index_name`
	case PostgreSQL:
		query = `SELECT c.relname, 0 FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
			WHERE i.indrelid = to_regclass(?) AND i.indisvalid`
	}
	rows, err := on.QueryContext(ctx, d.bind(query), d.named(name))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var index string
		var uniqueID int
		if err := rows.Scan(&index, &uniqueID); err != nil {
			return err
		}
		f.indexes[strings.ToLower(index)] = true
		f.uniqueID = f.uniqueID || uniqueID != 0
	}
	return rows.Err()
}

// named returns the name of a table as the catalogue has it.
func (d Dialect) named(table string) string {
	if d == PostgreSQL {
		return strings.ToLower(table)
	}
	return table
}
