package browsertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// configure makes a job of the test's own, and shows a page of it to a user.
func configure(t *testing.T, user, page string, c job.Config) (*browser.Tab, *ops.Job) {
	t.Helper()
	browser.Require(t)
	town.Job(t, world.Count, c)
	return enter(t, user, "/namespaces/"+world.Namespace+"/jobs/"+c.Name+"/"+page), town.Ops(t).Job(c.Name)
}

// configOf is the configuration of a job, and its version.
func configOf(t *testing.T, j *ops.Job) (job.Config, int64) {
	t.Helper()
	s, err := j.Settings(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s.Config, s.Version
}

// change changes the configuration of a job as somebody else does.
func change(t *testing.T, j *ops.Job, what func(*job.Config)) {
	t.Helper()
	c, version := configOf(t, j)
	what(&c)
	if err := j.Update(context.Background(), ops.UpdateRequest{Config: c, Version: version}); err != nil {
		t.Fatal(err)
	}
}

// An expression is built of choices and told in words; what is wrong stands at its field; what changes is seen before it is saved.
func TestSettings(t *testing.T) {
	t.Parallel()
	tab, j := configure(t, world.Admin, "settings", job.Config{Name: "settings-form", Cron: "0 0 3 * * ?", ShardingTotalCount: 2, TimeZone: "Asia/Shanghai"})
	tab.See("at 03:00 every day")
	tab.Choose("Runs", "on days of the week")
	tab.Fill("At", "04:30")
	tab.Click("checkbox", "Sat")
	tab.See("at 04:30 on Mondays to Saturdays")
	tab.See("04:30:00 UTC+8")

	tab.Expect("POST /api/v1/namespaces/shop/jobs/settings-form/plan: 422")
	tab.Fill("Number of items", "0")
	tab.See("1 to 100000 are allowed")
	tab.See("1 setting is wrong.")
	tab.Fill("Number of items", "1")
	tab.NotSee("1 to 100000 are allowed")
	tab.Click("button", "Add a property")
	tab.Fill("Name", "count.kind")
	tab.Fill("Value of count.kind", "all\nof <b>them</b>")

	refuses(t, tab, "Review and save")
	tab.Click("button", "Review and save")
	tab.See("item 1 goes, with its last outcome and cursor")
	tab.See("Next ticks then")
	audit(t, tab, "what the configuration changes")
	tab.Click("button", "Save")
	tab.See("The configuration is saved.")
	tab.See("Nothing is changed.")
	c, _ := configOf(t, j)
	if c.Cron != "0 30 4 ? * MON-SAT" || c.ShardingTotalCount != 1 || c.Props["count.kind"] != "all\nof <b>them</b>" || c.TimeZone != "Asia/Shanghai" {
		t.Errorf("the configuration is %+v", c)
	}
}

// Who chooses a calendar sees what it leaves out, and when the job would run with it.
func TestSettingsWithCalendar(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	o := town.Ops(t)
	if _, err := o.PutCalendar(t.Context(), ops.PutCalendarRequest{Name: "settings-mondays", Document: []byte("timeZone: UTC\nonly: [MON]\n"), New: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.RemoveCalendar(context.Background(), ops.RemoveCalendarRequest{Name: "settings-mondays", Force: true}); err != nil {
			t.Error(err)
		}
	})
	tab, j := configure(t, world.Admin, "settings", job.Config{Name: "settings-calendar", Cron: "0 0 3 * * ?", ShardingTotalCount: 1, TimeZone: "UTC"})
	tab.See("Next ticks in UTC:")
	tab.Click("checkbox", "settings-mondays")
	tab.See("Next ticks with all expressions, calendars and the end")
	tab.WaitFor(`(() => { const ticks = [...document.querySelectorAll(".ticks li")]; return ticks.length === 5 && ticks.every((t) => t.textContent.startsWith("Mon ")); })()`)
	tab.Click("button", "What these calendars leave out")
	tab.WaitFor(`[...document.querySelectorAll(".month tbody tr")].some((tr) => tr.cells[0].className === "" && tr.cells[1].className === "whole")`)
	tab.Click("button", "Review and save")
	tab.Click("button", "Save")
	tab.See("The configuration is saved.")
	if c, _ := configOf(t, j); !slices.Equal(c.Calendars, []string{"settings-mondays"}) {
		t.Errorf("the configuration is %+v", c)
	}
}

// Text and form show the same configuration, and who leaves is asked as long as it is not saved.
func TestSettingsAsText(t *testing.T) {
	t.Parallel()
	tab, j := configure(t, world.Admin, "settings", job.Config{Name: "settings-text", Cron: "0 0 3 * * ?", ShardingTotalCount: 2})
	asks := func() (is bool) {
		tab.Eval(`(() => { const e = new Event("beforeunload", { cancelable: true }); dispatchEvent(e); return e.defaultPrevented; })()`, &is)
		return is
	}
	tab.See("at 03:00 every day")
	if asks() {
		t.Error("who has changed nothing is asked when he leaves")
	}
	tab.Fill("Description", "as a form")
	tab.Click("button", "Edit as text")
	var text string
	tab.WaitFor(`document.querySelector("#document")`)
	tab.Eval(`document.querySelector("#document").value`, &text)
	if !strings.Contains(text, "description: as a form\n") {
		t.Fatalf("the text is\n%s", text)
	}
	tab.Expect("plan: 422")
	tab.Fill("Configuration as text", text+"nobodyKnows: [")
	tab.See("YAML or JSON is allowed")
	tab.Fill("Configuration as text", strings.Replace(text, "as a form", "as text", 1)+"label: gpu\n")
	tab.Click("button", "Edit as form")
	tab.WaitFor(`document.querySelector("#setting-label")?.value === "gpu" && document.querySelector("#setting-description").value === "as text"`)
	if !asks() {
		t.Error("who leaves without saving is not asked")
	}
	tab.Click("button", "Review and save")
	tab.Click("button", "Save")
	tab.See("The configuration is saved.")
	if asks() {
		t.Error("who has saved is asked when he leaves")
	}
	if c, _ := configOf(t, j); c.Label != "gpu" || c.Description != "as text" {
		t.Errorf("the configuration is %+v", c)
	}
}

// What somebody else saves meanwhile is shown at once, and both changes are kept.
func TestSettingsConflict(t *testing.T) {
	t.Parallel()
	tab, j := configure(t, world.Admin, "settings", job.Config{Name: "settings-conflict", Cron: "0 0 3 * * ?", ShardingTotalCount: 2})
	tab.Fill("Description", "of mine")
	tab.Fill("Parameter of the job", "mine alone")
	tab.See("2 settings are changed")
	tab.Allow("settings-conflict/plan: 412") // if it is checked at that moment
	change(t, j, func(c *job.Config) { c.Description, c.Failover = "of theirs", true })
	tab.See("Somebody else has changed this configuration meanwhile")
	tab.See("You have both changed 1 setting")
	audit(t, tab, "a conflict")
	tab.Click("radio", "of theirs")
	tab.Click("button", "Go on from the new version")
	tab.See("1 setting is changed")
	tab.Click("button", "Review and save")
	tab.Click("button", "Save")
	tab.See("The configuration is saved.")
	if c, _ := configOf(t, j); c.Description != "of theirs" || !c.Failover || c.JobParameter != "mine alone" {
		t.Errorf("the configuration is %+v", c)
	}
	change(t, j, func(c *job.Config) { c.Description = "later" }) // nothing is edited here, so it is just shown
	tab.WaitFor(`document.querySelector("#setting-description").value === "later"`)
	tab.NotSee("Somebody else")

	tab.Allow("settings-conflict/plan: 404") // the new version may be checked at that moment
	if err := j.Remove(context.Background(), ops.RemoveRequest{}); err != nil {
		t.Fatal(err)
	}
	tab.See("The job has been removed.")
}

// A text that cannot be read is kept when somebody else saves meanwhile.
func TestSettingsConflictKeepsText(t *testing.T) {
	t.Parallel()
	tab, j := configure(t, world.Admin, "settings", job.Config{Name: "settings-unread", Cron: "0 0 3 * * ?", ShardingTotalCount: 2})
	tab.Click("button", "Edit as text")
	const text = "cron: [half written"
	tab.Allow("settings-unread/plan: 4") // 422: it cannot be read; 412: if it is checked at that moment
	tab.Fill("Configuration as text", text)
	change(t, j, func(c *job.Config) { c.Description = "of theirs" })
	tab.See("Somebody else has changed this configuration meanwhile")
	tab.Click("button", "Go on from the new version")
	tab.NotSee("Somebody else")
	tab.WaitFor(fmt.Sprintf(`[...document.querySelectorAll("textarea")].some((t) => t.value === %q)`, text))
	if c, _ := configOf(t, j); c.Description != "of theirs" {
		t.Errorf("the configuration is %+v", c)
	}
}

// Who may not change a job sees how it is configured.
func TestSettingsForViewers(t *testing.T) {
	t.Parallel()
	tab, _ := configure(t, world.Viewer, "settings", job.Config{Name: "settings-view", Cron: "0 0 3 * * ?", ShardingTotalCount: 2, Description: "to look at"})
	tab.See("at 03:00 every day")
	tab.WaitFor(`document.querySelector("#setting-description").value === "to look at"`)
	tab.NotSee("Review and save")
	tab.NotSee("Change the implementation")
	tab.WaitFor(`[...document.querySelectorAll("#page form :is(input, select, textarea)")].every((e) => e.disabled)`)
}

// Versions are compared, and one is put in force again.
func TestRollBack(t *testing.T) {
	t.Parallel()
	// The audit keeps what there was of a job of the same name before.
	name := fmt.Sprintf("settings-versions-%d", time.Now().UnixNano())
	tab, j := configure(t, world.Admin, "changes", job.Config{Name: name, Cron: "0 0 3 * * ?", ShardingTotalCount: 2})
	tab.See("The audit knows of no earlier version of this configuration.")
	change(t, j, func(c *job.Config) { c.Cron = "0 0 4 * * ?" })
	if _, err := j.Pause(context.Background(), ops.PauseRequest{Why: "moved <away>"}); err != nil {
		t.Fatal(err)
	}
	tab.Open("/namespaces/" + world.Namespace + "/jobs/" + name + "/changes")
	tab.See("“moved <away>”")
	tab.Choose("What was done", "configuration changed")
	tab.NotSee("“moved <away>”")
	tab.Click("button", "Show what has changed")
	tab.WaitFor(`document.querySelector(".entries ins")?.textContent.includes("cron: 0 0 4 * * ?")`)
	audit(t, tab, "changes")
	tab.Click("button", tab.Text("#page .tools button"))
	tab.See("Next ticks then")
	tab.Click("button", "Roll back")
	tab.See("The configuration is again that of")
	tab.WaitFor(`document.querySelectorAll(".entries > li").length === 2`) // with what brought it back
	if c, _ := configOf(t, j); c.Cron != "0 0 3 * * ?" {
		t.Errorf("the configuration is %+v", c)
	}
}

// A calendar is written with a look at what it leaves out, kept from one who was slower, and removed.
func TestCalendar(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	tab := enter(t, world.Admin, "/namespaces/"+world.Namespace+"/calendars")
	ctx := context.Background()
	o := town.Ops(t)
	tab.Click("button", "Add a calendar")
	tab.Fill("Name", "settings-days")
	tab.Expect("GET /api/v1/namespaces/shop/calendars/settings-days: 404")
	tab.Click("button", "Go on")
	tab.See("This calendar is not there yet.")
	tab.Expect("POST /api/v1/namespaces/shop/calendars:plan?")
	tab.Fill("Calendar as text", "weekly: [SUN")
	tab.See("There is no preview while the text cannot be read.")
	tab.Fill("Calendar as text", "timeZone: Asia/Shanghai\nweekly: [SAT, 'FRI 18:00-24:00']\n")
	tab.WaitFor(`[...document.querySelectorAll(".month tr")].filter((tr) => tr.cells[5]?.className === "whole" && tr.cells[6]?.className !== "whole" && tr.cells[4].className === "part").length >= 3`)
	audit(t, tab, "a calendar")
	tab.Click("button", "Create the calendar")
	tab.See("No job names this calendar.")
	tab.Click("button", "Create the calendar")
	tab.See("The calendar is saved.")
	c, err := o.Calendar(ctx, "settings-days")
	if err != nil || !strings.Contains(string(c.Document), "SAT, 'FRI 18:00-24:00'") {
		t.Fatalf("the calendar is %+v (%v)", c, err)
	}

	town.Job(t, world.Count, job.Config{Name: "settings-named", Cron: "0 0 3 ? * SAT", ShardingTotalCount: 1, Calendars: []string{"settings-days"}})
	tab.Fill("Calendar as text", "timeZone: Asia/Shanghai\nweekly: [SAT]\n")
	if _, err := o.PutCalendar(ctx, ops.PutCalendarRequest{Name: "settings-days", Document: []byte("timeZone: UTC\nweekly: [SUN]\n"), Version: &c.Version}); err != nil {
		t.Fatal(err)
	}
	tab.Expect("PUT /api/v1/namespaces/shop/calendars/settings-days?dryRun=true: 412")
	tab.Click("button", "Review and save")
	tab.See("Somebody else has changed this calendar meanwhile")
	tab.Click("button", "Go on with my text")
	tab.Click("button", "Review and save")
	tab.See("1 job goes by it:")
	tab.Click("button", "Save")
	// The notice of the first time may still be shown.
	tab.WaitFor(`[...document.querySelectorAll("button")].some((b) => b.textContent === "Review and save" && b.disabled)`)
	tab.See("The calendar is saved.")

	tab.Click("button", "Remove the calendar")
	tab.See("1 job names this calendar.")
	tab.Click("checkbox", "Remove it all the same")
	tab.Click("button", "Remove")
	tab.WaitFor(`location.pathname.endsWith("/calendars")`)
	tab.NotSee("settings-days")
	all, err := o.Calendars(ctx)
	if err != nil || slices.ContainsFunc(all, func(c *ops.Calendar) bool { return c.Name == "settings-days" }) {
		t.Errorf("calendars are %v (%v)", all, err)
	}
}
