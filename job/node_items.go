package job

import "sync"

// itemCounts counts the items that the jobs of a node own in this process.
type itemCounts struct {
	mu    sync.Mutex
	total int
	jobs  map[*itemCount]bool
}

func newItemCounts() *itemCounts { return &itemCounts{jobs: map[*itemCount]bool{}} }

// itemCount is how many items of one job the process owns. A nil itemCount is that of a job without a node.
type itemCount struct {
	all   *itemCounts
	wake  func() // has the job show the total again; it must not wait
	items int    // guarded by all.mu
}

// add adds a job without items.
func (c *itemCounts) add(wake func()) *itemCount {
	if c == nil {
		return nil
	}
	j := &itemCount{all: c, wake: wake}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs[j] = true
	return j
}

// sum returns how many items all jobs own.
func (c *itemCounts) sum() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// set notes how many items the job owns.
func (j *itemCount) set(items int) {
	if j == nil {
		return
	}
	j.all.mu.Lock()
	defer j.all.mu.Unlock()
	j.all.total += items - j.items
	j.items = items
}

// others returns how many items the other jobs own.
func (j *itemCount) others() int {
	if j == nil {
		return 0
	}
	j.all.mu.Lock()
	defer j.all.mu.Unlock()
	return j.all.total - j.items
}

// leave removes the job, and reports whether it was the last one. If not, it wakes another one, which then
// shows how many items are left.
func (j *itemCount) leave() (wasLast bool) {
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
