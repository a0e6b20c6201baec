package browsertest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// jobPage makes a job of the test's own, and shows its page to a user.
func jobPage(t *testing.T, user, implementation string, c job.Config) (*browser.Tab, *ops.Job) {
	t.Helper()
	browser.Require(t)
	town.Job(t, implementation, c)
	tab := enter(t, user, "/namespaces/"+world.Namespace+"/jobs/"+c.Name)
	tab.See("Live")
	return tab, town.Ops(t).Job(c.Name)
}

// jobComes waits until the registry has a job as it should be.
func jobComes(t *testing.T, j *ops.Job, what string, is func(*ops.JobDetail) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		d, err := j.Describe(ctx)
		if err == nil && is(d) {
			return
		}
		if !sleep.For(ctx, 20*time.Millisecond) {
			t.Fatalf("%s: it is not so in %+v (%v)", what, d, err)
		}
	}
}

// itemRow is the expression of the text that the page shows of an item.
func itemRow(item int) string {
	return fmt.Sprintf("[...document.querySelectorAll('#items tbody tr')].find(r => r.querySelector('strong').textContent === '%d').innerText", item)
}

// Who runs an item now says which one and with what parameter, sees what that would do, and how it has ended.
func TestJobTrigger(t *testing.T) {
	t.Parallel()
	tab, j := jobPage(t, world.Operator, world.Count, job.Config{Name: "op-trigger", ShardingTotalCount: 2})
	tab.See("One-off job: it runs when it is triggered.")
	tab.Click("button", "Trigger")
	tab.Fill("Items", "1-")
	tab.See("Write numbers and ranges, such as 0-3, 7.")
	tab.Fill("Items", "1")
	tab.Fill("Parameter", "by hand")
	tab.Click("button", "Preview")
	tab.WaitFor("document.querySelector('dialog .changes li')")
	audit(t, tab, "a dialog")
	if r, err := j.Requests(t.Context()); err != nil || len(r) > 0 {
		t.Errorf("a preview has made %v (%v)", r, err)
	}
	tab.Click("button", "Trigger")
	jobComes(t, j, "item 1 alone has run by hand", func(d *ops.JobDetail) bool {
		return d.Items[0].Last == nil && d.Items[1].Last != nil && d.Items[1].Last.Source == "MANUAL"
	})
	tab.See("Ended by " + world.Operator)
	tab.Click("button", "Show results")
	tab.See("Item 1 OK")
	tab.WaitFor(itemRow(1) + ".includes('Manual')")
}

// A pause has a reason that everybody sees; who ends it says what becomes of its ticks.
func TestJobPause(t *testing.T) {
	t.Parallel()
	tab, j := jobPage(t, world.Operator, world.Count, job.Config{Name: "op-pause", Cron: "0 0 3 * * ?", ShardingTotalCount: 1})
	tab.Click("button", "Pause")
	tab.See("Namespace " + world.Namespace + " Production · Job op-pause")
	tab.Fill("Why", "the warehouse moves")
	tab.Click("checkbox", "Make up for missed ticks afterwards")
	tab.Click("button", "Pause")
	jobComes(t, j, "it is paused", func(d *ops.JobDetail) bool {
		p := d.Info.Paused
		return p.By == world.Operator && p.Why == "the warehouse moves" && p.MakeUp
	})
	tab.See("Paused by " + world.Operator + " since")
	tab.See("Missed ticks are made up for once when it ends. the warehouse moves")
	tab.Click("button", "Resume")
	tab.Click("checkbox", "Make up for ticks that were missed in the pause") // the pause has said so
	tab.Click("button", "Resume")
	jobComes(t, j, "it is not paused", func(d *ops.JobDetail) bool { return d.Info.Paused.Since.IsZero() })
	tab.NotSee("Paused by")
	tab.See("Pause")
}

// What may be done to an item stands in its row, and shows there.
func TestJobItems(t *testing.T) {
	t.Parallel()
	tab, j := jobPage(t, world.Operator, world.Count, job.Config{
		Name: "op-items", Cron: "0 0 3 * * ?", ShardingTotalCount: 3, ShardingItemParameters: "0=Berlin,1=上海,2=\u202eLima", // which would turn what follows
	})
	tab.See(`\u202eLima`)
	tab.Fill("Find items", "上海")
	tab.See("1 of 3 items")
	tab.Click("button", "Actions: Item 1")
	tab.Click("button", "Disable")
	tab.See("They do not run until somebody enables them.")
	tab.Click("button", "Disable")
	jobComes(t, j, "item 1 is disabled", func(d *ops.JobDetail) bool { return d.Items[1].Disabled && !d.Items[0].Disabled })
	tab.Fill("Find items", "")
	tab.Choose("Show", "Disabled (1)")
	tab.See("1 of 3 items")
	tab.Click("button", "With these 1")
	tab.Click("button", "Enable")
	jobComes(t, j, "item 1 is enabled", func(d *ops.JobDetail) bool { return !d.Items[1].Disabled })
	tab.See("No item is like that.")
	tab.Click("button", "Show all")

	tab.Click("button", "Actions: Item 2")
	tab.Click("button", "Pin")
	audit(t, tab, "a dialog with choices")
	tab.Fill("Which", world.Address(1))
	tab.Click("button", "Pin")
	jobComes(t, j, "item 2 is pinned", func(d *ops.JobDetail) bool {
		p := d.Items[2].Pin
		return p != nil && p.Address == world.Address(1) && d.Items[2].Server == world.Address(1)
	})
	tab.WaitFor(itemRow(2) + ".includes('Pinned to " + world.Address(1) + "')")
	tab.Click("button", "Actions: Item 2")
	tab.Click("button", "End the pin")
	jobComes(t, j, "item 2 is not pinned", func(d *ops.JobDetail) bool { return d.Items[2].Pin == nil })
}

