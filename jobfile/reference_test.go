package jobfile_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
	"github.com/elasticjob-go/elasticjob/jobfile"
)

// described is a part of the schema.
type described struct {
	Description string                `json:"description"`
	Properties  map[string]*described `json:"properties"`
	Defs        map[string]*described `json:"$defs"`
}

// rows are the keys below a mapping, with their meanings.
func (d *described) rows(above string, depth int) (rows [][]string) {
	for _, key := range slices.Sorted(maps.Keys(d.Properties)) {
		below := d.Properties[key]
		rows = append(rows, []string{above + key, below.Description})
		if depth > 1 {
			rows = append(rows, below.rows(above+key+".", depth-1)...)
		}
	}
	return rows
}

// The reference has all keys of a file, with what the schema says of them.
func TestReferenceKeys(t *testing.T) {
	var schema described
	if err := json.Unmarshal([]byte(jobfile.Schema()), &schema); err != nil {
		t.Fatal(err)
	}
	const all = 10
	page := docpage.Open(t, "reference/job-file.md")
	page.Section(t, "Keys of a file").WantRows(t, schema.rows("", 1))
	page.Section(t, "jobs").WantRows(t, schema.Defs["job"].rows("", all))
	page.Section(t, "allow").WantRows(t, schema.Defs["rule"].rows("", all))
	for key, section := range schema.Properties {
		if len(section.Properties) > 0 {
			page.Section(t, key).WantRows(t, section.rows("", all))
		}
	}
}

// The files that the reference shows are right, and a slip is told as it says.
func TestReferenceFiles(t *testing.T) {
	page := docpage.Open(t, "reference/job-file.md")
	files := map[string]string{}
	for _, block := range page.Blocks("yaml") {
		text := block.Text
		name, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		files[name] = text
		if _, err := jobfile.DeclareSources(jobfile.Options{}, jobfile.Source{Name: name, Text: []byte(text)}); err != nil {
			t.Error(err)
		}
	}
	slip := strings.Replace(files["jobs.yaml"], "shardingTotalCount", "shardingTotalCont", 1)
	_, err := jobfile.DeclareSources(jobfile.Options{}, jobfile.Source{Name: "jobs.yaml", Text: []byte(slip)})
	_, text, _ := strings.Cut(fmt.Sprint(err), "\n")
	if text = strings.TrimSpace(text); text == "" || !strings.Contains(page.Text, text) {
		t.Errorf("the slip: %v", err)
	}
}
