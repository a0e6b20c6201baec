package browsertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

const (
	shopPages = "/namespaces/" + world.Namespace
	shopAPI   = "/api/v1" + shopPages
)

// execution is what the tests need of an execution of the API.
type execution struct {
	ID, Instance, Outcome, Source string
	Item                          int
	Begun, Ended, Tick            time.Time
}

// executions returns those of a job that the API lists, newest first, once there are so many of which a part of the query
// tells, such as &outcomes=OK.
func executions(tab *browser.Tab, job, query string, count int) []execution {
	path := fmt.Sprintf("%s/history/executions?limit=1000&job=%s%s", shopAPI, job, query)
	tab.WaitFor(fmt.Sprintf("fetch(%q).then(r => r.json()).then(list => list.rows.length >= %d)", path, count))
	var list struct{ Rows []execution }
	tab.Eval(fmt.Sprintf("fetch(%q).then(r => r.json())", path), &list)
	return list.Rows
}

// onTimeline are functions for expressions: place is where an item's lane is at a time, in CSS pixels of the canvas; isDrawn whether
// something of a colour is there that is not the ground's, the lines' or the text's; point puts the mouse there.
const onTimeline = `
	const box = document.querySelector('.timeline-lanes');
	const place = (item, time) => {
		const d = box.dataset;
		return [+d.gutter + (time - d.from) / (d.to - d.from) * (box.clientWidth - d.gutter), +d.head + (item + 0.5) * d.lane];
	};
	const isDrawn = (item, time) => {
		const from = box.querySelector('canvas');
		const dots = from.width / box.clientWidth;
		const [x, y] = place(item, time).map((v) => v * dots);
		const read = new OffscreenCanvas(6, 6).getContext('2d', {willReadFrequently: true});
		read.drawImage(from, x, y - 3, 6, 6, 0, 0, 6, 6); // some of it may be the pattern of a failure
		const {data} = read.getImageData(0, 0, 6, 6);
		return data.some((_, i) => i % 4 === 0 && Math.max(...data.slice(i, i + 3)) - Math.min(...data.slice(i, i + 3)) > 60);
	};
	const point = (item, time) => {
		const corner = box.getBoundingClientRect();
		const [x, y] = place(item, time);
		box.dispatchEvent(new PointerEvent('pointermove', {clientX: corner.left + x, clientY: corner.top + y, bubbles: true}));
	};
`

// onIt is an expression of a page with a timeline.
func onIt(format string, args ...any) string {
	return "(async () => {" + onTimeline + "return " + fmt.Sprintf(format, args...) + "})()"
}

