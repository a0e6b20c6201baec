package browsertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// The page of an execution that has failed says why, finds lines of its log, and runs it again.
func TestRunThatFailed(t *testing.T) {
	t.Parallel()
	const name = "op-run-failed"
	tab := enter(t, world.Operator, "/about")
	town.Job(t, world.Mail, job.Config{Name: name, Cron: "0 0 3 1 1 ?", ShardingTotalCount: 2})
	oneTick(t, name)
	x := executions(tab, name, "&outcomes=FAILED", 1)[0]
	tab.Open(shopPages + "/history/" + x.ID)
	for _, fact := range []string{name + " · item 1", "Failed", world.Failure, x.ID, x.Instance, "the server refuses"} {
		tab.See(fact)
	}
	var isBlind bool
	if tab.Eval("document.documentElement.classList.contains('blind')", &isBlind); isBlind {
		t.Error("the page of a run that has ended says that it is old")
	}
	tab.Fill("Search the log", "SERVER")
	tab.WaitFor("document.querySelector('.run-lines mark')?.textContent === 'server'")
	tab.Fill("Search the log", "nothing like that")
	tab.See("No line is like that.")
	tab.Fill("Search the log", "")
	tab.Choose("Level", "Errors")
	tab.See("1 of 1 line")
	audit(t, tab, "an execution")

	tab.Click("button", "Retry")
	tab.See("Run " + name + ", item 1, again?")
	tab.WaitFor("document.querySelector('dialog .preview')")
	tab.Click("button", "Retry")
	tab.See("Run " + name + ", item 1, again done.")
	executions(tab, name, "&source=RETRY", 1)

	tab.Click("button", "Run this tick again")
	tab.WaitFor("document.querySelector('dialog .preview')")
	tab.Click("button", "Run this tick again")
	again := executions(tab, name, "&source=BACKFILL", 1)[0]
	if !again.Tick.Equal(x.Tick) {
		t.Errorf("%+v is not for the tick of %+v", again, x)
	}
	tab.See("Backfill") // among those for the same tick
	tab.Click("link", "In the timeline")
	tab.WaitFor(onIt("isDrawn(1, %d)", x.Begun.UnixMilli()))
}

// Who may only look is offered nothing, and sees the log of what runs grow; who may operate ends it.
func TestRunThatIsKilled(t *testing.T) {
	t.Parallel()
	const name = "op-run-killed"
	tab := enter(t, world.Operator, "/about")
	town.Job(t, world.Rebuild, job.Config{Name: name, Cron: "0/2 * * * * ?", ShardingTotalCount: 1})
	x := executions(tab, name, "&outcomes=RUNNING", 1)[0]
	tab.Open(shopPages + "/history/" + x.ID)
	tab.See("progress percent=2")
	other := enter(t, world.Viewer, shopPages+"/history/"+x.ID)
	other.See("progress percent=4")
	other.WaitFor("![...document.querySelectorAll('button')].some((b) => b.textContent === 'Kill')")

	tab.Click("button", "Kill")
	tab.See("Kill the run of " + name + ", item 0?")
	tab.Click("button", "Preview")
	tab.See("This would change:")
	tab.WaitFor("document.querySelectorAll('dialog button.danger').length === 1")
	tab.Click("button", "Kill")
	for _, page := range []interface{ See(string) }{tab, other} {
		page.See("Killed")
	}
	if killed := executions(tab, name, "&outcomes=KILLED", 1); killed[0].ID != x.ID {
		t.Errorf("killed: %+v, not %+v", killed, x)
	}
}

// oneTick gives a job a tick, and none after it while the test runs: only the last tick can be retried.
func oneTick(t *testing.T, name string) {
	t.Helper()
	j := town.Ops(t).Job(name)
	s, err := j.Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().UTC().Add(10 * time.Second)
	s.Config.Cron, s.Config.TimeZone = fmt.Sprintf("%d %d %d * * ?", at.Second(), at.Minute(), at.Hour()), "UTC"
	if err := j.Update(t.Context(), ops.UpdateRequest{Config: s.Config, Version: s.Version}); err != nil {
		t.Fatal(err)
	}
}
