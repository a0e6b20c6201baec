package browsertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// column returns what a column of the first table of a page shows, once there are so many rows.
func column(tab *browser.Tab, name string, rows int) (cells []string) {
	tab.WaitFor(fmt.Sprintf("document.querySelectorAll('#page tbody tr').length >= %d", rows))
	tab.Eval(fmt.Sprintf("[...document.querySelectorAll('#page tbody td[data-name=%q]')].map((td) => td.innerText.split('\\n')[0])", name), &cells)
	return cells
}

// only reports whether all cells, of which there are some, are like one.
func only(cells []string, want string) bool {
	return len(cells) > 0 && !slices.ContainsFunc(cells, func(c string) bool { return c != want })
}

// What the list shows is chosen by its filters, which stand in the address, and leads to an execution and back.
func TestHistoryFilters(t *testing.T) {
	t.Parallel()
	const name = "history-filters"
	tab := enter(t, world.Viewer, "/about")
	town.Job(t, world.Mail, job.Config{Name: name, Cron: "0/2 * * * * ?", ShardingTotalCount: 2})
	executions(tab, name, "&outcomes=FAILED", 2)
	tab.Open(shopPages + "/history?tab=&span=1h")
	tab.Fill("Job", name)
	tab.WaitFor(fmt.Sprintf("location.search.includes('job=%s') && document.querySelector('#page tbody a')", name))
	tab.Click("button", "Failed")
	tab.See(world.Failure)
	tab.WaitFor("![...document.querySelectorAll('#page .badge')].some((b) => b.innerText === 'OK')")
	if items := column(tab, "Item", 2); !only(items, "1") {
		t.Errorf("items %v have failed, want 1", items)
	}
	tab.Click("button", "Failed")
	tab.Click("button", "More filters")
	tab.Fill("Items", "0-x")
	tab.See("These are no items, so all are shown.")
	tab.Fill("Items", "0")
	tab.WaitFor("[...document.querySelectorAll('#page tbody td[data-name=Item]')].map((td) => td.innerText).join('').match(/^0+$/)")
	if outcomes := column(tab, "Outcome", 2); slices.Contains(outcomes, "Failed") {
		t.Errorf("item 0: %v", outcomes)
	}
	audit(t, tab, "a filtered history")

	var id string
	tab.Eval("document.querySelector('#page tbody a').pathname.split('/').at(-1)", &id)
	// Not before the answer has come: a step whose answer is lost with its page is done again on the next one.
	tab.WaitFor(fmt.Sprintf("(a => a && (setTimeout(() => a.click()), true))(document.querySelector('#page tbody a[href$=\"%s\"]'))", id))
	tab.WaitFor(fmt.Sprintf("location.pathname.endsWith('/history/%s') && document.querySelector('#page dl')", id))
	tab.Eval("void setTimeout(() => history.back())", new(any))
	tab.WaitFor(fmt.Sprintf("location.search.includes('items=0') && document.querySelector('#items')?.value === '0' && document.querySelector('#job').value === '%s'", name))
}

// What runs comes into the list without a reload, and the file has what the list has.
func TestHistoryIsLive(t *testing.T) {
	t.Parallel()
	const name = "history-live"
	tab := enter(t, world.Viewer, "/about")
	town.Job(t, world.Count, job.Config{Name: name, ShardingTotalCount: 3})
	tab.Open(shopPages + "/history?job=" + name)
	tab.See("Nothing fits these filters.")
	if _, err := town.Ops(t).Job(name).Trigger(t.Context(), job.TriggerRequest{}); err != nil {
		t.Fatal(err)
	}
	if outcomes := column(tab, "Outcome", 3); len(outcomes) != 3 {
		t.Errorf("%v", outcomes)
	}
	tab.WaitFor("[...document.querySelectorAll('#page tbody .badge')].every((b) => b.innerText === 'OK')")
	if sources := column(tab, "Source", 3); !only(sources, "Manual") {
		t.Errorf("sources are %v", sources)
	}
	var file string
	tab.Eval("fetch([...document.querySelectorAll('a')].find((a) => a.innerText === 'Export as CSV').href).then((r) => r.text())", &file)
	if lines := strings.Split(strings.TrimSpace(file), "\n"); len(lines) != 4 || strings.Count(file, name) != 3 {
		t.Errorf("the file has %d lines:\n%s", len(lines), file)
	}
}

