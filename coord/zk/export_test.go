package zk

import "github.com/elasticjob-go/elasticjob/coord"

// SessionPassword is what proves to a server that a connection belongs to the
// registry's session.
func (r *Registry) SessionPassword() (coord.SessionID, []byte) {
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if s == nil {
		return 0, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id, s.password
}
