package trees_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

var update = flag.Bool("update", false, "write the files of the version that CHANGELOG.md begins with")

const folder = "testdata"

// version returns the version that CHANGELOG.md begins with, such as v0.1.0, and whether it is released.
func version(t *testing.T) (name string, isReleased bool) {
	t.Helper()
	text, err := os.ReadFile("../../CHANGELOG.md")
	require(t, "changelog", err)
	found := regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\] - (\S+)`).FindSubmatch(text)
	if found == nil {
		t.Fatal("CHANGELOG.md has no heading like ## [0.1.0] - unreleased, or ## [0.1.0] - 2026-12-31")
	}
	return "v" + string(found[1]), string(found[2]) != "unreleased"
}

// read returns the tree and what was said of it in the files of a version.
func read(t *testing.T, name string) (tree, said) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name+".txt"))
	require(t, "tree", err)
	tr, err := parse(text)
	require(t, "tree", err)
	text, err = os.ReadFile(filepath.Join(folder, name+".json"))
	require(t, "what was said", err)
	var says said
	require(t, "what was said", json.Unmarshal(text, &says))
	return tr, says
}

// The tree that this code writes has the kinds of nodes and the keys of the newest file.
func TestShape(t *testing.T) {
	name, isReleased := version(t)
	synctest.Test(t, func(t *testing.T) {
		tr, says := write(t)
		if *update {
			if isReleased {
				t.Fatalf("%s is released, and its files stay as they are: let CHANGELOG.md begin with the next version", name)
			}
			require(t, "write", os.WriteFile(filepath.Join(folder, name+".txt"), tr.text(name), 0o644))
			require(t, "write", os.WriteFile(filepath.Join(folder, name+".json"), says.text(t), 0o644))
			return
		}
		files, err := filepath.Glob(filepath.Join(folder, "v*.txt"))
		require(t, "files", err)
		if len(files) == 0 {
			t.Fatalf("%s has no trees", folder)
		}
		newest := slices.MaxFunc(files, func(a, b string) int { return compareVersions(filepath.Base(a), filepath.Base(b)) })
		known, _ := read(t, strings.TrimSuffix(filepath.Base(newest), ".txt"))
		before, now := shape(known), shape(tr)
		for _, line := range now {
			if !slices.Contains(before, line) {
				t.Errorf("new: %s", line)
			}
		}
		for _, line := range before {
			if !slices.Contains(now, line) {
				t.Errorf("gone: %s", line)
			}
		}
		if t.Failed() {
			t.Errorf("the tree differs from that of %s. Members of that version share trees with this one: see jobtree.Protocol and "+
				"docs/reference/compatibility.md. If it is to differ, write it: go test ./integration/trees -run TestShape -update", newest)
		}
	})
}

// compareVersions compares names such as v0.10.0.txt.
func compareVersions(a, b string) int {
	numbers := func(name string) (n [3]int) {
		_, _ = fmt.Sscanf(name, "v%d.%d.%d", &n[0], &n[1], &n[2])
		return n
	}
	x, y := numbers(a), numbers(b)
	return slices.Compare(x[:], y[:])
}

// This code reads the trees of released versions, and goes on with them.
func TestTrees(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(folder, "v*.txt"))
	require(t, "files", err)
	if len(files) == 0 {
		t.Fatalf("%s has no trees", folder)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			before, says := read(t, name)
			synctest.Test(t, func(t *testing.T) { goOn(t, before, says) })
		})
	}
}

// node returns a node of a tree.
func (tr tree) node(t *testing.T, path string) coord.Node {
	t.Helper()
	i := slices.IndexFunc(tr.nodes, func(n coord.Node) bool { return n.Path == path })
	if i < 0 {
		t.Fatalf("the tree has no %s", path)
	}
	return tr.nodes[i]
}

// goOn puts a tree into a store, has its processes die, and has others go on.
func goOn(t *testing.T, before tree, says said) {
	c, ctx := newCluster(t), t.Context()
	sessions := before.restore(t, c)
	o := c.Ops()
	for _, n := range before.nodes {
		if _, ok := jobtree.Meaning(n.Path); !ok {
			t.Errorf("%s has no meaning", n.Path)
		}
	}
	for _, line := range differing("", map[string]any(says), map[string]any(describe(t, c))) {
		t.Error(line)
	}
	for _, r := range sessions {
		r.Link().Cut()
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_ = r.Close(ended) // it reaches nobody
	}
	w := &work{}
	pager := job.WithErrorHandler("PAGER", job.ErrorHandlerFunc(func(context.Context, job.ShardingContext, error) {}))
	c.Runner("10.0.0.1", w.handlers(), append(options("big"), pager)...)
	c.Runner("10.0.0.3", w.handlers(), append(options(), pager)...)
	c.Advance(2 * time.Minute)

	x := c.Executions()
	x.Of(settle).Source(job.SourceFailover).Tick(before.at.Truncate(time.Minute)).Require(t, 3) // all but item 1, which had ended
	x.Of(settle).Source(job.SourceMisfire).Tick(before.at.Truncate(time.Minute).Add(20*time.Second)).Require(t, 4)
	x.Of(report).Require(t, 0) // it is paused
	x.Of(feed).Item(2).Require(t, 0)
	x.Of(feed).Item(1).On("10.0.0.3").Require(t, 0)
	if len(c.Executions().Of(feed).Item(1).List()) == 0 {
		t.Error("item 1 of feed has not run where it is pinned")
	}
	for item, position := range map[int]string{0: "300", 1: "300"} {
		if first, _ := w.cursors.Load(item); first != position || !strings.Contains(string(before.node(t, fmt.Sprintf("%s/cursor/%d", feed, item)).Value), "position: "+position) {
			t.Errorf("item %d of feed goes on at %v, not at %s", item, first, position)
		}
	}
	requests, err := o.Job(nightly).Requests(ctx)
	require(t, "requests", err)
	for _, r := range requests {
		if len(r.Through) != len(r.Items) {
			t.Errorf("request %s is not through: %+v", r.ID, r)
		}
	}
	require(t, "resume", o.Job(report).Resume(ctx, ops.ResumeRequest{}))
	c.Advance(time.Minute)
	c.Executions().Of(report).Source(job.SourceMisfire).Require(t, 2) // the ticks of the pause, once for each item
	jobtest.NoTickTwice(t, c.Executions())
	jobtest.NoOverlap(t, c.Executions())
	jobtest.TokensGrow(t, c.Executions())
	for _, e := range c.Executions().List() {
		if last := before.nodes[len(before.nodes)-1].Created; e.Token <= last {
			t.Errorf("%v has no larger token than the commit %d of before", e, last)
		}
	}
	c.Faults().Lasting().Require(t, 0)
	c.Faults().Where("but those of the time in which the processes of before seem to live", func(f jobtest.Fault) bool {
		return f.Kind != jobtype.FaultStarvation || f.Began.After(before.at.Add(10*time.Second))
	}).Require(t, 0)
	list, err := o.Jobs(ctx, ops.JobsQuery{})
	require(t, "jobs", err)
	if len(list.Jobs) != len(jobs) {
		t.Errorf("%d jobs, not %d", len(list.Jobs), len(jobs))
	}
	for _, info := range list.Jobs {
		if info.Status != ops.JobOK || info.Faults > 0 || info.Instances != 2 || info.Waiting > 0 {
			t.Errorf("%+v", info)
		}
		if info.Cron != "" && c.Executions().Of(info.Name).Source(job.SourceNormal).Outcome(job.OutcomeOK).Len() == 0 {
			t.Errorf("job %s has run no tick", info.Name)
		}
		document, err := c.Ops().Registry().Get(ctx, info.Name+"/config")
		require(t, "configuration", err)
		if was := before.node(t, info.Name+"/config"); string(document.Value) != string(was.Value) {
			t.Errorf("the configuration of %s has changed:\n%s\nwas\n%s", info.Name, document.Value, was.Value)
		}
	}
	if t.Failed() {
		t.Log(c.Recorder())
	}
}
