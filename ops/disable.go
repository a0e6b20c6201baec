package ops

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// DisableItems keeps items from running. What runs comes to its end; ticks are passed over, and
// requests are skipped. Members of any kind obey it. Without items nothing happens.
//
// Errors: those of a read and of a commit; one for an item that is not there.
func (j *Job) DisableItems(ctx context.Context, items ...int) error {
	return j.setItems(ctx, ActionDisableItems, items, func(i int) coord.Op { return coord.Put(j.name.ItemDisabled(i), nil) })
}

// EnableItems ends DisableItems. Ticks that have come meanwhile are not made up. Without items
// nothing happens. Errors are those of [Job.DisableItems].
func (j *Job) EnableItems(ctx context.Context, items ...int) error {
	return j.setItems(ctx, ActionEnableItems, items, func(i int) coord.Op { return coord.DeleteTree(j.name.ItemDisabled(i)) })
}

func (j *Job) setItems(ctx context.Context, action Action, items []int, op func(int) coord.Op) error {
	return j.try(ctx, string(action), func(s *jobtree.State) error {
		var groups [][]coord.Op
		var changed []int
		for _, i := range slices.Compact(slices.Sorted(slices.Values(items))) {
			item := s.Item(i)
			if !item.Exists {
				return fmt.Errorf("item %d is not there; 0 to %d are", i, len(s.Items)-1)
			}
			if item.Disabled != (action == ActionDisableItems) {
				groups, changed = append(groups, []coord.Op{op(i)}), append(changed, i)
			}
		}
		act, err := j.ops.act(j.name, action)
		if err != nil {
			return err
		}
		return act.says(itemsText(changed), "", "").commitAll(ctx, groups)
	})
}

// DisableServers keeps instances at some addresses from having items of the job; none means
// all that are there, and disables the job: then nobody runs anything, ticks are passed over,
// and a server that comes later is enabled. Items of other servers are dealt anew. Members of
// any kind obey it.
//
// Errors: those of a read and of a commit; one for a server that is not there.
func (j *Job) DisableServers(ctx context.Context, addresses ...string) error {
	return j.setServers(ctx, ActionDisableServers, addresses, jobtree.Disabled)
}

// EnableServers ends DisableServers, for some addresses or, if there are none, for all servers
// that are there. Ticks that nobody could run meanwhile are not made up. Errors are those of
// [Job.DisableServers].
func (j *Job) EnableServers(ctx context.Context, addresses ...string) error {
	return j.setServers(ctx, ActionEnableServers, addresses, jobtree.Enabled)
}

func (j *Job) setServers(ctx context.Context, action Action, addresses []string, state string) error {
	return j.try(ctx, string(action), func(s *jobtree.State) error {
		all := addresses
		if len(all) == 0 {
			all = slices.Sorted(maps.Keys(s.Servers))
		}
		var groups [][]coord.Op
		var changed []string
		for _, ip := range all {
			if s.Servers[ip] == nil {
				return fmt.Errorf("server %s is not there", brief.Quote(ip))
			}
			if s.Servers[ip].Enabled != (state == jobtree.Enabled) && !slices.Contains(changed, ip) {
				groups, changed = append(groups, []coord.Op{coord.Put(j.name.Server(ip), []byte(state))}), append(changed, ip)
			}
		}
		act, err := j.ops.act(j.name, action)
		if err != nil {
			return err
		}
		return act.says("servers "+strings.Join(changed, ", "), "", "").commitAll(ctx, groups)
	})
}

// DealAnew asks the leader to deal the items now as if nobody had had any: strategies that
// leave items where they are do not know where that was, and static sharding does not count.
// Items that run keep their owners until the next deal. Pins hold. It is one commit.
//
// Errors: those of a read and of a commit.
func (j *Job) DealAnew(ctx context.Context) error {
	return j.try(ctx, "deal anew", func(*jobtree.State) error {
		act, err := j.ops.act(j.name, ActionDealAnew)
		if err != nil {
			return err
		}
		_, err = act.commit(ctx, coord.Exists(j.name.Config()), coord.Put(j.name.Necessary(), nil))
		return err
	})
}
