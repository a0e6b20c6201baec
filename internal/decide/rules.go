package decide

import "time"

// Rules are what decisions need of the configuration in force here, with defaults filled in.
type Rules struct {
	Name      string
	Total     int        // how many sharding items there are
	Cron      string     // as it is configured; more expressions follow, one a line
	TimeZone  string     // as it is configured
	Calendars []Calendar // by name
	LeftOut   string     // a hash of what they leave out together; "" is nothing
	Ticks     Ticks      // the ticks of Cron that no calendar leaves out; nil in a one-off job

	Monitor   bool          // executions have records in the tree
	Failover  bool          // an item whose run was cut short is run again
	Misfire   bool          // missed ticks are made up
	Tolerance time.Duration // how late a tick may begin and still be on time
	Window    time.Duration // a tick that was missed longer ago is not made up; 0 is no bound
	Jitter    time.Duration // items start up to that much after their ticks

	ExpiresAt     time.Time // no later tick begins; zero is no bound
	ExpiryTicks   int       // how many ticks there are; 0 is no bound
	RemoveExpired bool      // when no tick is to come any more, the job is removed
	Revision      int       // of the configuration

	MaxTimeDiff    time.Duration // how far the local clock may be from the store's; 0 is no bound
	MaxItems       int           // how many items an instance may have; 0 is no bound
	StaticSharding bool          // items stay with their owners
	Broadcast      bool          // each instance has one item
	Disabled       bool          // a server is disabled when it registers for the first time
	Streams        bool          // executions may go on over their next ticks
	SkipOverlap    bool          // a tick that comes while the item runs is skipped
	Label          string        // an instance needs it to be given items; "" is none

	Once      bool          // once-listeners are told of ticks
	StartTime time.Duration // how long Started of all of them may take together, and Completed
	TickTime  time.Duration // how long after the start of a tick Completed is called at the latest
}

// Ticks are the times at which a job fires. Next returns the first after a time, and Prev the
// last that is not after it; both return the zero time if there is none.
type Ticks interface {
	Next(time.Time) time.Time
	Prev(time.Time) time.Time
}

// IsOneOff reports whether the job has no ticks, and runs only when it is triggered.
func (r *Rules) IsOneOff() bool { return r.Ticks == nil }
