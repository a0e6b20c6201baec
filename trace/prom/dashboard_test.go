package prom_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const dashboardFile = "../../deploy/grafana/elasticjob.json"

// dashboard is what the test looks at.
type dashboard struct {
	Panels []struct {
		ID          int
		Type, Title string
		GridPos     struct{ H, W, X, Y int }
		Targets     []struct{ Expr string }
	}
	Templating struct{ List []struct{ Name string } }
}

// The dashboard is JSON, its panels do not lie over each other, and Prometheus can read each of
// its queries; TestDeployed says that their metrics are there. No metric is missing.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	variables := []string{`$__rate_interval`, "5m", `${datasource}`, ""}
	for _, v := range d.Templating.List {
		variables = append(variables, "$"+v.Name, ".*")
	}
	var rules bytes.Buffer
	rules.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	ids, taken, queries := map[int]bool{}, map[[2]int]string{}, 0
	for _, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("%s: another panel has the id %d", p.Title, p.ID)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if taken[at] != "" || at[0] >= 24 {
					t.Errorf("%s lies over %s, or over the edge", p.Title, taken[at])
				}
				taken[at] = p.Title
			}
		}
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("%s asks for nothing", p.Title)
		}
		for _, target := range p.Targets {
			expr := strings.NewReplacer(variables...).Replace(target.Expr)
			if strings.Contains(expr, "$") {
				t.Errorf("%s: %s: a variable is not known", p.Title, target.Expr)
			}
			fmt.Fprintf(&rules, "      - record: query:%d\n        expr: %q\n", queries, expr)
			queries++
		}
	}
	for name := range families(t) {
		if !regexp.MustCompile(`\b` + name + `(_bucket|_sum)?\b`).Match(text) {
			t.Errorf("%s is not on the dashboard", name)
		}
	}
	file := filepath.Join(t.TempDir(), "queries.yaml")
	if err := os.WriteFile(file, rules.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), find(t, "promtool"), "check", "rules", "--lint=none", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
