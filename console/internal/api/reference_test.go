package api

import (
	"cmp"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/internal/docpage"
	"github.com/elasticjob-go/elasticjob/internal/errclass"
)

// The reference has all codes of problems that stand for an error, with their status.
func TestReferenceCodes(t *testing.T) {
	rows := [][]string{{"out-of-time", "504"}, {"cancelled", "503"}}
	statuses := map[string]int{}
	for status := range 600 {
		statuses[strings.ReplaceAll(http.StatusText(status), " ", "")] = status
	}
	made := regexp.MustCompile(`\b(?:errclass\.(\w+)\.New|NewError)\((?:http\.Status(\w+), )?"([^"]+)"`)
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range made.FindAllSubmatch(text, -1) {
			status := statuses[string(m[2])]
			if len(m[1]) > 0 {
				status = route.StatusOf(errclass.Class(m[1]))
			}
			rows = append(rows, []string{string(m[3]), strconv.Itoa(status)})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(rows, func(a, b []string) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) })
	rows = slices.CompactFunc(rows, slices.Equal)
	docpage.Open(t, "reference/http-api.md").Section(t, "Codes").WantRows(t, rows)
}
