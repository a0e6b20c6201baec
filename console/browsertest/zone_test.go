package browsertest

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/job"
)

// A user chooses the zone in which pages tell times; they name it, and write all times in one format. That of a job counts on the
// pages of the job.
func TestZone(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	const name, page = "zone-of-times", "/namespaces/" + world.Namespace + "/jobs/zone-of-times"
	town.Job(t, world.Count, job.Config{Name: name, Cron: "0 0 3 * * ?", ShardingTotalCount: 1, TimeZone: "Asia/Kathmandu"})
	tab := enter(t, world.Viewer, page)
	for _, look := range []struct{ choice, onJob, offset, elsewhere string }{
		{"Job's zone", "Times in Asia/Kathmandu", "UTC+5:45", "Times in UTC"}, // as the browser's is UTC
		{"UTC", "Times in UTC", "UTC", "Times in UTC"},
	} {
		tab.Open(page)
		tab.Choose("Times", look.choice)
		tab.See(look.onJob)
		tab.WaitFor(`[...document.querySelectorAll("#page time[title]")].some((t) => /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+$/.test(t.title) && t.title.endsWith(" ` + look.offset + `"))`)
		audit(t, tab, look.choice)
		tab.Open(page + "/changes")
		tab.See(look.onJob)
		tab.Open("/namespaces/" + world.Namespace + "/history")
		tab.See(look.elsewhere)
	}
	// Days of a zone whose clock leaves out a midnight.
	for zone, want := range map[string]string{
		"America/Santiago": "2026-09-05T00:00 2026-09-06T01:00 2026-09-07T00:00", "Europe/Berlin": "2026-09-05T00:00 2026-09-06T00:00 2026-09-07T00:00",
	} {
		tab.WaitFor(`import(document.querySelector("link[href$='/time.js']").href).then((t) => {
			t.useZone("` + zone + `");
			const day = t.unlocal("2026-09-05T14:28");
			return t.local(day) === "2026-09-05T14:28" && [0, 1, 2].map((n) => t.local(t.midnight(day, n))).join(" ") === "` + want + `";
		})`)
	}
}
