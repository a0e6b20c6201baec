package dump_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dump"
)

// What runs jobs can be asked for them.
var _, _ dump.Process = (*job.Node)(nil), (*job.Runner)(nil)

// text returns a dump as text.
func text(t testing.TB, d dump.Dump) string {
	t.Helper()
	var b strings.Builder
	if err := d.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A dump has the tree, in ElasticJob's order, and the status. It is the same on every store.
func TestTake(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		reg := open(t, d)
		s := runs(t, reg, job.Config{Name: "settle", Cron: rarely, ShardingTotalCount: 11, Failover: true}, "10.0.0.1")
		await(t, s, "all items", func(s job.Status) bool { return len(s.Items) == 11 })
		got, err := dump.Take(t.Context(), reg, dump.Schedulers{s}, "settle")
		if err != nil {
			t.Fatal(err)
		}
		if got.Job != "settle" || got.Differing != 0 || got.Status == nil || got.Status.ItemCount != 11 || !got.Status.Leader || got.Cut || got.StoreError != "" || got.ConfigError != "" {
			t.Errorf("%+v", got)
		}
		if !strings.Contains(got.Config, "jobName: settle") || got.Nodes[0].Path != "settle" || got.Version == "" || got.Host == "" || got.Process == 0 {
			t.Errorf("%+v", got)
		}
		paths := []string{}
		for line := range strings.Lines(text(t, got)) {
			if path, _, ok := strings.Cut(line, " | "); ok && !strings.Contains(path, "leader") && path[0] == '/' {
				paths = append(paths, path)
			}
		}
		id := got.Status.InstanceID
		want := []string{"/settle/sharding"}
		for _, item := range []string{"9", "8", "7", "6", "5", "4", "3", "2", "10", "1", "0"} {
			want = append(want, "/settle/sharding/"+item, "/settle/sharding/"+item+"/instance")
		}
		want = append(want, "/settle/sessions", "/settle/sessions/"+id, "/settle/servers", "/settle/servers/10.0.0.1",
			"/settle/schedule", "/settle/instances", "/settle/instances/"+id, "/settle/config")
		paths = slices.DeleteFunc(paths, func(p string) bool { return strings.HasSuffix(p, "/fired") })
		if !slices.Equal(paths, want) {
			t.Errorf("paths:\n%s\nwant\n%s", strings.Join(paths, "\n"), strings.Join(want, "\n"))
		}
		masked := text(t, got.Masked())
		if strings.Contains(masked, "10.0.0.1") || !strings.Contains(masked, "/settle/servers/ip1 | ENABLED\n") || !strings.Contains(masked, "/settle/instances/ip1@-@") {
			t.Errorf("masked:\n%s", masked)
		}

		alone, err := dump.Directly(t.Context(), open(t, d), "settle")
		if err != nil || alone.Status != nil || text(t, alone) != text(t, got) {
			t.Errorf("directly: %v\n%s\nand not\n%s", err, text(t, alone), text(t, got))
		}
		if _, err := dump.Directly(t.Context(), reg, "none"); !errors.Is(err, dump.ErrNoJob) {
			t.Errorf("a job that is not there: %v", err)
		}
		if _, err := reg.Commit(t.Context(), coord.Put("rest/servers/10.0.0.1", nil), coord.Put("~elasticjob/config", nil)); err != nil {
			t.Fatal(err)
		}
		if jobs, err := dump.Jobs(t.Context(), reg); err != nil || !slices.Equal(jobs, []string{"settle"}) {
			t.Errorf("jobs: %q, %v", jobs, err)
		}
	})
}
