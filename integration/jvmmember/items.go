package jvmmember

import (
	"math/bits"
	"slices"
)

// begin writes down that items run, over whatever is there.
func (m *Member) begin(items []int) error {
	m.busy.Store(true)
	d, err := m.load(true)
	if err != nil {
		return err
	}
	if !d.MonitorExecution {
		return nil
	}
	for _, i := range items {
		if d.Failover {
			m.persist(itemNode(i, "running"), m.id)
		} else {
			m.persistEphemeral(itemNode(i, "running"), m.id)
		}
	}
	return nil
}

// complete writes down that items have ended, whoever has their nodes now. V306 keeps the records of those that failed.
func (m *Member) complete(items, failed []int) error {
	m.busy.Store(false)
	d, err := m.load(true)
	if err != nil {
		return err
	}
	if d.MonitorExecution {
		ended := items
		if m.config.Release == V306 {
			ended = slices.DeleteFunc(slices.Clone(items), func(i int) bool { return slices.Contains(failed, i) })
		}
		m.clearRunning(ended)
	}
	if d, err = m.load(true); err != nil {
		return err
	}
	if d.Failover {
		for _, i := range items {
			m.removeIfThere(itemNode(i, "failover"))
			m.removeIfThere(itemNode(i, "failovering"))
		}
	}
	return nil
}

func (m *Member) clearRunning(items []int) {
	for _, i := range items {
		m.removeIfThere(itemNode(i, "running"))
	}
}

// allItems are the items of the configuration.
func (m *Member) allItems() ([]int, error) {
	d, err := m.load(true)
	if err != nil {
		return nil, err
	}
	var items []int
	for i := range d.ShardingTotalCount {
		items = append(items, i)
	}
	return items, nil
}

// anyRuns reports whether any item of the job runs.
func (m *Member) anyRuns() (bool, error) {
	items, err := m.allItems()
	if err != nil {
		return false, err
	}
	return m.runs(items)
}

// runs reports whether any of items runs; no if the job is not monitored.
func (m *Member) runs(items []int) (bool, error) {
	d, err := m.load(true)
	if err != nil || !d.MonitorExecution {
		return false, err
	}
	return m.any(items, "running"), nil
}

// any reports whether any of items has a node of that name.
func (m *Member) any(items []int, name string) bool {
	return slices.ContainsFunc(items, func(i int) bool { return m.exists(itemNode(i, name)) })
}

// without returns the items that have no node of that name. It looks at all of them, as
// ElasticJob does.
func (m *Member) without(items []int, name string) []int {
	var left []int
	for _, i := range items {
		if !m.exists(itemNode(i, name)) {
			left = append(left, i)
		}
	}
	return left
}

func (m *Member) setMisfire(items []int) {
	for _, i := range items {
		m.createIfNeeded(itemNode(i, "misfire"))
	}
}

func (m *Member) clearMisfire(items []int) {
	for _, i := range items {
		m.removeIfThere(itemNode(i, "misfire"))
	}
}

// values are the items of the configuration that have a node of that name, with its value.
func (m *Member) values(name string) (map[int]string, error) {
	items, err := m.allItems()
	if err != nil {
		return nil, err
	}
	found := make(map[int]string)
	for _, i := range items {
		if value, _ := m.cached(itemNode(i, name)); value != "" {
			found[i] = value
		}
	}
	return found, nil
}

// inMapOrder puts items into the order in which Java's HashMap goes over them, if it was made for
// as many: ElasticJob keeps the items of a run in one. So 2 comes before 1.
func inMapOrder(items []int) []int {
	if len(items) == 0 {
		return nil
	}
	room := 1 << bits.Len(uint(len(items)-1))
	ordered := slices.Clone(items)
	slices.SortStableFunc(ordered, func(a, b int) int { return a&(room-1) - b&(room-1) })
	return ordered
}
