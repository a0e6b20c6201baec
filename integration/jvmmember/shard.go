package jvmmember

import (
	"errors"
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// The nodes of sharding.
const (
	shardingRoot = "sharding"
	necessary    = "leader/sharding/necessary"
	processing   = "leader/sharding/processing"
)

// errNoInstance is where ElasticJob fails with a null pointer: its own instance's node is not
// there, but its server is available because of another instance.
var errNoInstance = errors.New("the node of the own instance is not there")

func itemNode(item int, name string) string { return fmt.Sprintf("%s/%d/%s", shardingRoot, item, name) }

// setReshardingFlag asks for a deal; only the leader writes it.
func (m *Member) setReshardingFlag() {
	if m.isLeaderInTheEnd() {
		m.createIfNeeded(necessary)
	}
}

func (m *Member) needsSharding() bool { return m.exists(necessary) }

// shardIfNecessary assigns the items if the member leads, and waits for the leader if not.
func (m *Member) shardIfNecessary() error {
	available, err := m.availableInstances()
	if err != nil {
		return err
	}
	if !m.needsSharding() || len(available) == 0 {
		return nil
	}
	if !m.isLeaderInTheEnd() {
		for m.ctx.Err() == nil && !m.isLeaderInTheEnd() && (m.exists(necessary) || m.exists(processing)) {
			m.sleep(shortWait)
		}
		return nil
	}
	for {
		runs, err := m.anyRuns()
		if err != nil {
			return err
		}
		if !runs || !m.sleep(shortWait) {
			break
		}
	}
	d, err := m.load(false)
	if err != nil {
		return err
	}
	m.persistEphemeral(processing, "")
	m.resetSharding(d.ShardingTotalCount)
	ops, err := m.deal(d, available)
	if err != nil {
		return err
	}
	m.commit(ops...)
	return nil
}

// resetSharding clears the owners, one after the other.
func (m *Member) resetSharding(total int) {
	for i := range total {
		m.removeIfThere(itemNode(i, "instance"))
		m.createIfNeeded(fmt.Sprintf("%s/%d", shardingRoot, i))
	}
	for i, actual := total, len(m.children(shardingRoot)); i < actual; i++ {
		m.removeIfThere(fmt.Sprintf("%s/%d", shardingRoot, i))
	}
}

// deal makes the one transaction of ElasticJob: all owners, instance by instance.
func (m *Member) deal(d document, available []instance) ([]coord.Op, error) {
	switch d.JobShardingStrategyType {
	case "", strategy.AvgAllocation, strategy.Odevity, strategy.RoundRobin:
	default:
		return nil, fmt.Errorf("ElasticJob has no strategy %q", d.JobShardingStrategyType)
	}
	s, err := strategy.Lookup(d.JobShardingStrategyType, nil)
	if err != nil {
		return nil, err
	}
	r := strategy.Request{Job: m.config.Job, Total: d.ShardingTotalCount}
	for _, in := range available {
		r.Instances = append(r.Instances, strategy.Instance{ID: in.ID, IP: in.IP})
	}
	owners := s.Assign(r)
	ops := []coord.Op{coord.Exists(m.config.Job)}
	for _, in := range available {
		for item, owner := range owners {
			if owner == in.ID {
				ops = append(ops, coord.Create(m.node(itemNode(item, "instance")), []byte(owner)))
			}
		}
	}
	return append(ops, coord.Delete(m.node(necessary)), coord.Delete(m.node(processing))), nil
}

// ownItems are the items that the registry gives to this instance.
func (m *Member) ownItems() ([]int, error) {
	if m.shut.Load() || !m.isAvailable(m.config.IP) {
		return nil, nil
	}
	in, ok, err := m.readInstance(m.id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errNoInstance
	}
	if !m.isAvailable(in.IP) {
		return nil, nil
	}
	d, err := m.load(true)
	if err != nil {
		return nil, err
	}
	return m.itemsOf(in.ID, d.ShardingTotalCount), nil
}

func (m *Member) itemsOf(id string, total int) []int {
	var items []int
	for i := range total {
		if owner, _ := m.cached(itemNode(i, "instance")); owner == id {
			items = append(items, i)
		}
	}
	return items
}

// hasLostOwners reports whether an item belongs to nobody who is there.
func (m *Member) hasLostOwners() (bool, error) {
	online := m.children("instances")
	d, err := m.load(true)
	if err != nil {
		return false, err
	}
	for i := range d.ShardingTotalCount {
		if owner, _ := m.cached(itemNode(i, "instance")); !slices.Contains(online, owner) {
			return true, nil
		}
	}
	return false, nil
}
