package docpage

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job/property"
)

// WantProperties checks that the tables have the properties of a type: the name, the default, and what is
// allowed. What they mean is for the page to say.
func (p Page) WantProperties(t testing.TB, table []property.Row) {
	t.Helper()
	var rows [][]string
	for _, row := range table {
		value := row.Default
		switch {
		case row.Required:
			value = "required"
		case row.Default == "":
			value = "none"
		}
		allowed := strings.TrimSuffix(strings.TrimSuffix(row.Check.Allowed, " are"), " is")
		allowed, _, _ = strings.Cut(allowed, ", such as")
		allowed = strings.TrimSuffix(allowed, ",")
		if row.Secret {
			allowed = "a reference"
		}
		rows = append(rows, []string{row.Name, value, allowed})
	}
	p.WantRows(t, rows)
}
