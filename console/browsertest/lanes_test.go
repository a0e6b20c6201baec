package browsertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/job"
)

// The timeline of all jobs has those with failures first, by groups if somebody wants them, and a click on a lane leads to the timeline
// of its job at that time.
func TestLanes(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Viewer, jobsPath)
	const name = "lanes-fail"
	town.Job(t, world.Mail, job.Config{Name: name, Cron: "* * * * * ?", ShardingTotalCount: 2})
	x := executions(tab, name, "&outcomes=FAILED", 1)[0]
	executions(tab, world.Quick, "&outcomes=OK", 1)
	tab.Click("link", "Timeline")
	tab.WaitFor("location.pathname === '" + shopPages + "/timeline'")
	tab.Click("button", "1 h")
	const row = "document.querySelector('.lanes tr[data-key=\"job %s\"]')"
	tab.WaitFor(fmt.Sprintf("Number("+row+"?.querySelector('.c-failed').innerText) > 0", name))
	tab.WaitFor(fmt.Sprintf(row+".offsetTop < "+row+".offsetTop", name, world.Quick))
	tab.WaitFor(fmt.Sprintf(row+".querySelector('a.lane').ariaLabel.startsWith('"+world.Quick+": ')", world.Quick))
	audit(t, tab, "the timeline of all jobs")

	tab.Choose("Groups", "By prefix of the name")
	tab.WaitFor("[...document.querySelectorAll('.lanes tr.group')].some((tr) => tr.innerText.startsWith('Others'))")
	tab.Choose("Groups", "None")
	tab.Fill("Search", name)
	tab.WaitFor("document.querySelectorAll('.lanes tbody tr').length === 1")

	// Of the time that it shows, the last cells have runs: of a colour.
	canvas := fmt.Sprintf(row+".querySelector('canvas')", name)
	tab.WaitFor(fmt.Sprintf("(() => { const c = %s; const d = c.getContext('2d').getImageData(c.width - 40, c.height / 2, 40, 1).data; return d.some((v, i) => i %% 4 === 3 && v > 0) })()", canvas))
	var place [2]float64
	tab.Eval(fmt.Sprintf("(() => { const r = %s.getBoundingClientRect(); return [r.right - 6, r.top + r.height / 2] })()", canvas), &place)
	tab.Drag(place[0], place[1], place[0], place[1])
	tab.WaitFor(fmt.Sprintf("location.pathname === '%s/jobs/%s' && location.search.includes('span=15m')", shopPages, name))
	tab.WaitFor("document.querySelector('.timeline-lanes')?.dataset.from")
	var shown [2]float64
	tab.Eval("['from', 'to'].map((name) => Number(document.querySelector('.timeline-lanes').dataset[name]))", &shown)
	if at := float64(x.Begun.UnixMilli()); at < shown[0] || at > shown[1]+float64(time.Minute.Milliseconds()) {
		t.Errorf("it shows %v, the failure was at %v", shown, at)
	}
}
