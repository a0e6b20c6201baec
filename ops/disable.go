package ops

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// DisableItems keeps items from running. What runs comes to its end; ticks are skipped, and
// requests are skipped. Members of any kind obey it. Without items nothing happens.
//
// Errors: those of a read and of a commit; jobtype.ErrNoItem.
func (j *Job) DisableItems(ctx context.Context, items ...int) error {
	return j.setItems(ctx, ActionDisableItems, items, func(i int) []coord.Op {
		return []coord.Op{coord.Exists(j.name.Item(i)), coord.Create(j.name.ItemDisabled(i), nil)}
	})
}

// EnableItems ends DisableItems. Ticks that have come meanwhile are not made up. Without items
// nothing happens. Errors are those of [Job.DisableItems].
func (j *Job) EnableItems(ctx context.Context, items ...int) error {
	return j.setItems(ctx, ActionEnableItems, items, func(i int) []coord.Op {
		return []coord.Op{coord.Exists(j.name.ItemDisabled(i)), coord.DeleteTree(j.name.ItemDisabled(i))}
	})
}

func (j *Job) setItems(ctx context.Context, action Action, items []int, ops func(int) []coord.Op) error {
	return j.try(ctx, string(action), func(s *jobtree.State) error {
		var groups [][]coord.Op
		var changed []int
		for _, i := range slices.Compact(slices.Sorted(slices.Values(items))) {
			item := s.Item(i)
			if !item.Exists {
				return errNoItem(s, i)
			}
			if item.Disabled != (action == ActionDisableItems) {
				groups, changed = append(groups, ops(i)), append(changed, i)
			}
		}
		act, err := j.ops.act(j.name, action)
		if err != nil {
			return err
		}
		_, err = act.says(itemsText(changed), "", "").commitAll(ctx, groups, coord.Exists(j.name.Config()))
		return err
	})
}

func errNoItem(s *jobtree.State, i int) error {
	if len(s.Items) == 0 {
		return fmt.Errorf("%w: item %d: no items have been assigned yet", jobtype.ErrNoItem, i)
	}
	return fmt.Errorf("%w: item %d is not there; 0 to %d are", jobtype.ErrNoItem, i, len(s.Items)-1)
}

// DisableServers keeps instances at some addresses from having items of the job. Items of other servers are resharded.
// Without addresses it disables the job: all servers that are there, and those that come later, unless a JVM member
// registers them. Then nobody runs anything, and ticks are skipped. Members of any kind obey it.
//
// Errors: ErrNoServer for an address that has none, because a wrong one would look like a success (ElasticJob makes it a
// server; so does [Job.DisableServersAhead]); those of a read and of a commit.
func (j *Job) DisableServers(ctx context.Context, addresses ...string) error {
	err := j.setServers(ctx, ActionDisableServers, addresses, jobtree.Disabled, oneJob)
	if err == nil && len(addresses) == 0 && !j.ops.isDry {
		err = j.setServers(ctx, ActionDisableServers, nil, jobtree.Disabled, oneJob) // one may have come just before the commit
	}
	return err
}

// DisableServersAhead is DisableServers also for servers that are not there yet: instances that come at these addresses
// get no items. Such a server stays until [Job.EnableServers] and the leader's next look, or [Job.RemoveServers].
//
// Errors: one for what is no address; those of a read and of a commit.
func (j *Job) DisableServersAhead(ctx context.Context, addresses ...string) error {
	if len(addresses) == 0 {
		return wrong("servers", "job %s: %s ahead: an address is needed", brief.Text(string(j.name)), ActionDisableServers)
	}
	return j.setServers(ctx, ActionDisableServers, addresses, jobtree.Disabled, ahead)
}