// What the timeline draws, and has as a table, are the executions of the history.
func TestTimelineIsTheHistory(t *testing.T) {
	t.Parallel()
	const name = "timeline-history"
	tab := enter(t, world.Viewer, "/about")
	node, o := town.Node(t, world.Namespace)
	end := sync.OnceValue(func() error { return node.Shutdown(context.Background()) })
	t.Cleanup(func() {
		ctx := context.Background()
		if err := errors.Join(end(), o.Job(name).Remove(ctx, ops.RemoveRequest{}), o.Readmit(ctx, name, ops.ReadmitRequest{})); err != nil {
			t.Error(err)
		}
	})
	var ran atomic.Int64
	_, err := node.Schedule(t.Context(), job.Config{Name: name, Cron: "* * * * * ?", ShardingTotalCount: 2}, job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		if ran.Add(1); sc.Item == 1 {
			return errors.New(world.Failure)
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "it has run some times", func(context.Context) (bool, error) { return ran.Load() >= 10, nil })
	if err := end(); err != nil { // the history is to have all of it
		t.Fatal(err)
	}
	begun := executions(tab, name, "", int(ran.Load()))
	from, to := begun[len(begun)-1].Begun.Truncate(time.Second).Add(-2*time.Second), begun[0].Begun.Add(-time.Millisecond)
	length := to.Sub(from).Round(time.Second)
	from = to.Add(-length)
	tab.Open(fmt.Sprintf("%s/jobs/%s?span=%d&until=%s&colour=outcome", shopPages, name, int(length.Seconds()), to.UTC().Format("2006-01-02T15:04:05.000Z")))
	tab.See("Not a success")
	var ids []string
	for _, x := range begun {
		if x.Begun.Before(from) || !x.Begun.Before(to.Truncate(time.Millisecond)) {
			continue
		}
		ids = append(ids, x.ID)
		if to.Sub(x.Begun) > length/50 { // all of it that is looked at is in sight
			tab.WaitFor(onIt("isDrawn(%d, %d)", x.Item, x.Begun.UnixMilli()))
		}
	}
	for item := range 2 { // a second before the first tick nothing is there
		tab.WaitFor(onIt("!isDrawn(%d, %d)", item, begun[len(begun)-1].Begun.Add(-time.Second).UnixMilli()))
	}
	if len(ids) < 4 {
		t.Fatalf("%d executions in %v", len(ids), length)
	}
	tab.Click("button", "As a table")
	tab.WaitFor(fmt.Sprintf("document.querySelectorAll('.timeline-below tbody a').length === %d", len(ids)))
	var links []string
	tab.Eval("[...document.querySelectorAll('.timeline-below tbody a')].map((a) => a.pathname.split('/').at(-1))", &links)
	if slices.Sort(ids); !slices.Equal(ids, slices.Sorted(slices.Values(links))) {
		t.Errorf("the table has %v, the history %v", links, ids)
	}
}

// Who points at an execution is told its facts, and comes to it by a click.
func TestTimelinePointing(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Viewer, shopPages+"/jobs/"+world.Failing)
	x := executions(tab, world.Failing, "&outcomes=FAILED", 1)[0]
	tab.WaitFor(onIt("isDrawn(%d, %d)", x.Item, x.Begun.UnixMilli()))
	at := placeOf(tab, x.Item, x.Begun)
	tab.Point(at[0], at[1])
	for _, fact := range []string{"Item 1 Failed", "Scheduled", world.Failure} {
		tab.See(fact)
	}
	var label string
	tab.Eval("document.querySelector('.timeline-bar').ariaLabel", &label)
	tab.Click("link", label)
	tab.WaitFor(fmt.Sprintf("location.pathname === '%s/history/%s'", shopPages, x.ID))
}

// placeOf returns where an item's lane is at a time, from the corner of the window, when the page has stopped moving.
func placeOf(tab *browser.Tab, item int, at time.Time) (place [2]float64) {
	where := fmt.Sprintf("place(%d, %d).map((v, i) => v + (i ? box.getBoundingClientRect().top : box.getBoundingClientRect().left))", item, at.UnixMilli())
	tab.WaitFor(onIt("(box.scrollIntoView({block: 'center'}), box.dataset.was === (box.dataset.was = String(%s)))", where))
	tab.Eval(onIt("%s", where), &place)
	return place
}

// The wheel zooms, and who drags moves the time, which opens nothing.
func TestTimelineByMouse(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Viewer, shopPages+"/jobs/"+world.Quick+"?span=1h")
	x := executions(tab, world.Quick, "&outcomes=OK", 1)[0]
	tab.WaitFor(onIt("isDrawn(%d, %d)", x.Item, x.Begun.UnixMilli()))
	at := placeOf(tab, x.Item, x.Begun)
	tab.Zoom(at[0], at[1], 100)
	tab.WaitFor("Number(new URLSearchParams(location.search).get('span')) < 3000")
	at = placeOf(tab, x.Item, x.Begun)
	var from, moved float64
	tab.Eval("Number(document.querySelector('.timeline-lanes').dataset.from)", &from)
	tab.Drag(at[0], at[1], at[0]-300, at[1]) // later than now nothing is
	tab.Drag(at[0]-300, at[1], at[0], at[1])
	tab.WaitFor("location.search.includes('until=')")
	tab.WaitFor(fmt.Sprintf("document.querySelector('.timeline-lanes').dataset.from < %f", from))
	tab.Eval("Number(document.querySelector('.timeline-lanes').dataset.from)", &moved)
	if minutes := (from - moved) / 60e3; minutes < 3 || minutes > 30 {
		t.Errorf("300 pixels are %.1f minutes", minutes)
	}
	tab.WaitFor("location.pathname.endsWith('/jobs/" + world.Quick + "')")
}

