package browsertest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

const jobsPath = "/namespaces/" + world.Namespace + "/jobs"

// listedAre is an expression: whether the list shows these jobs, in this order.
func listedAre(names string) string {
	return fmt.Sprintf("[...document.querySelectorAll('.jobs tbody tr')].map(r => r.dataset.key).join(' ') === '%s'", names)
}

// listJobs makes jobs that nobody runs, with names that begin in the same way, and shows them to a user.
func listJobs(t *testing.T, user, prefix string, n int) (*browser.Tab, *ops.Ops) {
	t.Helper()
	browser.Require(t)
	o := town.Ops(t)
	for i := range n {
		c := job.Config{Name: fmt.Sprintf("%s-%d", prefix, i+1), Description: "For a list", Cron: "0 0 3 * * ?", ShardingTotalCount: 1}
		if err := o.Create(t.Context(), ops.CreateRequest{Config: c, Implementation: "nobody.Offers"}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if _, err := o.Job(c.Name).Describe(ctx); err != nil {
				return // the test has removed it
			}
			if err := o.Job(c.Name).Remove(ctx, ops.RemoveRequest{}); err != nil {
				t.Error(err)
			}
		})
	}
	tab := enter(t, user, jobsPath+"?search="+prefix)
	tab.WaitFor(fmt.Sprintf("document.querySelector('.jobs table')?.ariaRowCount === '%d'", n+1))
	return tab, o
}

// What one looks for stands in the address, and is there again after a reload and on the way back.
func TestJobsFilter(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Viewer, jobsPath)
	tab.See(world.Quick)
	tab.Fill("Search", "nobody offers")
	tab.WaitFor(listedAre(world.Orphan))
	tab.WaitFor("new URLSearchParams(location.search).get('search') === 'nobody offers'")
	tab.Fill("Search", "")
	tab.WaitFor("document.querySelector('.jobs tbody').rows.length > 5")
	tab.Choose("All types", "Script")
	tab.WaitFor("[...document.querySelectorAll('.jobs tbody tr')].some(r => r.dataset.key === '" + world.Script + "')")
	tab.NotSee(world.Orphan)
	tab.Open(jobsPath + "?status=NEVER_STARTED&search=" + world.Orphan)
	tab.WaitFor(listedAre(world.Orphan))
	tab.See("Never started")
	tab.Fill("Search", "there is no such job")
	tab.Click("button", "Remove the filter")
	tab.See(world.Quick)
	tab.WaitFor("location.search === ''")
}

// A list is sorted by what its headings say, as people count.
func TestJobsOrder(t *testing.T) {
	t.Parallel()
	tab, o := listJobs(t, world.Viewer, "sorted", 3)
	if _, err := o.Job("sorted-2").Pause(t.Context(), ops.PauseRequest{}); err != nil {
		t.Fatal(err)
	}
	tab.See("Paused")
	tab.WaitFor(listedAre("sorted-1 sorted-2 sorted-3"))
	tab.Click("button", "Job")
	tab.WaitFor(listedAre("sorted-3 sorted-2 sorted-1"))
	tab.Click("button", "Next tick") // a paused job has none, and comes last
	tab.WaitFor(listedAre("sorted-1 sorted-3 sorted-2"))
	tab.WaitFor("new URLSearchParams(location.search).get('sort') === 'next'")
	tab.WaitFor("[...document.querySelectorAll('.jobs th')].find(h => h.ariaSort).innerText.startsWith('Next tick')")
}

// Nobody has to load the page again: what others do is seen.
func TestJobsAreLive(t *testing.T) {
	t.Parallel()
	tab, o := listJobs(t, world.Viewer, "living", 2)
	tab.WaitFor("(window.isSamePage = true)")
	if _, err := o.Job("living-1").Pause(t.Context(), ops.PauseRequest{Why: "stock-taking"}); err != nil {
		t.Fatal(err)
	}
	tab.WaitFor("document.querySelector('[data-key=living-1] .badge[title*=stock-taking]')?.innerText.includes('Paused')")
	if err := o.Job("living-2").Remove(t.Context(), ops.RemoveRequest{}); err != nil {
		t.Fatal(err)
	}
	tab.WaitFor(listedAre("living-1"))
	tab.WaitFor("window.isSamePage")
}

