package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
)

// picture is what the job's tree says about instances and items. It comes from a view, as the
// scheduler's own knowledge does, and needs nothing from the workers.
type picture struct {
	leader    string   // id of the leading instance
	instances []string // ids of those that take part
	owner     []string // by item, the instance that it is assigned to
	running   []string // by item, the instance that runs it
	token     []int64  // by item, that of its latest run
	waiting   []int    // items that wait to be run again
}

// newPicture reads a snapshot of the tree of a job.
func newPicture(s coord.Snapshot, job string, items int) picture {
	node := func(path ...string) coord.Node {
		n, _ := s.Get(coord.Join(append([]string{job}, path...)...))
		return n
	}
	p := picture{
		leader:    string(node("leader/election/instance").Value),
		instances: s.Children(coord.Join(job, "instances")),
		owner:     make([]string, items),
		running:   make([]string, items),
		token:     make([]int64, items),
	}
	for i := range items {
		item := strconv.Itoa(i)
		p.owner[i] = string(node("sharding", item, "instance").Value)
		p.running[i] = string(node("sharding", item, "running").Value)
		p.token[i] = node("sharding", item, "fired").Modified
	}
	for _, name := range s.Children(coord.Join(job, "leader/failover/items")) {
		if i, err := strconv.Atoi(name); err == nil {
			p.waiting = append(p.waiting, i)
		}
	}
	slices.Sort(p.waiting)
	return p
}

// pidOf returns the process id that stands in an instance id, {ip}@-@{pid}-{random}.
func pidOf(instance string) int {
	_, process, _ := strings.Cut(instance, "@-@")
	digits, _, _ := strings.Cut(process, "-")
	pid, _ := strconv.Atoi(digits) // 0 belongs to nobody
	return pid
}

// has reports whether a process takes part.
func (p picture) has(pid int) bool {
	return slices.ContainsFunc(p.instances, func(id string) bool { return pidOf(id) == pid })
}

// closed reports whether the end of the item's latest run is recorded: the run is not under way
// and does not wait to be repeated.
func (p picture) closed(item int) bool {
	return p.running[item] == "" && !slices.Contains(p.waiting, item)
}

// owns and runs list the items of a process.
func (p picture) owns(pid int) []int { return itemsOf(p.owner, pid) }
func (p picture) runs(pid int) []int { return itemsOf(p.running, pid) }

func itemsOf(ids []string, pid int) []int {
	var items []int
	for i, id := range ids {
		if pidOf(id) == pid {
			items = append(items, i)
		}
	}
	return items
}