// A run is killed from the row of its item, and the row tells how it has ended.
func TestJobKill(t *testing.T) {
	t.Parallel()
	tab, j := jobPage(t, world.Operator, world.Rebuild, job.Config{Name: "op-kill", ShardingTotalCount: 2})
	if _, err := j.Trigger(t.Context(), job.TriggerRequest{Items: []int{1}}); err != nil {
		t.Fatal(err)
	}
	tab.WaitFor(itemRow(1) + ".includes('Running')")
	tab.See("1 / 2")
	tab.Click("button", "Actions: Item 1")
	tab.Click("button", "Kill")
	tab.See("What is half done stays half done.")
	tab.Click("button", "Preview")
	tab.See("1 run would end.")
	tab.Click("button", "Kill")
	jobComes(t, j, "it was killed", func(d *ops.JobDetail) bool {
		return d.Items[1].Last != nil && d.Items[1].Last.Outcome == "KILLED"
	})
	tab.WaitFor(itemRow(1) + ".includes('Killed')")
	tab.Choose("Show", "Failed last (0)") // an operator wanted it
}

// What has failed runs again, and a request that waits ends when somebody wants that.
func TestJobRequests(t *testing.T) {
	t.Parallel()
	tab, j := jobPage(t, world.Operator, world.Mail, job.Config{Name: "op-requests", ShardingTotalCount: 2})
	if _, err := j.Trigger(t.Context(), job.TriggerRequest{}); err != nil {
		t.Fatal(err)
	}
	tab.WaitFor(itemRow(1) + ".includes('Failed') && " + itemRow(1) + ".includes('" + world.Failure + "')")
	tab.See("1 item failed last")
	tab.Click("button", "Actions")
	tab.Click("button", "Retry what failed")
	tab.Click("button", "Retry what failed")
	jobComes(t, j, "item 1 has run again", func(d *ops.JobDetail) bool {
		return len(d.Requests) == 2 && d.Requests[1].Source == "RETRY" && slices.Equal(d.Requests[1].Through, []int{1})
	})
	tab.See("Retry Ended 1 of 1 item failed by " + world.Operator)

	if err := j.Pin(t.Context(), 0, ops.PinRequest{Address: "127.0.0.99", Strict: true}); err != nil {
		t.Fatal(err)
	}
	tab.WaitFor(itemRow(0) + ".includes('Nobody')")
	if _, err := j.Trigger(t.Context(), job.TriggerRequest{Items: []int{0}}); err != nil {
		t.Fatal(err)
	}
	tab.See("Manual Goes on")
	tab.Click("button", "End the request")
	tab.See("What has not begun does not begin.")
	tab.Click("button", "End the request")
	jobComes(t, j, "the request is over", func(d *ops.JobDetail) bool { return !d.Requests[2].Ended.IsZero() })
	tab.NotSee("Goes on")
	tab.Eval("document.querySelector('.job-rows button').click()", new(any))
	tab.See("Item 0 Skipped")
}

// All of it is done by keys alone.
func TestJobByKeyboard(t *testing.T) {
	t.Parallel()
	tab, j := jobPage(t, world.Operator, world.Count, job.Config{Name: "op-keys", Cron: "0 0 3 * * ?", ShardingTotalCount: 1})
	focus := func(what string) { tab.WaitFor("document.activeElement.textContent === '" + what + "'") }
	tab.Eval("document.querySelector('#tools details summary').focus()", new(any))
	tab.Press("Enter")
	tab.WaitFor("document.querySelector('#tools details').open")
	tab.Press("Escape")
	tab.WaitFor("!document.querySelector('#tools details').open")
	focus("Actions")
	tab.Press("Enter")
	for _, name := range []string{"Retry what failed", "Run past ticks", "Reshard"} {
		tab.Press("Tab")
		focus(name)
	}
	tab.Press("Enter")
	tab.See("Pins hold.")
	tab.Press("Escape")
	tab.WaitFor("!document.querySelector('dialog')")
	focus("Actions")
	tab.Press("Shift+Tab")
	focus("Pause")
	tab.Press("Enter")
	tab.Press("Tab") // from the box to the reason
	tab.Press("Enter")
	jobComes(t, j, "it is paused", func(d *ops.JobDetail) bool { return d.Info.Paused.By == world.Operator })
	focus("Resume")
}

