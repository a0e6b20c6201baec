package sqltrace

import "slices"

// lossy are columns whose character set is not all of Unicode.
type lossy struct {
	table   string
	charset string
	columns []string
}

// lossy returns them of a table, by their character sets. Columns for ids and words of ElasticJob count, too: it is the
// table that is to be changed.
func (d Dialect) lossy(t table, there found) []lossy {
	var list []lossy
	for _, c := range t.columns {
		charset := there.columns[c.name].charset
		if charset == "" || d.isUnicode(charset) {
			continue
		}
		i := slices.IndexFunc(list, func(l lossy) bool { return l.charset == charset })
		if i < 0 {
			list = append(list, lossy{table: t.name, charset: charset})
			i = len(list) - 1
		}
		list[i].columns = append(list[i].columns, c.name)
	}
	return list
}

// isUnicode reports whether texts of a character set may have all characters. In SQL_ASCII a text is what bytes come.
func (d Dialect) isUnicode(charset string) bool {
	if d == PostgreSQL {
		return charset == "UTF8" || charset == "SQL_ASCII"
	}
	return slices.Contains([]string{"utf8mb4", "utf16", "utf16le", "utf32"}, charset)
}

// remedy says what an operator does about the character set of a table.
func (d Dialect) remedy(table string) string {
	if d == PostgreSQL {
		return "move the history to a database with the encoding UTF8"
	}
	return "ALTER TABLE " + table + " CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
}
