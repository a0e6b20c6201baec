package jobfile_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/coord"
)

// counting counts what is asked of a registry.
type counting struct {
	coord.Registry
	mu      sync.Mutex
	commits []string // the paths that each has written
	gets    int
}

func (c *counting) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	var written []string
	for _, op := range ops {
		switch op.Kind {
		case coord.OpExists, coord.OpAbsent, coord.OpAtVersion, coord.OpOwned:
		default:
			written = append(written, op.Path)
		}
	}
	c.mu.Lock()
	c.commits = append(c.commits, strings.Join(written, " "))
	c.mu.Unlock()
	return c.Registry.Commit(ctx, ops...)
}

func (c *counting) Get(ctx context.Context, path string) (coord.Node, error) {
	c.mu.Lock()
	c.gets++
	c.mu.Unlock()
	return c.Registry.Get(ctx, path)
}

func (c *counting) take() (commits []string, gets int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	commits, gets = c.commits, c.gets
	c.commits, c.gets = nil, 0
	return commits, gets
}

// If one of many jobs has changed, a reload is one commit and three reads, and nothing of the other
// jobs is touched. After it the instances of that job follow: each says so in its session, and the
// leader records the schedule if that is another one. A file that says the same costs nothing.
func TestReloadCosts(t *testing.T) {
	const jobs = 100
	inBubble(t, func(t *testing.T, f *fleet) {
		text := func(revision int, cron string) string {
			var b strings.Builder
			b.WriteString("defaults: {implementation: settle, cron: 0 0 3 1 1 ?, shardingTotalCount: 3, revision: 1}\njobs:\n")
			for i := range jobs {
				if i == 77 && revision > 1 {
					fmt.Fprintf(&b, "  job-%d: {revision: %d, cron: %s}\n", i, revision, cron)
				} else {
					fmt.Fprintf(&b, "  job-%d: {}\n", i)
				}
			}
			return strings.ReplaceAll(b.String(), "0 0 3 1 1 ?", "'0 0 3 1 1 ?'")
		}
		reg := &counting{Registry: f.reg}
		path := write(t, text(1, ""))[0]
		began := time.Now()
		app := f.loadWith(f.options(reg), path)
		pass(5 * time.Second)
		commits, _ := reg.take()
		t.Logf("%d jobs started with %d commits, in %v of the bubble's time", jobs, len(commits), time.Since(began))
		schedulers := app.Node().Jobs()

		if r := reload(t, app); r.String() != "nothing has changed" {
			t.Error(r)
		}
		if commits, gets := reg.take(); len(commits)+gets > 0 {
			t.Errorf("a file that says the same: %d reads, commits that write %q", gets, commits)
		}

		rewrite(t, path, text(2, "'0 0 4 1 1 ?'"))
		r := reload(t, app)
		if !cmp.Equal(r.Changed, []string{"job-77"}) || len(r.Started)+len(r.Stopped)+len(r.Refused) > 0 {
			t.Error(r)
		}
		pass(5 * time.Second)
		commits, gets := reg.take()
		t.Logf("one changed: %d reads, commits that write %q", gets, commits)
		own := 0
		for _, written := range commits {
			if !strings.HasPrefix(written, "job-77/") {
				t.Errorf("wrote %s", written)
			}
			if strings.Contains(written, "/config") {
				own++
			}
		}
		if own != 1 || len(commits) > 3 || gets != 3 {
			t.Errorf("%d commits of the reload, %d in all, and %d reads", own, len(commits), gets)
		}
		for i, s := range app.Node().Jobs() {
			if s != schedulers[i] {
				t.Errorf("%s was started again", s.Name())
			}
		}
		if f.registry("job-77").Cron != "0 0 4 1 1 ?" {
			t.Error("the change is not in the registry")
		}
	})
}
