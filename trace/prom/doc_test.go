package prom_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/trace/prom"
)

// grouped is a registry that counts groups, as that of package etcd does.
type grouped struct {
	coord.Registry
	coord.Inspector
}

func (grouped) CommitGroups() ([]int64, int) { return []int64{0, 10, 0, 2, 1}, 3 }

// families are all metrics that there are: the kind and the labels of each, by name.
func families(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	inFleet(t, func(t *testing.T, f *fleet) {
		a := f.dial("a", prom.Options{})
		reg := a.metrics.Registry(grouped{Registry: a.reg})
		n, err := job.NewNode(reg, job.NodeConfig{Options: []job.Option{job.WithIP("a"), a.metrics.Option()}})
		if err != nil {
			t.Fatal(err)
		}
		a.node = n
		a.metrics.Watch(n)
		a.metrics.WatchTrace(new(leakyRecorder))
		a.metrics.WatchAlerts(new(alert.Counts))
		b := f.process("b", prom.Options{})
		c := every("settle", "0 * * * * ?")
		c.Failover = true
		for _, p := range []*process{a, b} {
			p.schedule(c, lasts(30*time.Second))
		}
		pass(80 * time.Second)
		b.die()
		pass(time.Minute)
		if _, err := reg.Commit(t.Context(), coord.Exists("none")); err == nil {
			t.Error("no conflict")
		}
		a.schedule(every("stuck", "* * * * * ?"), lasts(time.Hour))
		pass(time.Minute)
		gathered, err := a.gather.Gather()
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[dto.MetricType]string{dto.MetricType_COUNTER: "c", dto.MetricType_GAUGE: "g", dto.MetricType_HISTOGRAM: "h"}
		for _, family := range gathered {
			words := []string{kinds[family.GetType()]}
			for _, label := range family.Metric[0].Label {
				words = append(words, label.GetName())
			}
			all[family.GetName()] = strings.Join(words, " ")
		}
	})
	return all
}

// The table of the package comment has what is exported.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^//\t(elasticjob_\S+) +([cgh](?: [a-z_]+)*) {2,}\S`).FindAllStringSubmatch(string(text), -1) {
		words := strings.Fields(row[2])
		slices.Sort(words[1:])
		table[row[1]] = strings.Join(words, " ")
	}
	if diff := cmp.Diff(families(t), table); diff != "" {
		t.Errorf("exported (-), and in the table (+):\n%s", diff)
	}
}

// What rules and the dashboard ask for is there.
func TestDeployed(t *testing.T) {
	known := families(t)
	for _, file := range []string{rulesFile, dashboardFile} {
		text, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range metricNames(string(text)) {
			base := name
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if h := strings.TrimSuffix(name, suffix); strings.HasPrefix(known[h], "h") {
					base = h
				}
			}
			if known[base] == "" {
				t.Errorf("%s asks for %s, which is not there", file, name)
			}
		}
	}
}
