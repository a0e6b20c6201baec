package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

// Rules are what decisions need of the configuration in force, with every default in its
// place.
type Rules struct {
	Name     string
	Total    int                // of sharding items
	Cron     string             // as it is configured, as is TimeZone
	TimeZone string             //
	Ticks    *cronexpr.Schedule // what Cron stands for; nil in a one-off job

	Monitor   bool          // executions have records in the tree
	Failover  bool          // what was cut short is run again
	Misfire   bool          // missed ticks are made up for
	Tolerance time.Duration // how late a tick may begin without being missed
	Window    time.Duration // how long ago a missed tick may be to be made up for; 0 is no bound

	MaxTimeDiff    time.Duration // how far the local clock may be from the store's; 0 is no bound
	StaticSharding bool          // items stay where they are
	Disabled       bool          // servers are disabled when they register first
	Label          string        // that instances need to have items; "" if none
}

// IsOneOff reports whether the job has no ticks: it runs when it is triggered.
func (r *Rules) IsOneOff() bool { return r.Ticks == nil }
