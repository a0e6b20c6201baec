package simulation

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// size is how much of a day is run.
type size struct {
	name   string
	shapes []shape
	// The day is so many times a storm and a calm, with a check at its end.
	watches     int
	storm, calm time.Duration
	outages     float64 // of the store, in a storm on average
}

// shape is a kind of group: processes that run the same jobs.
type shape struct {
	name    string
	groups  int
	hosts   int           // processes in each
	session time.Duration // their session time-out
	pause   time.Duration // between two faults of a group, on average
	jobs    func(index int) []jobShape
}

// jobShape is a job of a group, but for its name.
type jobShape struct {
	config job.Config
	work   work
}

func fullDay() size {
	return size{
		name: "a whole day", watches: 12, storm: 95 * time.Minute, calm: 25 * time.Minute, outages: 0.7,
		shapes: []shape{
			{"crowd", 1, 100, 10 * time.Second, 20 * time.Minute, crowd(1000)},
			{"team", 20, 10, 10 * time.Second, 12 * time.Minute, team(100)},
			{"squad", 20, 5, 6 * time.Second, 15 * time.Minute, squad(100)},
			{"wide", 3, 20, 20 * time.Second, 15 * time.Minute, wide(250)},
			{"single", 30, 3, 10 * time.Second, 15 * time.Minute, single},
			{"small", 10, 5, 30 * time.Second, 15 * time.Minute, small(22)},
		},
	}
}

func partOfDay() size {
	return size{
		name: "a part of a day", watches: 2, storm: 95 * time.Minute, calm: 25 * time.Minute, outages: 1,
		shapes: []shape{
			{"crowd", 1, 12, 10 * time.Second, 10 * time.Minute, crowd(60)},
			{"team", 1, 6, 10 * time.Second, 8 * time.Minute, team(24)},
			{"squad", 4, 4, 6 * time.Second, 8 * time.Minute, squad(20)},
			{"wide", 1, 8, 20 * time.Second, 8 * time.Minute, wide(40)},
			{"single", 4, 3, 10 * time.Second, 8 * time.Minute, single},
			{"small", 3, 4, 30 * time.Second, 8 * time.Minute, small(10)},
		},
	}
}

func crowd(items int) func(int) []jobShape {
	return func(int) []jobShape {
		return []jobShape{{
			config: job.Config{Cron: every(30, 7), ShardingTotalCount: items, Failover: true, Strategy: strategy.Sticky, Threads: 40},
			work:   minutes,
		}}
	}
}

func team(items int) func(int) []jobShape {
	return func(index int) []jobShape {
		return []jobShape{
			{
				config: job.Config{Cron: every(10, index%10), ShardingTotalCount: items, Failover: true, Threads: 8},
				work:   quick,
			},
			{
				config: job.Config{Cron: every(30, index%30), ShardingTotalCount: items, Failover: index%2 == 0, Misfire: job.Off, Strategy: strategy.RoundRobin, Threads: 50},
				work:   minutes,
			},
			{
				config: job.Config{Cron: every(60, 3*index%60), ShardingTotalCount: items, Failover: index%3 > 0, Strategy: strategy.Sticky, Threads: 50, TimeZone: "Asia/Kolkata"},
				work:   longer(60 * time.Minute),
			},
		}
	}
}

func squad(items int) func(int) []jobShape {
	return func(index int) []jobShape {
		c := job.Config{Cron: every(15, index%15), ShardingTotalCount: items, Failover: true, Strategy: strategy.Weighted, Threads: 60}
		switch index % 4 {
		case 0:
			c.MaxTimeDiff = 10 * time.Minute // reads the store's clock at every fire
		case 1:
			c.Timeout = 45 * time.Second
		case 2:
			c.Cron, c.MisfireWindow = every(20, index), 3*time.Minute
		case 3:
			c.Failover, c.Threads = false, 10
		}
		return []jobShape{{config: c, work: minutes}}
	}
}

func wide(items int) func(int) []jobShape {
	return func(index int) []jobShape {
		return []jobShape{{
			config: job.Config{Cron: every(20, 5*index%20), ShardingTotalCount: items, Failover: index == 1, Misfire: jobtype.ToggleOf(index < 2), Threads: 40},
			work:   quick,
		}}
	}
}

func single(index int) []jobShape {
	s := jobShape{
		config: job.Config{Cron: every(10, index%10), ShardingTotalCount: 1, Failover: index%3 < 2, Misfire: jobtype.ToggleOf(index%5 > 0), Strategy: strategy.SingleShardingBalance},
		work:   minutes,
	}
	if index%2 == 0 {
		s.work = longer(10 * time.Minute)
	}
	if index%4 == 2 {
		s.config.Overlap = job.OverlapSkip
	}
	return []jobShape{s}
}

func small(items int) func(int) []jobShape {
	return func(index int) []jobShape {
		c := job.Config{Cron: every(12, index%12), ShardingTotalCount: items, Failover: index%2 == 0, Strategy: strategy.Odevity}
		switch index % 3 {
		case 1:
			c.Cron = "" // one-off: runs when it is triggered
			c.Failover = true
		case 2:
			c.StaticSharding = true
		}
		return []jobShape{{config: c, work: quick}}
	}
}

// every is a schedule that fires at a minute and then every so many minutes, which
// divide the hour.
func every(interval, from int) string {
	if interval == 60 {
		return fmt.Sprintf("0 %d * * * ?", from)
	}
	return fmt.Sprintf("0 %d/%d * * * ?", from%interval, interval)
}

// instances and items count what a size has in total.
func (s size) count() (jobs, hosts, instances, items int) {
	for _, sh := range s.shapes {
		for g := range sh.groups {
			hosts += sh.hosts
			for _, j := range sh.jobs(g) {
				jobs++
				instances += sh.hosts
				items += j.config.ShardingTotalCount
			}
		}
	}
	return jobs, hosts, instances, items
}
