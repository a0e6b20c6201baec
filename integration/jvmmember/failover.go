package jvmmember

import (
	"maps"
	"slices"
	"strconv"
)

// The nodes of failover.
const (
	waitingRoot   = "leader/failover/items"
	failoverLatch = "leader/failover/latch"
)

func waitingNode(item int) string { return waitingRoot + "/" + strconv.Itoa(item) }

// putUp says that an item waits for somebody, unless somebody has it already.
func (m *Member) putUp(item int) {
	if !m.exists(itemNode(item, "failover")) {
		m.createIfNeeded(waitingNode(item))
		m.removeIfThere(itemNode(item, "running"))
	}
}

func (m *Member) needsFailover() bool {
	return m.exists(waitingRoot) && len(m.children(waitingRoot)) > 0 && !m.busy.Load()
}

// takeOver takes one item that waits, the last by the order of texts, and fires for it.
func (m *Member) takeOver() {
	if !m.needsFailover() {
		return
	}
	m.inLatch(failoverLatch, func() {
		if m.shut.Load() || !m.needsFailover() {
			return
		}
		waiting := m.children(waitingRoot)
		if len(waiting) == 0 {
			return
		}
		item, err := strconv.Atoi(waiting[0])
		if err != nil {
			return // ElasticJob fails here, and its latch is given back
		}
		m.persistEphemeral(itemNode(item, "failover"), m.id)
		m.persist(itemNode(item, "failovering"), m.id)
		m.removeIfThere(waitingNode(item))
		m.timer.trigger()
	})
}

// itemsIn are the items in the tree whose node of that name has this id, in ascending order.
func (m *Member) itemsIn(name, id string) ([]int, error) {
	var items []int
	for _, child := range m.children(shardingRoot) {
		item, err := strconv.Atoi(child)
		if err != nil {
			return nil, err
		}
		if m.exists(itemNode(item, name)) {
			if value, _ := m.direct(itemNode(item, name)); value == id {
				items = append(items, item)
			}
		}
	}
	slices.Sort(items)
	return items, nil
}

// ownFailovers are the items that this member has taken over.
func (m *Member) ownFailovers() ([]int, error) {
	if m.shut.Load() {
		return nil, nil
	}
	return m.itemsIn("failover", m.id)
}

// crashed are the items that a dead instance owned, and that run: ElasticJob does not look whose
// run it is.
func (m *Member) crashed(id, ip string) ([]int, error) {
	if !m.isEnabled(ip) {
		return nil, nil
	}
	d, err := m.load(true)
	if err != nil {
		return nil, err
	}
	var items []int
	for i := range d.ShardingTotalCount {
		if m.exists(itemNode(i, "running")) {
			if owner, _ := m.cached(itemNode(i, "instance")); owner == id {
				items = append(items, i)
			}
		}
	}
	return items, nil
}

// takeOverLegacy puts up what instances left behind that died when nobody else was there.
func (m *Member) takeOverLegacy() error {
	available, err := m.availableInstances()
	if err != nil {
		return err
	}
	if len(available) != 1 || available[0].ID != m.id {
		return nil
	}
	running, err := m.values("running")
	if err != nil {
		return err
	}
	failovering, err := m.values("failovering")
	if err != nil {
		return err
	}
	if len(running) == 0 && len(failovering) == 0 {
		return nil
	}
	for _, item := range slices.Sorted(maps.Keys(failovering)) {
		if failovering[item] != m.id {
			m.createIfNeeded(waitingNode(item))
			m.removeIfThere(itemNode(item, "failovering"))
			m.clearRunning([]int{item})
			delete(running, item)
		}
	}
	for _, item := range slices.Sorted(maps.Keys(running)) {
		if running[item] != m.id {
			m.putUp(item)
			m.clearRunning([]int{item})
		}
	}
	m.takeOver()
	return nil
}