// Several jobs are changed at once, after a look at what that does; who cannot be changed is told, with the reason.
func TestJobsAtOnce(t *testing.T) {
	t.Parallel()
	tab, o := listJobs(t, world.Operator, "op-many", 4)
	tab.Click("checkbox", "Choose op-many-1")
	tab.WaitFor("document.querySelector('.choicebar').innerText.includes('1 chosen')")
	tab.Click("button", "Choose all 4 that are listed")
	tab.Click("button", "Pause")
	tab.See("This would change: 4 jobs")
	if p, err := o.Job("op-many-1").Describe(t.Context()); err != nil || !p.Info.Paused.Since.IsZero() {
		t.Errorf("a look at it has paused it: %+v (%v)", p, err)
	}
	tab.Fill("Why", "the warehouse moves")
	tab.Click("button", "Pause")
	tab.See("Pause 4 jobs 4 jobs changed")
	for i := range 4 {
		jobComes(t, o.Job(fmt.Sprintf("op-many-%d", i+1)), "it is paused", func(d *ops.JobDetail) bool {
			return d.Info.Paused.Why == "the warehouse moves" && d.Info.Paused.By == world.Operator
		})
	}

	tab.Click("checkbox", "Choose all that are listed")
	tab.Click("button", "Resume")
	tab.See("This would change: 4 jobs")
	if err := o.Job("op-many-4").Remove(t.Context(), ops.RemoveRequest{}); err != nil {
		t.Fatal(err)
	}
	tab.Click("button", "Resume")
	tab.See("3 jobs changed · 1 cannot be changed")
	tab.WaitFor("document.querySelector('dialog .failures').innerText.includes('op-many-4')")
	tab.Click("button", "Close")
	jobComes(t, o.Job("op-many-3"), "it is resumed", func(d *ops.JobDetail) bool { return d.Info.Paused.Since.IsZero() })
}

// Of many jobs only those in view are in the page, and the keyboard comes to all of them.
func TestJobsInView(t *testing.T) {
	t.Parallel()
	tab, _ := listJobs(t, world.Operator, "op-row", 120)
	tab.WaitFor("document.querySelector('.jobs tbody').rows.length < 60")
	tab.WaitFor("document.querySelector('[data-key=op-row-1] input').focus() ?? true")
	tab.Press("Space")
	tab.Press("Shift+ArrowDown")
	tab.WaitFor("document.activeElement.closest('tr')?.dataset.key === 'op-row-2'")
	tab.Press("Shift+ArrowDown")
	tab.WaitFor("document.querySelector('.choicebar')?.innerText.includes('3 chosen')")
	tab.Press("End")
	tab.WaitFor("document.activeElement.closest('tr')?.dataset.key === 'op-row-120'")
	tab.WaitFor("document.activeElement.closest('tr').getAttribute('aria-rowindex') === '121'")
	tab.WaitFor("document.querySelector('.jobs tbody').rows.length < 60")
	tab.WaitFor("!document.querySelector('[data-key=op-row-1]')")
	tab.WaitFor("document.activeElement.getBoundingClientRect().bottom <= innerHeight")
	// The row with the focus stays when it is scrolled away, and the focus with it.
	tab.WaitFor("scrollTo(0, 0) ?? document.querySelector('[data-key=op-row-1]')")
	tab.WaitFor("document.activeElement.closest('tr')?.dataset.key === 'op-row-120'")
	tab.Press("Home")
	tab.WaitFor("document.activeElement.closest('tr')?.dataset.key === 'op-row-1'")
}

