package prom_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
)

// The reference has a section for each alert, which begins with its severity and with how long it waits.
func TestReferenceAlerts(t *testing.T) {
	text, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	page := docpage.Open(t, "reference/alerts.md")
	var names []string
	const book = "https://github.com/elasticjob-go/elasticjob/blob/main/docs/reference/alerts.md#"
	for _, rule := range strings.Split(string(text), "- alert: ")[1:] {
		name, rule, _ := strings.Cut(rule, "\n")
		names = append(names, name)
		if url := valueOf(rule, "runbook_url"); url != "'"+book+strings.ToLower(name)+"'" {
			t.Errorf("the runbook of %s is %s", name, url)
		}
		begin := "\n**" + valueOf(rule, "severity") + "**"
		if wait := valueOf(rule, "for"); wait != "" && name != "ElasticJobTickMissed" { // whose section says what its expression counts, too
			begin += ", after " + strings.NewReplacer("1m", "1 minute", "2m", "2 minutes", "5m", "5 minutes", "30s", "30 s").Replace(wait)
		}
		if text := page.Section(t, name).Text; !strings.HasPrefix(text, begin+". ") {
			t.Errorf("the section of %s has to begin with %q", name, begin)
		}
	}
	page.WantHeadings(t, 2, names)
}

// valueOf returns the value of a key in the text of a rule.
func valueOf(rule, key string) string {
	_, value, _ := strings.Cut(rule, " "+key+": ")
	value, _, _ = strings.Cut(value, "\n")
	return value
}

// The reference has the tables of the package comment, which are those of the code (TestTable).
func TestReferenceMetrics(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{"c": "counter", "g": "gauge", "h": "histogram"}
	var rows [][]string
	for _, row := range regexp.MustCompile(`(?m)^//\t(elasticjob_\S+) +([cgh])((?: [a-z_]+)*) {2,}\S`).FindAllStringSubmatch(string(text), -1) {
		rows = append(rows, []string{row[1], kinds[row[2]], strings.Join(strings.Fields(row[3]), ", ")})
	}
	if len(rows) < 40 {
		t.Errorf("only %d metrics in doc.go", len(rows))
	}
	docpage.Open(t, "reference/metrics.md").Section(t, "Prometheus").WantRows(t, rows)
}

// What a page of the reference says of spans is that of package oteljob.
func TestReferenceSpans(t *testing.T) {
	text, err := os.ReadFile("../oteljob/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, row := range regexp.MustCompile(`(?m)^//\t((?:elasticjob|faas|error|exception)\.\S+) {2,}\S`).FindAllStringSubmatch(string(text), -1) {
		want = append(want, row[1])
	}
	got := docpage.Open(t, "reference/metrics.md").Section(t, "OpenTelemetry").Names()
	if slices.Sort(want); len(want) < 25 {
		t.Errorf("only %d names in doc.go of oteljob", len(want))
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the page has %q\nand doc.go of oteljob %q", got, want)
	}
}
