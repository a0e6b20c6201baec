package jvmmember

import "time"

// reconcile looks every minute whether an item belongs to an instance that is not there.
func (m *Member) reconcile() {
	last := m.now()
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		// Without a configuration ElasticJob's task fails.
		if d, err := m.load(true); err == nil {
			interval := time.Duration(d.ReconcileInterval) * time.Minute
			if interval > 0 && m.now().Sub(last) >= interval {
				last = m.now()
				m.reconcileNow()
			}
		}
		select {
		case <-ticker.C:
		case <-m.listening.Done():
			return
		}
	}
}

func (m *Member) reconcileNow() {
	if m.needsSharding() {
		return
	}
	if lost, err := m.hasLostOwners(); err != nil || !lost {
		return
	}
	if still, err := m.keepsOwners(); err == nil && !still {
		m.setReshardingFlag()
	}
}
