package pool

import "sync"

// Items counts the items that the jobs of this process own.
type Items struct {
	mu    sync.Mutex
	total int
	jobs  map[*ItemCount]bool
}

// ItemCount is how many items of one job the process owns. A nil ItemCount is that of a job that is alone.
type ItemCount struct {
	all   *Items
	wake  func() // has the job announce the total again
	items int    // guarded by all.mu
}

func (c *Items) join(wake func()) *ItemCount {
	if c == nil {
		return nil
	}
	j := &ItemCount{all: c, wake: wake}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs[j] = true
	return j
}

// Total returns how many items all jobs own.
func (c *Items) Total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// Set notes how many items the job owns.
func (j *ItemCount) Set(items int) {
	if j == nil {
		return
	}
	j.all.mu.Lock()
	defer j.all.mu.Unlock()
	j.all.total += items - j.items
	j.items = items
}

// All returns how many items all jobs own.
func (j *ItemCount) All() int {
	if j == nil {
		return 0
	}
	return j.all.Total()
}

// Others returns how many items the other jobs own.
func (j *ItemCount) Others() int {
	if j == nil {
		return 0
	}
	j.all.mu.Lock()
	defer j.all.mu.Unlock()
	return j.all.total - j.items
}

// Leave removes the job, and reports whether it was the last one. If not, it wakes another one, which then
// announces how many items are left.
func (j *ItemCount) Leave() (wasLast bool) {
	if j == nil {
		return false
	}
	c := j.all
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.jobs[j] {
		return false
	}
	delete(c.jobs, j)
	c.total -= j.items
	j.items = 0
	for other := range c.jobs {
		other.wake()
		return false
	}
	return true
}