// heard is what was told aloud last.
const heard = "document.querySelector('.timeline-below [role=status]').textContent"

// Keys go from execution to execution, move the time, and open one.
func TestTimelineByKeys(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Viewer, shopPages+"/jobs/"+world.Quick)
	executions(tab, world.Quick, "&outcomes=OK", 6)
	tab.WaitFor("document.querySelector('.timeline-lanes')?.dataset.from")
	tab.WaitFor("(document.querySelector('.timeline-lanes').focus(), true)")
	tab.WaitFor("document.querySelector('#timeline-keys').textContent.includes('runs of 3 items')")
	tab.Press("ArrowLeft")
	tab.WaitFor(heard + ".startsWith('Item 0, OK')")
	tab.Press("ArrowDown")
	tab.WaitFor(heard + ".startsWith('Item 1, OK')")
	for _, step := range []struct{ key, address string }{{"Shift+ArrowLeft", "until="}, {"-", "span=1800"}, {"+", "span=15m"}} {
		tab.Press(step.key)
		tab.WaitFor(fmt.Sprintf("location.search.includes(%q)", step.address))
	}
	tab.Press("n") // now
	tab.WaitFor("!location.search.includes('until=')")
	tab.Press("Enter")
	tab.WaitFor("location.pathname.startsWith('" + shopPages + "/history/')")
	tab.See(world.Quick + " · item 1")
}

// Who clicks on an empty place, or asks by keys, is told why nothing has run there.
func TestTimelineSaysWhy(t *testing.T) {
	t.Parallel()
	const name = "timeline-why"
	tab := enter(t, world.Viewer, "/about")
	town.Job(t, world.Mail, job.Config{Name: name, Cron: "* * * * * ?", ShardingTotalCount: 1, TimeZone: "UTC"})
	executions(tab, name, "&outcomes=OK,FAILED", 1)
	paused, err := town.Ops(t).By("anna").Job(name).Pause(t.Context(), ops.PauseRequest{Why: "the bank moves"})
	if err != nil {
		t.Fatal(err)
	}
	gap := paused.Since.Truncate(time.Second).Add(3500 * time.Millisecond)
	until := gap.Add(time.Second)
	tab.WaitFor(fmt.Sprintf("Date.now() > %d", until.UnixMilli()))
	tab.Open(fmt.Sprintf("%s/jobs/%s?span=60&until=%s", shopPages, name, until.UTC().Format("2006-01-02T15:04:05.000Z")))
	tab.WaitFor("document.querySelector('#timeline-keys')?.textContent.includes('of 1 item')")
	at := placeOf(tab, 0, gap)
	tab.Drag(at[0], at[1], at[0], at[1])
	const told = "document.querySelector('.timeline-tip:not([hidden])')?.innerText.includes('The job was paused')"
	tab.WaitFor(told)
	for _, text := range []string{"Item 0 Nobody has run it", "anna · the bank moves"} {
		tab.See(text)
	}
	tab.Point(at[0], at[1]+300) // elsewhere: the answer stays
	tab.WaitFor(told)
	tab.WaitFor("(document.querySelector('.timeline-lanes').focus(), true)")
	tab.Press("Escape")
	tab.WaitFor("document.querySelector('.timeline-tip').hidden")
	tab.Press("w")
	tab.WaitFor(told)
	tab.WaitFor(heard + ".includes('The job was paused')")
}