// EnableServers ends DisableServers: for some addresses or, if there are none, for the job, with all servers that are there.
// If the job is disabled and some are enabled, those that come later begin disabled all the same. Ticks that nobody could
// run meanwhile are not made up. Errors are those of [Job.DisableServers].
func (j *Job) EnableServers(ctx context.Context, addresses ...string) error {
	return j.setServers(ctx, ActionEnableServers, addresses, jobtree.Enabled, oneJob)
}

// reach says of whose servers a change is.
type reach int

const (
	oneJob  reach = iota // servers that the job has
	ahead                // also servers that it does not have yet
	allJobs              // a server in all its jobs: one that an operator has disabled as a whole stays so
)

// errDisabled: the job is disabled as a whole.
var errDisabled = errors.New("the job is disabled")

func (j *Job) setServers(ctx context.Context, action Action, addresses []string, state string, of reach) error {
	return j.try(ctx, string(action), func(s *jobtree.State) error {
		if of == allJobs && state == jobtree.Enabled && s.IsDisabled {
			return errDisabled
		}
		var groups [][]coord.Op
		var changed []string
		conditions := []coord.Op{coord.Exists(j.name.Config())}
		detail := "servers "
		switch isAll := len(addresses) == 0; {
		case isAll && s.IsDisabled && state == jobtree.Enabled:
			groups, detail = [][]coord.Op{{coord.Exists(j.name.Disabled()), coord.DeleteTree(j.name.Disabled())}}, "all servers "
		case isAll && !s.IsDisabled && state == jobtree.Disabled:
			groups, detail = [][]coord.Op{{coord.Create(j.name.Disabled(), nil)}}, "all servers "
		case of == allJobs && state == jobtree.Enabled: // nobody disables the job meanwhile
			conditions = append(conditions, coord.Absent(j.name.Disabled()))
		}
		for _, ip := range sortedOr(addresses, maps.Keys(s.Servers)) {
			server := s.Servers[ip]
			var write coord.Op
			switch {
			case server == nil && of != ahead:
				return fmt.Errorf("server %s: %w", brief.Quote(ip), ErrNoServer)
			case server == nil:
				if err := j.checkAddress(ip); err != nil {
					return err
				}
				write = coord.Create(j.name.Server(ip), []byte(state))
			case server.Enabled == (state == jobtree.Enabled):
				continue
			default:
				write = coord.SetAt(j.name.Server(ip), []byte(state), server.Version)
			}
			groups, changed = append(groups, []coord.Op{write}), append(changed, ip)
		}
		act, err := j.ops.act(j.name, action)
		if err != nil {
			return err
		}
		_, err = act.says(strings.TrimSpace(detail+strings.Join(changed, ", ")), "", "").commitAll(ctx, groups, conditions...)
		return err
	})
}

// sortedOr returns some texts, each once, or all if there are none.
func sortedOr(some []string, all iter.Seq[string]) []string {
	if len(some) == 0 {
		return slices.Sorted(all)
	}
	return slices.Compact(slices.Sorted(slices.Values(some)))
}

// checkAddress returns an error if no server of the job can have the address.
func (j *Job) checkAddress(address string) error {
	if address == "" || len(address) > jobtree.MaxIP || strings.Contains(address, "/") || coord.ValidatePath(j.name.Server(address)) != nil {
		return wrong("servers", "address %s: 1 to %d bytes without / are allowed", brief.Quote(address), jobtree.MaxIP)
	}
	return nil
}

// Reshard asks the leader to assign the items now as if nobody had had any: strategies that
// leave items where they are do not know where that was, and static sharding does not count.
// Items that run keep their owners until the next assignment. Pins hold. It is one commit.
//
// Errors: those of a read and of a commit.
func (j *Job) Reshard(ctx context.Context) error {
	return j.try(ctx, "reshard", func(*jobtree.State) error {
		act, err := j.ops.act(j.name, ActionReshard)
		if err != nil {
			return err
		}
		_, err = act.commit(ctx, coord.Exists(j.name.Config()), coord.Put(j.name.Necessary(), nil))
		return err
	})
}
