package live

import (
	"iter"
	"slices"

	"github.com/elasticjob-go/elasticjob/ops"
)

// maxRemovals bounds how many removals a journal remembers.
const maxRemovals = 10_000

// journal has the newest state of each job, in the order of the last changes. Each change has a place, the
// next higher number; a job that changes again moves to a new place.
type journal struct {
	list   []*entry // by place; also those that are outdated
	newest map[string]*entry
	last   uint64 // the highest place
	floor  uint64 // removals up to this place are forgotten
	// outdated and removals count entries of list.
	outdated, removals int
}

// entry is how a job is since a place.
type entry struct {
	place      uint64
	name       string
	json       []byte       // nil: the job is removed
	info       *ops.JobInfo // what a list shows of it; nil in the journal of one job
	isOutdated bool
}

// newJournal returns an empty one. Its first place is 1: whoever is there knows that there is nothing, and who is at 0 does not.
func newJournal() journal { return journal{newest: map[string]*entry{}, last: 1} }

// put notes that a job has changed, and remove that it is gone.
func (j *journal) put(name string, json []byte, info *ops.JobInfo) {
	j.move(&entry{name: name, json: json, info: info})
}

func (j *journal) remove(name string) {
	if e := j.newest[name]; e == nil || e.json == nil {
		return
	}
	j.move(&entry{name: name})
	j.removals++
}

func (j *journal) move(e *entry) {
	if before := j.newest[e.name]; before != nil {
		j.outdate(before)
	}
	j.last++
	e.place = j.last
	j.newest[e.name] = e
	j.list = append(j.list, e)
	if j.removals > maxRemovals {
		j.forget(maxRemovals / 2)
	}
	if j.outdated > len(j.newest)+100 {
		j.list = slices.DeleteFunc(j.list, func(e *entry) bool { return e.isOutdated })
		j.outdated = 0
	}
}

func (j *journal) outdate(e *entry) {
	e.isOutdated = true
	j.outdated++
	if e.json == nil {
		j.removals--
	}
}

// forget forgets the first removals, as many.
func (j *journal) forget(removals int) {
	for _, e := range j.list {
		if removals == 0 {
			return
		}
		if e.json == nil && !e.isOutdated {
			j.outdate(e)
			delete(j.newest, e.name)
			j.floor = e.place
			removals--
		}
	}
}

// after are the entries behind a place.
func (j *journal) after(place uint64) iter.Seq[*entry] {
	from, _ := slices.BinarySearchFunc(j.list, place+1, func(e *entry, place uint64) int {
		if e.place < place {
			return -1
		}
		return 1
	})
	return func(yield func(*entry) bool) {
		for _, e := range j.list[from:] {
			if !e.isOutdated && !yield(e) {
				return
			}
		}
	}
}
