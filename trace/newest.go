package trace

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"sync"
)

// Newest is a sink in memory: it has the newest executions, with their events and lines, for
// those without a database. If it has too many, it forgets the one to which nothing has come for the
// longest time. Its methods may be called from any goroutine. How old the newest lines are at most
// says Options.Interval of its recorder: 1 s, unless that is shorter.
type Newest struct {
	o NewestOptions

	mu     sync.Mutex
	byTask map[string]*list.Element // of *kept, in order
	order  *list.List               // the one that was told of last comes last
	latest map[place]string         // task id of the execution of an item that began last
	bytes  int
}

// NewestOptions bound what is kept. What is left out has the default.
type NewestOptions struct {
	// Executions is how many there are at most. Default 10,000.
	Executions int
	// Lines is how many of an execution there are at most: the newest. Default 1,000.
	Lines int
	// MaxBytes is how many bytes all of them have at most. Default 32 MiB.
	MaxBytes int
}

// place is an item of a job.
type place struct {
	job  string
	item int
}

// kept is an execution.
type kept struct {
	place  place
	task   string
	events []Event
	lines  []Line
	bytes  int
}

// maxEvents bounds the events of an execution: there are few, but for many attempts.
const maxEvents = 100

// NewNewest returns a sink that has nothing yet.
func NewNewest(o NewestOptions) (*Newest, error) {
	for _, n := range []struct {
		field    string
		value    *int
		standard int
	}{{"Executions", &o.Executions, 10_000}, {"Lines", &o.Lines, 1000}, {"MaxBytes", &o.MaxBytes, 32 << 20}} {
		switch {
		case *n.value < 0:
			return nil, fmt.Errorf("trace: newest: %s %d: must not be negative", n.field, *n.value)
		case *n.value == 0:
			*n.value = n.standard
		}
	}
	return &Newest{o: o, byTask: map[string]*list.Element{}, order: list.New(), latest: map[place]string{}}, nil
}

// Write implements [Sink]. Events that are of no execution are not kept.
func (n *Newest) Write(_ context.Context, b Batch) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range b.Events {
		if e.Execution.TaskID == "" {
			continue
		}
		k := n.of(place{e.Job, e.Execution.Item}, e.Execution.TaskID)
		if slices.ContainsFunc(k.events, func(old Event) bool { return old.ID == e.ID }) {
			continue
		}
		k.events = append(k.events, e)
		n.grow(k, e.size())
		if len(k.events) > maxEvents {
			n.grow(k, -k.events[1].size())
			k.events = slices.Delete(k.events, 1, 2) // the first one says when it began
		}
	}
	for _, l := range b.Lines {
		k := n.of(place{l.Job, l.Item}, l.TaskID)
		if len(k.lines) > 0 && l.Number <= k.lines[len(k.lines)-1].Number {
			continue // it is there already, or was
		}
		k.lines = append(k.lines, l)
		n.grow(k, l.size())
		if len(k.lines) > n.o.Lines {
			n.grow(k, -k.lines[0].size())
			k.lines[0] = Line{} // the slice would keep its text
			k.lines = k.lines[1:]
		}
	}
	n.shrink()
	return nil
}

// of returns an execution, as the one that was told of last.
func (n *Newest) of(p place, task string) *kept {
	if e, ok := n.byTask[task]; ok {
		n.order.MoveToBack(e)
		return e.Value.(*kept)
	}
	k := &kept{place: p, task: task}
	n.byTask[task] = n.order.PushBack(k)
	n.latest[p] = task
	return k
}

func (n *Newest) grow(k *kept, bytes int) {
	k.bytes += bytes
	n.bytes += bytes
}

// shrink forgets executions until there is room.
func (n *Newest) shrink() {
	for n.order.Len() > n.o.Executions || n.bytes > n.o.MaxBytes && n.order.Len() > 0 {
		k := n.order.Remove(n.order.Front()).(*kept)
		n.bytes -= k.bytes
		delete(n.byTask, k.task)
		if n.latest[k.place] == k.task {
			delete(n.latest, k.place)
		}
	}
}

// find returns an execution of an item: the one with a task id, or that which has begun last.
func (n *Newest) find(name string, item int, task string) *kept {
	p := place{name, item}
	if task == "" {
		task = n.latest[p]
	}
	if e, ok := n.byTask[task]; ok && e.Value.(*kept).place == p {
		return e.Value.(*kept)
	}
	return nil
}

// Lines returns the lines of an execution of an item that have a larger number than after: so a
// reader follows it by giving the number of the last one that it has. Without a task id it is the
// execution that has begun last. What is not known has no lines.
func (n *Newest) Lines(name string, item int, task string, after int) []Line {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := n.find(name, item, task)
	if k == nil {
		return nil
	}
	from, _ := slices.BinarySearchFunc(k.lines, after+1, func(l Line, number int) int { return l.Number - number })
	return slices.Clone(k.lines[from:])
}

// Events returns the events of an execution of an item, as Lines does its lines.
func (n *Newest) Events(name string, item int, task string) []Event {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := n.find(name, item, task)
	if k == nil {
		return nil
	}
	return slices.Clone(k.events)
}
