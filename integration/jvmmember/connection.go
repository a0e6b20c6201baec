package jvmmember

import "github.com/elasticjob-go/elasticjob/coord"

// minded is what becomes of the job while the connection is lost and when it is there again, be
// it in the same session or in a new one. What runs goes on.
func (m *Member) minded() {
	away := false
	for m.listening.Err() == nil {
		session, err := m.config.Registry.Session(m.listening)
		if err != nil {
			return // the job is shut down, or the registry closed: then a request will say so
		}
		for lost := false; !lost; {
			state, changed := session.State()
			switch {
			case state == coord.Connected && away:
				away = false
				m.reconnected()
			case state != coord.Connected && !away:
				away = true
				m.timer.pause()
			}
			if lost = state == coord.Lost; lost {
				break
			}
			select {
			case <-changed:
			case <-m.listening.Done():
				return
			}
		}
	}
}

// reconnected registers the instance again, and clears the items that it owns, whoever runs them.
func (m *Member) reconnected() {
	if m.shut.Load() {
		return
	}
	m.persistServer(m.isEnabled(m.config.IP))
	m.persistInstance()
	items, err := m.ownItems()
	if err != nil {
		return // ElasticJob fails here, and stays paused
	}
	m.clearRunning(items)
	m.timer.resume()
}