// Servers and instances leave a job when they are told to, and the items move on the page, too.
func TestJobMembers(t *testing.T) {
	t.Parallel()
	tab, j := jobPage(t, world.Operator, world.Count, job.Config{Name: "op-members", Cron: "0 0 3 * * ?", ShardingTotalCount: 3})
	tab.Click("button", "Actions: "+world.Address(0))
	tab.Click("button", "Disable")
	tab.See("Its items of this job go to others.")
	tab.Click("button", "Disable")
	jobComes(t, j, "no item is on the server", func(d *ops.JobDetail) bool {
		for _, i := range d.Items {
			if i.Server == world.Address(0) || i.Instance == "" {
				return false
			}
		}
		return d.Info.DisabledServers == 1
	})
	tab.See("1 disabled server")
	for item := range 3 {
		tab.WaitFor("!" + itemRow(item) + ".includes('" + world.Address(0) + "')")
	}
	tab.Click("button", "Actions")
	tab.Click("button", "Enable")
	tab.NotSee("1 disabled server")

	d, err := j.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gone := d.Instances[2]
	tab.Click("button", "Actions: "+gone.ID)
	tab.Click("button", "Shut down")
	tab.See("It comes back when its process starts again.")
	tab.Click("button", "Shut down")
	jobComes(t, j, "the instance is gone", func(d *ops.JobDetail) bool { return len(d.Instances) == 2 })
	tab.WaitFor("document.querySelectorAll('[title=\"" + gone.ID + "\"]').length === 0")
}

// Ticks of the past are listed before they run.
func TestJobBackfill(t *testing.T) {
	t.Parallel()
	tab, j := jobPage(t, world.Operator, world.Count, job.Config{Name: "op-backfill", Cron: "0 30 * * * ?", ShardingTotalCount: 1})
	tab.Click("button", "Actions")
	tab.Click("button", "Run past ticks")
	tab.Fill("From (UTC)", "2026-01-05T08:00")
	tab.Fill("To (UTC)", "2026-01-05T10:00")
	tab.Click("button", "Preview")
	tab.See("2 ticks for each item:")
	tab.Click("button", "Run past ticks")
	jobComes(t, j, "two ticks have run", func(d *ops.JobDetail) bool { return len(d.Requests) == 1 && len(d.Requests[0].Through) == 1 })
	tab.Click("button", "Show results")
	tab.See("2 runs, 0 failed")
}

// Who removes a job sees what goes before, and how to get it back afterwards.
func TestJobRemove(t *testing.T) {
	t.Parallel()
	tab, j := jobPage(t, world.Admin, world.Count, job.Config{Name: "to-remove", Cron: "0 0 3 * * ?", ShardingTotalCount: 1})
	tab.Click("button", "Actions")
	tab.Click("button", "Remove the job")
	tab.See("to-remove · removed")
	tab.Fill("Why", "nobody needs it")
	tab.Click("button", "Remove the job")
	tab.See("The job was removed while you looked.")
	if _, err := j.Info(t.Context()); err == nil {
		t.Error("the job is still there")
	}
	tab.Expect("GET /api/v1/namespaces/shop/jobs/to-remove: 404")
	tab.Open("/namespaces/" + world.Namespace + "/jobs/to-remove")
	tab.See("The job was removed by " + world.Admin)
	tab.See("nobody needs it")
	tab.Click("button", "Allow it again")
	tab.WaitFor("document.querySelector('dialog .preview')")
	tab.Click("button", "Allow it again")
	tab.See("Programs may set it up again.")
	removed, err := town.Ops(t).Removed(t.Context())
	for _, r := range removed {
		if r.Name == "to-remove" {
			t.Errorf("it is still not allowed: %+v", r)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// Nobody is offered what he may not do.
func TestJobForRoles(t *testing.T) {
	t.Parallel()
	tab, _ := jobPage(t, world.Operator, world.Count, job.Config{Name: "op-roles", Cron: "0 0 3 * * ?", ShardingTotalCount: 1})
	tab.Click("button", "Actions")
	tab.See("Reshard")
	tab.NotSee("Remove the job")
	tab.Open("/namespaces/" + world.Namespace + "/jobs/" + world.Quick)
	tab.See("Counts orders")
	tab.NotSee("Trigger")
	tab.Click("button", "Actions: Item 0")
	tab.WaitFor("[...document.querySelectorAll('details[open] .list button')].map(b => b.textContent).join() === 'History'")
}
