package jvmmember

// The nodes of the election.
const (
	leaderNode    = "leader/election/instance"
	electionLatch = "leader/election/latch"
)

func (m *Member) electLeader() {
	m.inLatch(electionLatch, func() {
		if !m.hasLeader() {
			m.persistEphemeral(leaderNode, m.id)
		}
	})
}

func (m *Member) hasLeader() bool { return m.exists(leaderNode) }

// isLeader looks into the cache, which may be behind.
func (m *Member) isLeader() bool {
	if m.shut.Load() {
		return false
	}
	id, _ := m.cached(leaderNode)
	return id == m.id
}

// isLeaderInTheEnd waits as long as there is no leader but a server that could be one.
func (m *Member) isLeaderInTheEnd() bool {
	for !m.hasLeader() && m.hasAvailableServers() {
		if !m.sleep(shortWait) {
			return false
		}
		if !m.shut.Load() && m.isAvailable(m.config.IP) {
			m.electLeader()
		}
	}
	return m.isLeader()
}

func (m *Member) removeLeader() { m.removeIfThere(leaderNode) }