// What has kept items from running is a band with a sign, which tells who it was; also to who goes there by keys, and as a table.
func TestTimelineCauses(t *testing.T) {
	t.Parallel()
	const name = "timeline-causes"
	tab := enter(t, world.Viewer, "/about")
	config := job.Config{Name: name, Cron: "* * * * * ?", ShardingTotalCount: 2, TimeZone: "UTC"}
	town.Job(t, world.Rebuild, config)
	o := town.Ops(t).By("anna")
	j := o.Job(name)
	executions(tab, name, "&outcomes=RUNNING", 1)
	tab.Open(shopPages + "/jobs/" + name + "?span=60")
	tab.WaitFor("document.querySelector('#timeline-keys')?.textContent.includes('of 2 items')")
	paused, err := j.Pause(t.Context(), ops.PauseRequest{Why: "the bank moves"})
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(err)
	do(j.DisableServers(t.Context(), world.Address(0)))
	_, err = j.Kill(t.Context(), ops.KillRequest{})
	do(err)
	settings, err := j.Settings(t.Context())
	do(err)
	config.Description = "other"
	do(j.Update(t.Context(), ops.UpdateRequest{Config: config, Version: settings.Version}))
	for _, sign := range []string{"‖The job was paused", "⊗The servers were disabled", "✕It was killed", "✎The configuration changed at that time"} {
		tab.WaitFor(fmt.Sprintf("document.querySelector('.timeline-legend').innerText.replaceAll('\\n', '').includes(%q)", sign))
	}
	tab.WaitFor(fmt.Sprintf("Date.now() > %d", paused.Since.Add(4*time.Second).UnixMilli()))
	do(j.Resume(t.Context(), ops.ResumeRequest{}))
	until := paused.Since.Add(5 * time.Second)
	tab.Open(fmt.Sprintf("%s/jobs/%s?span=30&until=%s", shopPages, name, until.UTC().Format("2006-01-02T15:04:05.000Z")))
	middle := paused.Since.Add(2 * time.Second)
	tab.WaitFor(onIt("isDrawn(-0.5 - 9 / box.dataset.lane, %d)", paused.Since.UnixMilli()))
	at := placeOf(tab, 0, middle)
	var up float64
	tab.Eval(onIt("box.dataset.lane / 2 + 9"), &up)
	tab.Point(at[0], at[1]-up)
	tab.WaitFor("document.querySelector('.timeline-tip:not([hidden])')?.innerText.includes('anna · the bank moves')")
	tab.WaitFor("(document.querySelector('.timeline-lanes').focus(), true)")
	tab.Press("Escape")
	for _, text := range []string{"The configuration changed at that time", "It was killed", "The servers were disabled", "The job was paused"} {
		tab.Press("c")
		tab.WaitFor(fmt.Sprintf(heard+".startsWith(%q)", text))
	}
	audit(t, tab, "a timeline with causes")
	tab.Click("button", "As a table")
	tab.WaitFor("document.querySelectorAll('.timeline-below table')[1]?.querySelectorAll('tbody tr').length >= 4")
}

// Who has gone to an execution that runs is told when it has ended.
func TestTimelineTellsOfTheEnd(t *testing.T) {
	t.Parallel()
	const name = "timeline-end"
	tab := enter(t, world.Viewer, "/about")
	town.Job(t, world.Rebuild, job.Config{Name: name, ShardingTotalCount: 1})
	o := town.Ops(t).Job(name)
	if _, err := o.Trigger(t.Context(), job.TriggerRequest{}); err != nil {
		t.Fatal(err)
	}
	executions(tab, name, "&outcomes=RUNNING", 1)
	tab.Open(shopPages + "/jobs/" + name)
	tab.WaitFor("document.querySelector('#timeline-keys')?.textContent.includes(': 1 run')")
	tab.WaitFor("(document.querySelector('.timeline-lanes').focus(), true)")
	tab.Press("ArrowLeft")
	tab.WaitFor(heard + ".startsWith('Item 0, Running')")
	if _, err := o.Kill(t.Context(), ops.KillRequest{}); err != nil {
		t.Fatal(err)
	}
	tab.WaitFor(heard + ".startsWith('Item 0, Killed')")
}

// The timeline goes with the console's clock, also where that of the browser is five minutes late.
func TestTimelineOfALateClock(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Viewer, shopPages+"/jobs/"+world.Quick+"?span=60")
	tab.WaitFor("document.querySelector('.timeline-lanes')?.dataset.to")
	tab.WaitFor("(Date.now = () => performance.timeOrigin + performance.now() - 300000) && Date.now() > 0")
	before := executions(tab, world.Quick, "&outcomes=OK", 1)
	x := executions(tab, world.Quick, "&outcomes=OK", len(before)+1)[0]
	tab.WaitFor(onIt("isDrawn(%d, %d)", x.Item, x.Begun.UnixMilli()))
}
