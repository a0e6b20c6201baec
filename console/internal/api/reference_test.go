package api

import (
	"cmp"
	"slices"
	"strconv"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
)

// The reference has all codes of problems that stand for an error, with their status.
func TestReferenceCodes(t *testing.T) {
	var rows [][]string
	for _, k := range slices.Concat(known, ofConnections) {
		rows = append(rows, []string{k.code, strconv.Itoa(k.status)})
	}
	slices.SortFunc(rows, func(a, b []string) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) })
	rows = slices.CompactFunc(rows, slices.Equal)
	docpage.Open(t, "reference/http-api.md").Section(t, "Codes").WantRows(t, rows)
}
