package strategy

import "fmt"

// Strategy decides which instance owns which item.
//
// Assign returns the owner's id for each item: the result has Request.Total entries, and entry i is the id of the
// owner of item i. An entry is empty only if there are no instances.
//
// Assign must not change what the request refers to, must be safe for concurrent use, and must depend on nothing
// but the request. The leader asks again whenever it looks at the registry centre, with the owners found there as
// Previous, and moves items as long as the answer is another one. So items move for ever if the answer depends on
// a clock or on chance, or if a strategy that gets its own answer as Previous gives another one.
type Strategy interface {
	Assign(Request) []string
}

// Func makes a Strategy of a function.
type Func func(Request) []string

// Assign calls f.
func (f Func) Assign(r Request) []string { return f(r) }

// Request is all that the answer of a strategy may depend on.
type Request struct {
	// Job is the job's name.
	Job string

	// Total is the number of items, numbered from 0. Less than 1 means none.
	Total int

	// Instances are those that may be given items, in the order of [Sort], or in ElasticJob's if the strategy is
	// one of [DescendingID]. Their ids are distinct and not empty. The built-in strategies do not sort them again.
	Instances []Instance

	// Previous has the id of each item's owner until now. "", or an id that is not
	// among Instances, means that the item has no owner any more. Previous may be
	// shorter than Total, if the last items are new, or longer, if there were more items.
	Previous []string
}

// MaxWeight is the largest weight. Larger ones count as this one.
const MaxWeight = 1_000_000

// Instance is one process that may be given items.
type Instance struct {
	// ID is the instance's id, unique in the job.
	ID string

	// IP is the address of the instance's server, IPv4 or IPv6. Only Sort uses it.
	IP string

	// Weight is the instance's share compared with the others', for WEIGHTED
	// only. Less than 1 means 1, more than MaxWeight means MaxWeight.
	Weight int

	// Load is how many items of other jobs the instance's process has; 0 if that is not known.
	// It is for strategies that are [LoadAware] only.
	Load int
}

// Check returns an error unless owners is an answer that a Strategy may give to r: one entry for each item, each
// the id of one of the instances. The error names the first item that is wrong. Check the answer of a strategy
// that somebody else wrote before you act on it.
func Check(r Request, owners []string) error {
	total := max(r.Total, 0)
	if len(owners) != total {
		return fmt.Errorf("sharding of job %q: %d owners for %d items", r.Job, len(owners), total)
	}
	known := make(map[string]bool, len(r.Instances))
	for _, in := range r.Instances {
		known[in.ID] = true
	}
	for item, id := range owners {
		switch {
		case len(known) == 0 && id == "":
		case id == "":
			return fmt.Errorf("sharding of job %q: item %d has no owner", r.Job, item)
		case !known[id]:
			return fmt.Errorf("sharding of job %q: the owner of item %d, %q, is not an available instance", r.Job, item, id)
		}
	}
	return nil
}
