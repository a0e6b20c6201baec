package browsertest

import (
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// act chooses an action on the whole job, and says yes.
func act(tab *browser.Tab, name, question string) {
	tab.Click("button", "Actions")
	tab.Click("button", name)
	tab.See(question)
	tab.Click("button", name)
}

// did waits until the audit has an action on a job.
func did(t *testing.T, tab *browser.Tab, name string, a ops.Action) {
	t.Helper()
	tab.WaitFor("!document.querySelector('dialog')")
	list, err := town.Ops(t).Audit(t.Context(), ops.AuditQuery{Job: name, Action: a})
	if err != nil || len(list) != 1 || list[0].By != world.Operator {
		t.Errorf("%s: the audit has %+v (%v)", a, list, err)
	}
}

// Whoever keeps a job from all its servers sees which, and lets it in again by one click.
func TestJobDisable(t *testing.T) {
	t.Parallel()
	tab, j := jobPage(t, world.Operator, world.Count, job.Config{Name: "op-whole", Cron: "0 0 3 * * ?", ShardingTotalCount: 3})
	act(tab, "Disable", "Disable op-whole?")
	jobComes(t, j, "no server may have items", func(d *ops.JobDetail) bool {
		return d.Info.Status == ops.JobDisabled && !slices.ContainsFunc(d.Servers, func(s ops.JobServer) bool { return s.Enabled })
	})
	tab.WaitFor("document.querySelector('.badges').innerText.includes('Disabled')")
	tab.Click("button", "Actions")
	tab.Click("button", "Enable")
	jobComes(t, j, "all servers may", func(d *ops.JobDetail) bool {
		return d.Info.Status == ops.JobOK && !slices.ContainsFunc(d.Servers, func(s ops.JobServer) bool { return !s.Enabled })
	})
	tab.WaitFor("document.querySelector('.badges').innerText.includes('OK')")
	act(tab, "Reshard", "Reshard op-whole?")
	did(t, tab, "op-whole", ops.ActionReshard)
}

// A tick that came while an item ran is forgotten.
func TestJobForgetsMisses(t *testing.T) {
	t.Parallel()
	tab, j := jobPage(t, world.Operator, world.Rebuild, job.Config{Name: "op-missed", Cron: "* * * * * ?", ShardingTotalCount: 1})
	jobComes(t, j, "a tick came while it runs", func(d *ops.JobDetail) bool { return d.Items[0].Misfire })
	tab.WaitFor(itemRow(0) + ".includes('Missed a tick')")
	tab.Click("button", "Actions")
	tab.Click("button", "Forget missed ticks")
	tab.Click("button", "Forget missed ticks")
	did(t, tab, "op-missed", ops.ActionClearMisfires)
}

// A job is the beginning of another one.
func TestJobDuplicate(t *testing.T) {
	t.Parallel()
	tab, _ := jobPage(t, world.Admin, world.Count, job.Config{Name: "to-copy", Cron: "0 0 4 * * ?", ShardingTotalCount: 2, Description: "counts at four"})
	tab.Click("button", "Actions")
	tab.Click("button", "Duplicate")
	tab.WaitFor("document.querySelector('input#cron')?.value === '0 0 4 * * ?'")
	at(t, tab, "/namespaces/"+world.Namespace+"/create?from=to-copy")
}

// Servers without an instance are forgotten; those that somebody has disabled only if that is wanted.
func TestJobClearServers(t *testing.T) {
	t.Parallel()
	const dead = "10.9.9.9"
	tab, j := jobPage(t, world.Operator, world.Count, job.Config{Name: "op-servers", Cron: "0 0 3 * * ?", ShardingTotalCount: 1})
	if err := j.DisableServersAhead(t.Context(), dead); err != nil {
		t.Fatal(err)
	}
	isThere := func(d *ops.JobDetail) bool {
		return slices.ContainsFunc(d.Servers, func(s ops.JobServer) bool { return s.Server == dead })
	}
	tab.See(dead)
	tab.Click("button", "Forget dead servers")
	tab.Click("checkbox", "Also those that are disabled")
	tab.Click("button", "Preview")
	tab.WaitFor("document.querySelector('dialog .changes')?.innerText.includes('" + dead + "')")
	jobComes(t, j, "a preview removes nothing", isThere)
	tab.Click("button", "Forget dead servers")
	jobComes(t, j, "it is gone", func(d *ops.JobDetail) bool { return !isThere(d) && len(d.Servers) == world.Workers })
	tab.WaitFor("!document.querySelector('dialog') && ![...document.querySelectorAll('main td')].some(c => c.innerText === '" + dead + "')")
}
