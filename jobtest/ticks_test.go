package jobtest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/jobtest"
)

func TestTicks(t *testing.T) {
	parse := func(document string) *calendar.Calendar {
		c, err := calendar.Parse([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	weekends, newYear := parse("timeZone: UTC\nweekly: ['SAT,SUN']\n"), parse("timeZone: UTC\ndates: [2026-01-01]\n")
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	for _, tc := range []struct {
		name      string
		config    job.Config
		from, to  time.Time
		calendars []*calendar.Calendar
		want      string // days/hours
		says      string
	}{
		{"every day", job.Config{Cron: "0 0 12 * * ?"}, day(1), day(4), nil, "1/12 2/12 3/12", ""},
		{"without the begin, with the end", job.Config{Cron: "0 0 0 * * ?"}, day(1), day(3), nil, "2/00 3/00", ""},
		{"several expressions", job.Config{Cron: "0 0 12 * * ?", MoreCrons: []string{"0 0 6,12 * * ?"}}, day(1), day(2), nil, "1/06 1/12", ""},
		{"a zone", job.Config{Cron: "0 0 12 * * ?", TimeZone: "Asia/Shanghai"}, day(1), day(2), nil, "1/12", ""},
		{
			"calendars", job.Config{Cron: "0 0 12 * * ?", Calendars: []string{"weekends", "new-year"}}, day(1), day(6),
			[]*calendar.Calendar{weekends, newYear}, "2/12 5/12", "",
		},
		{"an end", job.Config{Cron: "0 0 12 * * ?", Expiry: job.Expiry{At: day(3)}}, day(1), day(9), nil, "1/12 2/12", ""},
		{"a number of ticks", job.Config{Cron: "0 0 12 * * ?", Expiry: job.Expiry{Ticks: 2}}, day(1), day(9), nil, "1/12 2/12", ""},
		{"no time", job.Config{Cron: "0 0 12 * * ?"}, day(2), day(1), nil, "", ""},
		{"a wrong expression", job.Config{Cron: "noon"}, day(1), day(2), nil, "", `"noon"`},
		{"a one-off job", job.Config{}, day(1), day(2), nil, "", "job j: Cron is empty, and a job without a schedule has none"},
		{"a calendar is missing", job.Config{Cron: "0 0 12 * * ?", Calendars: []string{"weekends"}}, day(1), day(2), nil, "", "names 1 (weekends)"},
		{"a calendar too many", job.Config{Cron: "0 0 12 * * ?"}, day(1), day(2), []*calendar.Calendar{weekends}, "", "1 calendars were given"},
		{"a calendar is nil", job.Config{Cron: "0 0 12 * * ?", Calendars: []string{"weekends"}}, day(1), day(2), []*calendar.Calendar{nil}, "", "weekends is nil"},
		{"too many", job.Config{Cron: "* * * * * ?"}, day(1), day(3), nil, "", "more than 100000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.config.Name, tc.config.ShardingTotalCount = "j", 1
			if tc.config.TimeZone == "" {
				tc.config.TimeZone = "UTC"
			}
			ticks, err := jobtest.Ticks(tc.config, tc.from, tc.to, tc.calendars...)
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Fatal(err)
			}
			var got []string
			for _, at := range ticks {
				got = append(got, at.Format("2/15"))
			}
			if list := strings.Join(got, " "); list != tc.want {
				t.Errorf("got %s, want %s", list, tc.want)
			}
		})
	}
	if _, err := jobtest.Ticks(job.Config{Name: "j"}, day(1), day(2)); !errors.Is(err, job.ErrInvalidConfig) {
		t.Error(err)
	}
}

// Jobs in a cluster run the ticks that Ticks returns, and no other, also in the night in which
// clocks change.
func TestTicksAreThoseOfTheScheduler(t *testing.T) {
	crons := []string{"0 0/37 * * * ?", "30 15 3 * * ?", "0 30 2 ? * SAT-MON", "5/20 0 4 * * ?", "@daily", "@every 1h30m"}
	ends := []job.Expiry{{}, {Ticks: 3}, {}, {At: time.Date(2026, 3, 29, 4, 0, 25, 0, time.UTC)}}
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		c.AdvanceTo(time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC))
		begin, a := time.Now(), c.Process("10.0.0.1")
		var jobs []job.Config
		for _, zone := range []string{"Europe/Berlin", "GMT+05:30"} {
			for i, cron := range crons {
				jobs = append(jobs, job.Config{
					Name: fmt.Sprintf("j%d", len(jobs)), Cron: cron, MoreCrons: crons[:i%3], TimeZone: zone, ShardingTotalCount: 1,
					Expiry: ends[i%len(ends)],
				})
			}
		}
		for _, cfg := range jobs {
			a.Schedule(cfg, lasts(0))
		}
		c.Advance(24 * time.Hour)
		for _, cfg := range jobs {
			ticks, err := jobtest.Ticks(cfg, begin, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			of := c.Executions().Of(cfg.Name)
			jobtest.EachTickOnce(t, of, ticks, 1)
			of.Require(t, len(ticks))
		}
	})
}
