package pool

import "github.com/elasticjob-go/elasticjob/coord"

// Config is what the jobs of a process share.
type Config struct {
	Threads int    // how many handlers run at a time; 0 is no limit
	Address string // of this host
}

// Pool is what the jobs of one process share.
type Pool struct {
	Announcement *Announcement // nil if the job is alone
	Items        *Items        // nil if the job is alone
	threads      *Threads      // nil if there is no limit
	calendars    *Calendars
	loads        *Loads
}

// New returns a pool without jobs.
func New(reg coord.Registry, c Config) *Pool {
	return &Pool{
		threads: NewThreads(c.Threads), calendars: &Calendars{reg: reg}, loads: &Loads{},
		Items: &Items{jobs: map[*ItemCount]bool{}}, Announcement: newAnnouncement(c.Address),
	}
}

// Alone returns the pool of a job that shares nothing. It is not announced.
func Alone(reg coord.Registry) *Pool {
	return &Pool{calendars: &Calendars{reg: reg}, loads: &Loads{}}
}

// Job is one job's part of a pool. The zero Job has no limit, and no calendars.
type Job struct {
	Threads      *Reservation
	Items        *ItemCount
	Calendars    Source
	Loads        *Loads
	Announcement *Announcement
}

// Source is where a job learns what calendars say.
type Source interface {
	// Of returns what is known of calendars now, and wakes the job when that changes. One that was not looked at yet is nil.
	Of(names []string) []*Calendar
	// Leave ends that.
	Leave()
}

// Join adds a job. wake has it look again at what it shares, and must not wait.
func (p *Pool) Join(wake func()) Job {
	return Job{
		Threads: p.threads.Reservation(wake), Items: p.Items.join(wake), Calendars: &follower{calendars: p.calendars, wake: wake},
		Loads: p.loads, Announcement: p.Announcement,
	}
}
