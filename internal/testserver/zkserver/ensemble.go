package zkserver

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/testserver/child"
)

// Ensemble is a few servers that replicate each other.
type Ensemble []*Server

// StartEnsemble runs n servers until the end of the test. It calls Require first.
func StartEnsemble(t testing.TB, n int, cfg Config) Ensemble {
	t.Helper()
	Require(t)
	e, err := RunEnsemble(context.Background(), n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// RunEnsemble starts n servers and returns when all of them serve. The caller has to close
// the ensemble. ctx bounds the start only.
//
// Errors: ErrNotInstalled.
func RunEnsemble(ctx context.Context, n int, cfg Config) (Ensemble, error) {
	ports, err := child.FreePorts(2 * n)
	if err != nil {
		return nil, err
	}
	var peers []peer
	for i := range n {
		peers = append(peers, peer{id: i + 1, quorumPort: ports[2*i], electionPort: ports[2*i+1]})
	}
	var e Ensemble
	for _, p := range peers {
		s, err := newServer(cfg)
		if err != nil {
			return nil, errors.Join(err, e.Close())
		}
		s.id, s.peers = p.id, peers
		e = append(e, s)
		if err := s.launch(); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	for _, s := range e {
		if err := s.await(ctx); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	return e, nil
}

// Addrs returns the addresses of all members.
func (e Ensemble) Addrs() []string {
	var addrs []string
	for _, s := range e {
		addrs = append(addrs, s.Addr())
	}
	return addrs
}

// Leader returns the member that leads.
func (e Ensemble) Leader(ctx context.Context) (*Server, error) {
	var errs []error
	for _, s := range e {
		leads, err := s.Leads(ctx)
		if leads {
			return s, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("no member leads: %w", errors.Join(errs...))
}

// Close kills all members and removes their data.
func (e Ensemble) Close() error {
	var errs []error
	for _, s := range e {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
