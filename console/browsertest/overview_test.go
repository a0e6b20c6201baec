package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

const overview = "/namespaces/" + world.Namespace

// enterOverview opens the overview. It asks for the items of what runs, and other tests remove such jobs meanwhile.
func enterOverview(t *testing.T, user string) *browser.Tab {
	t.Helper()
	tab := enter(t, user, overview)
	tab.Allow("/items?limit=1000: 404")
	tab.See("The last 24 hours")
	return tab
}

// The first page has a card for each namespace, which says what the API says.
func TestHome(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Viewer, "/")
	tab.WaitFor(`fetch("api/v1/namespaces/shop/jobs?limit=1").then(r => r.json()).then(({totals: t}) => {
		const shown = [...document.querySelectorAll(".spacecard")].find(c => c.querySelector("h2").textContent === "shop").innerText.split(/\s+/).join(" ");
		return shown.includes(t.jobs + " jobs " + t.running + " running " + t.instances + " instances") && shown.includes(t.neverStarted + " never started");
	})`)
	tab.See("There are no jobs yet.")
	tab.NotSee("Connections")
	tab.Click("link", "garage")
	tab.WaitFor("location.pathname === '/namespaces/garage'")
	tab.See("An admin of the namespace can create one.")
	tab.See("This namespace has no history")
}

// Numbers of jobs follow what happens, and lead to the jobs that they count.
func TestOverviewCountsJobs(t *testing.T) {
	t.Parallel()
	const name = "overview-paused"
	town.Job(t, world.Count, job.Config{Name: name, Cron: "0 0 3 * * ?", ShardingTotalCount: 1})
	tab := enterOverview(t, world.Viewer)
	tab.WaitFor("document.querySelector('.tile') && (window.isSame = true)")
	if _, err := town.Ops(t).Job(name).Pause(t.Context(), ops.PauseRequest{Why: "the warehouse moves"}); err != nil {
		t.Fatal(err)
	}
	tab.WaitFor(`fetch("../api/v1/namespaces/shop/jobs?limit=1").then(r => r.json()).then(({totals: t}) => {
		const shows = (filter, n) => Number(document.querySelector('a.tile[href$="' + filter + '"] .count').textContent) === n;
		return t.paused > 0 && shows("paused=true", t.paused) && shows("status=NEVER_STARTED", t.neverStarted) && shows("/jobs", t.jobs) && window.isSame;
	})`)
	tab.Eval(`document.querySelector('a.tile[href$="paused=true"]').click()`, new(any))
	tab.WaitFor("location.pathname.endsWith('/jobs') && location.search === '?paused=true'")
	tab.See(name)
	tab.NotSee(world.Orphan)
}

// What runs is there while it runs, with where, and leads to the run.
func TestOverviewShowsWhatRuns(t *testing.T) {
	t.Parallel()
	const name = "a-overview-run" // the first ones are shown
	town.Job(t, world.Rebuild, job.Config{Name: name, ShardingTotalCount: 1})
	tab := enterOverview(t, world.Viewer)
	tab.See("What runs now")
	o := town.Ops(t).Job(name)
	if _, err := o.Trigger(t.Context(), job.TriggerRequest{}); err != nil {
		t.Fatal(err)
	}
	row := fmt.Sprintf(`[...document.querySelectorAll(".runs li")].find(l => l.innerText.startsWith("%s item 0"))`, name)
	tab.WaitFor(row)
	items, err := o.Items(t.Context())
	if err != nil || len(items) != 1 || items[0].Run == nil {
		t.Fatalf("items %+v, %v", items, err)
	}
	var title string
	tab.Eval(row+".querySelector('.instance').title", &title)
	if title != items[0].Run.Instance {
		t.Errorf("it runs at %s, and not at %s", items[0].Run.Instance, title)
	}
	tab.WaitFor(row + `.querySelector('a[href$="/` + items[0].Run.TaskID + `"]')`)
	if _, err := o.Kill(t.Context(), ops.KillRequest{}); err != nil {
		t.Fatal(err)
	}
	tab.WaitFor("!" + row)
}

// The strip of the last day has what the history has, is one stop on the way of Tab, and leads to the executions.
func TestOverviewShowsTheLastDay(t *testing.T) {
	t.Parallel()
	tab := enterOverview(t, world.Viewer)
	failures := fmt.Sprintf(`fetch("/api/v1/namespaces/shop/history/counts?job=%s").then(r => r.json()).then(c => c.rows.reduce((n, r) => n + (r.executions.FAILED ?? 0), 0))`, world.Failing)
	tab.WaitFor(failures + ".then(n => n > 0)")
	tab.Open(overview)
	row := fmt.Sprintf(`[...document.querySelectorAll(".strip tbody tr")].find(r => r.querySelector("th").textContent === %q)`, world.Failing)
	tab.WaitFor(row)
	var shown, failed int
	tab.Eval("Number("+row+`.querySelector("td.num").textContent)`, &shown)
	tab.Eval(failures, &failed)
	if shown == 0 || shown > failed {
		t.Errorf("%d failures are shown, and there are %d", shown, failed)
	}
	tab.WaitFor(`fetch("/api/v1/namespaces/shop/history/missed").then(r => r.json()).then(m => m.rows.reduce((n, r) => n + r.madeUp, 0)).then(missed => {
		const shown = Number(document.querySelector(".strip tr.all td.num:last-child").textContent);
		return shown <= missed && shown === [...document.querySelectorAll(".strip tr.all .missed")].reduce((n, c) => n + Number(/ (\d+) ticks? missed/.exec(c.title)[1]), 0);
	})`)
	tab.WaitFor(`document.querySelectorAll(".strip [tabindex='0']").length === 1`)
	tab.Eval(`document.querySelector(".strip [tabindex='0']").focus()`, new(any))
	tab.Press("ArrowDown")
	var place string
	tab.Eval(`document.activeElement.getAttribute("aria-label")`, &place)
	if !strings.Contains(place, "executions") { // none have failed in an hour that has just begun
		t.Errorf("the focus is on %q", place)
	}
	tab.Eval(row+`.querySelector(".l1, .l2, .l3, .l4").focus()`, new(any))
	tab.Press("Enter")
	tab.WaitFor(fmt.Sprintf("location.pathname.endsWith('/history') && new URLSearchParams(location.search).get('job') === %q && location.search.includes('FAILED')", world.Failing))
}

