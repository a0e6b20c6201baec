package console

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
)

// The reference has all operations of the document, by tag, with the role that each needs.
func TestReferenceOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var document struct {
			Paths map[string]map[string]struct {
				Tags    []string `json:"tags"`
				Summary string   `json:"summary"`
				Role    string   `json:"x-role"`
			} `json:"paths"`
			Tags []struct {
				Name string `json:"name"`
			} `json:"tags"`
		}
		if err := json.Unmarshal(documentOf(newTown(t)), &document); err != nil {
			t.Fatal(err)
		}
		page := docpage.Open(t, "reference/http-api.md").Section(t, "Operations")
		var tags []string
		for _, tag := range document.Tags {
			tags = append(tags, tag.Name)
			var rows [][]string
			for path, methods := range document.Paths {
				for method, o := range methods {
					if slices.Contains(o.Tags, tag.Name) {
						rows = append(rows, []string{strings.ToUpper(method) + " " + cmp.Or(strings.TrimPrefix(path, "/api/v1"), "/"), cmp.Or(o.Role, "–"), o.Summary})
					}
				}
			}
			byPath := func(row []string) string { method, path, _ := strings.Cut(row[0], " "); return path + " " + method }
			slices.SortFunc(rows, func(a, b []string) int { return cmp.Compare(byPath(a), byPath(b)) })
			page.Section(t, tag.Name).WantRows(t, rows)
		}
		page.WantHeadings(t, 3, tags)
	})
}

// The reference has all metrics of the console, with their types.
func TestReferenceMetrics(t *testing.T) {
	c := newConsole(t, func(*Options) {})
	ask(c, "GET", "/healthz", "") // so that requests have series
	_, text, _ := ask(c.Metrics(), "GET", "/metrics", "")
	rows := docpage.Open(t, "reference/metrics.md").Section(t, "The console").ByName(t)
	found := regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`).FindAllStringSubmatch(text, -1)
	for _, m := range found {
		if row := rows[m[1]]; row == nil || row[0] != m[2] {
			t.Errorf("%s, a %s, has the row %q", m[1], m[2], row)
		}
	}
	const others = 3 // rows of what the command adds
	if len(found) != len(rows)-others {
		t.Errorf("%d metrics have %d rows", len(found), len(rows)-others)
	}
}