// Charts tell by keys and as tables what the API counts, and lead to what they count.
func TestHistoryCharts(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Viewer, shopPages+"/history?tab=charts&span=6h&outcomes=FAILED&job="+world.Failing)
	executions(tab, world.Failing, "&outcomes=FAILED", 2)
	tab.Open(shopPages + "/history?tab=charts&span=6h&outcomes=FAILED&job=" + world.Failing)
	for _, chart := range []string{"Runs by 5 minutes", "How long runs took: over time", "How long runs took: how often", "How late runs began: over time"} {
		tab.WaitFor(fmt.Sprintf("document.querySelector('[role=slider][aria-label=%q] svg')", chart))
	}
	audit(t, tab, "charts")
	tab.WaitFor("(document.querySelector('[data-chart=counts]').focus(), true)")
	tab.Press("End")
	tab.WaitFor("/Without success: [1-9]/.test(document.querySelector('[data-chart=counts]').ariaValueText)")
	tab.Click("button", "Runs by 5 minutes, as a table")
	tab.WaitFor("document.querySelectorAll('.chart')[0].querySelector('tbody tr')")
	var failed, counted int
	tab.Eval("[...document.querySelectorAll('.chart')[0].querySelectorAll('tbody tr')].reduce((n, tr) => n + Number(tr.cells[2].innerText), 0)", &failed)
	tab.Eval(fmt.Sprintf("fetch('%s/history/counts?job=%s').then((r) => r.json()).then((list) => list.rows.reduce((n, c) => n + (c.executions.FAILED ?? 0), 0))", shopAPI, world.Failing), &counted)
	if failed < 2 || failed > counted {
		t.Errorf("%d failed, as the chart says; %d a little later, as the API says", failed, counted)
	}
	tab.WaitFor("(document.querySelector('[data-chart=counts]').focus(), true)")
	tab.Press("End")
	tab.Press("Enter")
	tab.WaitFor("new URLSearchParams(location.search).get('from') && !location.search.includes('tab=charts')")
	if outcomes := column(tab, "Outcome", 2); !only(outcomes, "Failed") {
		t.Errorf("the list that the chart leads to has %v", outcomes)
	}
}

// Events and the audit say who has paused a job, and why.
func TestHistoryEventsAndAudit(t *testing.T) {
	t.Parallel()
	const name, why = "history-audit", "<b>the mill</b> is closed"
	tab := enter(t, world.Viewer, "/about")
	town.Job(t, world.Count, job.Config{Name: name, Cron: "0 0 3 * * ?", ShardingTotalCount: 1})
	tab.Open(shopPages + "/audit?job=" + name)
	tab.See("created · implementation count")
	o := town.Ops(t).By("millie").Job(name)
	if _, err := o.Pause(t.Context(), ops.PauseRequest{Why: why}); err != nil {
		t.Fatal(err)
	}
	tab.See("paused · “" + why + "”") // without a reload
	tab.Fill("By", "millie")
	tab.NotSee("created · implementation count")
	tab.See("paused · “" + why + "”")
	tab.Choose("What was done", "resumed")
	tab.See("No change fits these filters.")
	tab.Click("button", "Show all changes")
	tab.See("created · implementation count")
	together := town.Ops(t).By("molly").Together()
	town.Job(t, world.Count, job.Config{Name: name + "-2", Cron: "0 0 3 * * ?", ShardingTotalCount: 1})
	if err := errors.Join(together.Job(name).Reshard(t.Context()), together.Job(name+"-2").Reshard(t.Context())); err != nil {
		t.Fatal(err)
	}
	tab.See("2 jobs items resharded")
	tab.Eval(`document.querySelector(".entries details").open = true`, new(any))
	tab.WaitFor(`document.querySelector('.entries details a[href$="/jobs/` + name + `-2"]')`)
	audit(t, tab, "the audit")

	tab.Open(shopPages + "/history?tab=events&job=" + name)
	tab.See("Nothing fits these filters.")
	tab.Click("button", "Operators")
	tab.See("Paused")
	tab.See("“" + why + "”")
	audit(t, tab, "events")
	tab.Click("button", "Operators")
	tab.Click("button", "Instances")
	tab.See("Instance joined")
	tab.NotSee("“" + why + "”")
}