// The doctor's findings are there with what to do, and can be narrowed by how bad they are.
func TestOverviewShowsFindings(t *testing.T) {
	t.Parallel()
	const title, advice = "Nobody offers the implementation", "or a Runner that offers it"
	tab := enterOverview(t, world.Admin)
	tab.See(title)
	tab.See(advice)
	tab.Open(overview + "?severity=info")
	tab.See("Examined")
	tab.NotSee(title)
	const note = `[...document.querySelectorAll(".severities [aria-pressed=true]")].find(b => b.innerText.startsWith("Note"))`
	tab.WaitFor(note)
	tab.Eval(note+".click()", new(any))
	tab.See(title)
	tab.WaitFor("location.search === ''")
	// Jobs of other tests come and go in the list: a mouse could press one place and leave the other.
	tab.Eval(fmt.Sprintf(`[...document.querySelectorAll("main a")].find(a => a.innerText.trim() === %q).click()`, world.Orphan), new(any))
	tab.WaitFor("location.pathname.endsWith('/jobs/" + world.Orphan + "')")
}

// A finding says where else the same is wrong, and what follows from it.
func TestFindingShowsItsEffects(t *testing.T) {
	t.Parallel()
	tab := enterOverview(t, world.Admin)
	tab.See("Nobody offers the implementation")
	const report = `{"at": "2026-03-01T12:00:00Z", "jobs": 1, "looks": 2, "findings": [{
		"kind": "fault", "severity": "critical", "job": "settle", "instance": "10.0.0.1@-@1-x", "others": [{"instance": "10.0.0.2@-@1-y"}], "moreOthers": 48,
		"cause": "all threads are busy", "advice": "end what hangs",
		"effects": [{"kind": "item-overdue", "severity": "critical", "instance": "10.0.0.1@-@1-x", "items": [0, 1, 2], "more": 49, "cause": "they should have begun"}]
	}]}`
	tab.Eval("(() => { const real = window.fetch; window.fetch = (to, o) => String(to.url ?? to).includes('/findings') ? Promise.resolve(new Response(JSON.stringify("+report+"), { headers: { 'Content-Type': 'application/json' } })) : real(to, o); return 0; })()", new(any))
	tab.Eval(`[...document.querySelectorAll(".examined button")].find(b => b.innerText.trim() === "Look again").click()`, new(any))
	for _, text := range []string{"All threads are busy", "and 49 more", "Items are overdue", "items 0", "They should have begun"} {
		tab.See(text)
	}
	audit(t, tab, "a finding with its effects")
}

// A finding has a button for what it advises, beside the command, for those who may.
func TestFindingOffersItsAction(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	const name = "op-advised"
	town.Job(t, world.Count, job.Config{Name: name, Cron: "0 0 3 * * ?", ShardingTotalCount: 1})
	j := town.Ops(t).Job(name)
	if _, err := j.Pause(t.Context(), ops.PauseRequest{Why: "the warehouse moves"}); err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{world.Viewer, world.Operator} {
		tab := enter(t, user, overview+"/jobs/"+name)
		tab.See("elasticjob resume " + name)
		if user == world.Viewer {
			tab.WaitFor("!document.querySelector('.finding .command button[aria-label^=Resume]')")
			continue
		}
		tab.Click("button", "Resume: "+name)
		tab.See("Ticks begin again.")
		tab.WaitFor("document.querySelector('dialog[open] .preview').innerText.includes('1 job')")
		tab.Click("button", "Resume")
	}
	jobComes(t, j, "it is not paused", func(d *ops.JobDetail) bool { return d.Info.Paused.Since.IsZero() })
}

// Everybody can use both pages with all that they show.
func TestOverviewForEverybody(t *testing.T) {
	t.Parallel()
	tab := enterOverview(t, world.Admin)
	for _, look := range []struct {
		width    int
		dark     bool
		language string
		sees     []string
	}{
		{1280, false, "en-US", []string{"Nobody offers the implementation", "Where it runs", world.Failing}},
		{360, true, "zh-CN", []string{"没有 Runner 提供该实现", "最近 24 小时", world.Failing}},
	} {
		tab.Emulate(look.width, 800, look.dark, look.language)
		tab.Open("/")
		tab.WaitFor("document.querySelector('.spacecard .health a')")
		audit(t, tab, "the namespaces, "+look.language)
		tab.Open(overview)
		for _, text := range look.sees {
			tab.See(text)
		}
		tab.WaitFor("document.querySelector('.strip tbody') && document.querySelector('.half meter')")
		audit(t, tab, "the overview, "+look.language)
	}
}
