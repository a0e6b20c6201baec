package doctor

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"
)

// symptom is what one look has found. It is a finding if a second look finds it, too.
type symptom struct {
	Finding
	// mark is the number of what shows the symptom, such as Modified of a node. With another one
	// it is another symptom: the first is over.
	mark int64
	// detail keeps symptoms apart that are about the same thing.
	detail string
	items  []itemMark // ascending; nil if it is about no items
	more   int        // items that had no room
	// takesItems is whether the command is for these items.
	takesItems bool
	// leader is the instance that leads the job; "" if nobody does.
	leader string
}

// itemMark is an item, with a mark as that of a symptom.
type itemMark struct {
	item int
	mark int64
}

const (
	// maxCompared bounds the items of a symptom, and maxItems those of all beyond their first.
	maxCompared = 1000
	maxItems    = 100_000
	// maxOfKind bounds the symptoms of a kind: many of one do not keep others out.
	maxOfKind = 1000
	// maxListed bounds the items of a finding.
	maxListed = 100
)

// key is what a symptom is about.
type key struct {
	kind                        Kind
	job, instance, path, detail string
}

func (s *symptom) key() key { return key{s.Kind, s.Job, s.Instance, s.Path, s.detail} }

// collector gathers the symptoms of one look.
type collector struct {
	jobs  int             // how many were examined
	names map[string]bool // of them
	list  []symptom
	at    map[key]int
	kinds map[Kind]int
	items int // of all symptoms
	more  int // symptoms that had no room
}

func newCollector() *collector {
	return &collector{at: map[key]int{}, names: map[string]bool{}, kinds: map[Kind]int{}}
}

// add notes a symptom, unless there is one of the same key.
func (c *collector) add(s symptom) {
	if _, isThere := c.at[s.key()]; isThere {
		return
	}
	if c.kinds[s.Kind]++; len(c.list) >= MaxFindings || c.kinds[s.Kind] > maxOfKind {
		c.more++
		return
	}
	c.at[s.key()] = len(c.list)
	c.list = append(c.list, s)
}

// addItem notes an item of a symptom. Items come in ascending order.
func (c *collector) addItem(item int, mark int64, s symptom) {
	at, isThere := c.at[s.key()]
	if !isThere {
		s.items = []itemMark{{item, mark}}
		c.add(s)
		return
	}
	there := &c.list[at]
	if len(there.items) >= maxCompared || c.items >= maxItems {
		there.more++
		return
	}
	c.items++
	there.items = append(there.items, itemMark{item, mark})
	there.Since = earlier(there.Since, s.Since)
	there.Severity = max(there.Severity, s.Severity)
}

// standing returns the symptoms of a second look that the first has found, too.
func standing(first, second []symptom) []symptom {
	before := make(map[key]*symptom, len(first))
	for i := range first {
		before[first[i].key()] = &first[i]
	}
	var list []symptom
	for _, s := range second {
		b := before[s.key()]
		if b == nil || b.mark != s.mark {
			continue
		}
		if s.items != nil {
			s.items = slices.DeleteFunc(slices.Clone(s.items), func(i itemMark) bool {
				_, isThere := slices.BinarySearchFunc(b.items, i, compareMarks)
				return !isThere
			})
			if len(s.items) == 0 {
				continue
			}
			s.more = min(s.more, b.more)
		}
		list = append(list, s)
	}
	return list
}

func compareMarks(a, b itemMark) int {
	return cmp.Or(cmp.Compare(a.item, b.item), cmp.Compare(a.mark, b.mark))
}

// finding returns the finding of a symptom.
func (s *symptom) finding() Finding {
	f := s.Finding
	for _, i := range s.items[:min(len(s.items), maxListed)] {
		f.Items = append(f.Items, i.item)
	}
	f.MoreItems = len(s.items) - len(f.Items) + s.more
	if s.takesItems {
		f.Command += " --items " + ranges(f.Items)
	}
	return f
}

// ranges writes ascending numbers as 0,2-4.
func ranges(list []int) string {
	var b []byte
	for at := 0; at < len(list); at++ {
		if at > 0 {
			b = append(b, ',')
		}
		first := at
		for at+1 < len(list) && list[at+1] == list[at]+1 {
			at++
		}
		b = strconv.AppendInt(b, int64(list[first]), 10)
		if at > first {
			b = strconv.AppendInt(append(b, '-'), int64(list[at]), 10)
		}
	}
	return string(b)
}

// union returns the items of two ascending lists, as many as a finding lists, and how many more there are.
func union(a, b []int, more int) ([]int, int) {
	all := slices.Compact(slices.Sorted(slices.Values(append(a[:len(a):len(a)], b...))))
	listed := all[:min(len(all), maxListed)]
	return listed, more + len(all) - len(listed)
}

// earlier returns the earlier one of two times, of which the zero time is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// sortedKeys returns the keys of a map, ascending.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