// Without a database there is no history, and the page says how to get one.
func TestHistoryWithoutADatabase(t *testing.T) {
	t.Parallel()
	for user, help := range map[string]string{world.Admin: "Add a database at Connections", world.Viewer: "An admin of the console can add one at Connections."} {
		tab := enter(t, user, "/namespaces/"+world.Empty+"/history")
		tab.See("This namespace has no database")
		tab.See(help)
	}
}

// Figures and marks of charts are right: they are computed in a page, of 20,000 values, and do not keep it waiting.
func TestChartFigures(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Viewer, shopPages+"/history?tab=charts")
	var got struct {
		Figures                     struct{ N, P50, P95, P99, Max int }
		InTime, InBins, First, Last int
		Even, Wide                  bool
		Marks                       []string
		Took                        float64
	}
	tab.Eval(`(async () => {
		const base = document.querySelector('script[type=module][src]').src.replace(/pages\/.*/, '');
		const [{byTime, figuresOf, histogram}, {durationMarks, powerMarks}] = await Promise.all(['stats', 'scale'].map((name) => import(base + 'chart-' + name + '.js')));
		const count = 20000;
		const points = Array.from({length: count}, (_, i) => ({time: i, value: 1 + i * 7919 % count})); // each of 1 to 20,000 once
		const begun = performance.now();
		const times = byTime(points, 0, count, 96);
		const sorted = points.map((p) => p.value).sort((a, b) => a - b);
		const {bins, isLogarithmic} = histogram(sorted, 24);
		const took = performance.now() - begun;
		const sum = (list) => list.reduce((n, x) => n + x.n, 0);
		const {n, p50, p95, p99, max} = figuresOf(sorted);
		return {
			Figures: {N: n, P50: p50, P95: p95, P99: p99, Max: max}, InTime: sum(times), InBins: sum(bins), First: Math.round(times[0].from), Last: Math.round(times.at(-1).to),
			Even: !histogram([100, 110, 120], 24).isLogarithmic, Wide: isLogarithmic, Took: took,
			Marks: [...durationMarks(2900, 4), ...powerMarks(3, 12000)].map((m) => m.text),
		};
	})()`, &got)
	if f := got.Figures; f.N != 20000 || f.P50 != 10000 || f.P95 != 19000 || f.P99 != 19800 || f.Max != 20000 {
		t.Errorf("figures are %+v", f)
	}
	if got.InTime != 20000 || got.InBins != 20000 || got.First != 0 || got.Last != 20000 || !got.Even || !got.Wide {
		t.Errorf("%+v", got)
	}
	if marks := strings.Join(got.Marks, ", "); marks != "0, 1.0 s, 2.0 s, 3.0 s, 1 ms, 10 ms, 100 ms, 1 s, 10 s, 100 s" {
		t.Errorf("marks are %s", marks)
	}
	t.Logf("20,000 values in %.0f ms", got.Took)
}

// Who may see some of the jobs chooses one, and sees the history of that.
func TestHistoryOfSomeJobs(t *testing.T) {
	t.Parallel()
	const user = "history-hal"
	addUser(t, user, access.Grant{Role: access.Viewer, Namespaces: []string{world.Namespace}, Jobs: []string{"count-*"}})
	tab := enter(t, user, "/about")
	executions(tab, world.Quick, "", 3)
	tab.Expect("/history/executions?limit=50: 403")
	tab.Open(shopPages + "/history")
	tab.See("You may see some of the jobs that this history is about.")
	audit(t, tab, "a choice of jobs")
	tab.NotSee(world.Failing)
	tab.Click("link", world.Quick)
	if outcomes := column(tab, "Outcome", 3); slices.Contains(outcomes, "") {
		t.Errorf("%v", outcomes)
	}
	var jobName string
	tab.Eval("document.querySelector('#job').value", &jobName)
	if jobName != world.Quick {
		t.Errorf("the filter has the job %q", jobName)
	}
}
