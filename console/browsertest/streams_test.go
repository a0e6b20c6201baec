package browsertest

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/crowd"
)

// A page of many jobs that is loaded again is told what has changed since it was left.
func TestReloadOfTheList(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	var reg coord.Registry
	url := newSite(t, func(r coord.Registry, _ *sql.DB) error {
		reg = r
		_, err := crowd.Plant(t.Context(), reg, 1000)
		return err
	})
	tab := chromium.Tab(t, url)
	tab.Open("/namespaces/test/jobs")
	tab.See("1,000 jobs")
	for i, change := range []coord.Op{
		coord.Put(string(crowd.Name(0))+"/config", []byte("cron: 0 0 0 1 1 ?\njobName: billing.settlement-00000\nshardingTotalCount: 1\ndescription: changed meanwhile\n")),
		coord.DeleteTree(string(crowd.Name(1))),
	} {
		tab.Open("/about")
		_, err := reg.Commit(t.Context(), change)
		fatal(t, err)
		tab.Open("/namespaces/test/jobs")
		tab.See("changed meanwhile")
		tab.See(fmt.Sprintf("%s jobs", []string{"1,000", "999"}[i]))
	}
	if told := tab.Received("/watch"); told > 30_000 { // all jobs are 17,000
		t.Errorf("three pages are told %d bytes", told)
	}
}

// A page of a job with many items is told those that have changed.
func TestTickOfManyItems(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	const items = 1000
	var reg coord.Registry
	url := newSite(t, func(r coord.Registry, _ *sql.DB) error {
		reg = r
		return crowd.PlantLarge(t.Context(), reg, items)
	})
	tab := chromium.Tab(t, url)
	tab.Open("/namespaces/test/jobs/" + string(crowd.Large) + "?items=RUNNING")
	says := func(text string) {
		tab.WaitFor(fmt.Sprintf("document.querySelector('#items [role=status]')?.textContent === %q", text))
	}
	says("0 of 1,000 items")
	tab.See("Live")
	commits := crowd.Tick(time.Now().Truncate(time.Second), items, 25) // 4 of them are 100 items
	for i, commit := range commits {
		_, err := reg.Commit(t.Context(), commit...)
		fatal(t, err)
		switch running := 25 * min(i+1, len(commits)-i-1); {
		case running == items:
			says("1,000 items")
		case running%100 == 0:
			says(fmt.Sprintf("%d of 1,000 items", running))
		}
	}
	if told := tab.Received("/watch"); told > 200_000 { // 1.6 MB if each change told all
		t.Errorf("a tick is told in %d bytes", told)
	}
}