// What somebody may not do is not offered to him.
func TestJobsOfOthers(t *testing.T) {
	t.Parallel()
	tab, _ := listJobs(t, world.Operator, "other", 1)
	tab.Click("button", "Actions: other-1")
	tab.See("History")
	tab.NotSee("Trigger")
	tab.NotSee("Create a job")
	tab.WaitFor("!document.querySelector('.jobs tbody input')")
	tab, _ = listJobs(t, world.Operator, "op-own", 1)
	tab.Click("button", "Actions: op-own-1")
	tab.See("Trigger")
	tab.NotSee("Duplicate") // that is for admins
}

// Everybody can use the list with jobs that are chosen, and the question before they are changed.
func TestJobsForEverybody(t *testing.T) {
	t.Parallel()
	tab, _ := listJobs(t, world.Operator, "op-all", 3)
	tab.Click("checkbox", "Choose all that are listed")
	tab.See("3 chosen")
	audit(t, tab, "the list with chosen jobs")
	tab.Click("button", "Disable")
	tab.See("This would change:")
	audit(t, tab, "the question")
}

// What was removed stands below the list, and an admin lets programs bring it back.
func TestJobsRemoved(t *testing.T) {
	t.Parallel()
	tab, o := listJobs(t, world.Admin, "gone", 1)
	if err := o.Job("gone-1").Remove(t.Context(), ops.RemoveRequest{Why: "nobody needs it"}); err != nil {
		t.Fatal(err)
	}
	tab.See("No job is like that.")
	tab.Click("button", "Removed jobs")
	tab.WaitFor("[...document.querySelectorAll('.removed tr')].some(r => r.innerText.includes('gone-1') && r.innerText.includes('nobody needs it'))")
	audit(t, tab, "removed jobs")
	tab.Click("button", "Allow gone-1 again")
	tab.See("This would change:")
	tab.Click("button", "Allow it again")
	tab.WaitFor("!document.querySelector('.removed').innerText.includes('gone-1')")
	removed, err := o.Removed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range removed {
		if r.Name == "gone-1" {
			t.Errorf("it is removed still: %+v", r)
		}
	}
}

// A user saves a filter, comes back to it from another page, and forgets it; jobs stand below their labels, if he likes that.
func TestJobsSavedAndGrouped(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	o := town.Ops(t)
	for i, label := range []string{"red", "", "blue", "red"} {
		c := job.Config{Name: fmt.Sprintf("grouped-%d", i+1), Label: label, Cron: "0 0 3 * * ?", ShardingTotalCount: 1}
		if err := o.Create(t.Context(), ops.CreateRequest{Config: c, Implementation: "nobody.Offers"}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := o.Job(c.Name).Remove(context.Background(), ops.RemoveRequest{}); err != nil {
				t.Error(err)
			}
		})
	}
	tab := enter(t, world.Viewer, jobsPath+"?search=grouped-")
	tab.WaitFor(listedAre("grouped-1 grouped-2 grouped-3 grouped-4"))
	tab.Click("button", "Group by label")
	tab.WaitFor(listedAre("label blue grouped-3 label red grouped-1 grouped-4 label  grouped-2"))
	tab.See("red 2 jobs")
	audit(t, tab, "groups of jobs")
	tab.Click("button", "Saved filters")
	tab.Click("button", "Save this filter")
	tab.Fill("Name", "colours")
	tab.Click("button", "Save")
	tab.Open(jobsPath)
	tab.See(world.Quick)
	tab.Click("button", "Saved filters")
	tab.Click("button", "colours")
	tab.WaitFor(listedAre("grouped-1 grouped-2 grouped-3 grouped-4") + " && location.search === '?search=grouped-'")
	tab.Click("button", "Saved filters")
	tab.Click("button", "Forget colours")
	tab.Open(jobsPath)
	tab.See(world.Quick)
	tab.NotSee("Saved filters")
}
