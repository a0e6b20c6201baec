package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// zooKeeper is an ensemble of three servers.
type zooKeeper struct{ zkserver.Ensemble }

// StartZooKeeper starts an ensemble; ctx bounds the start. The caller closes it.
//
// Errors: zkserver.ErrNotInstalled.
func StartZooKeeper(ctx context.Context) (Store, error) {
	// In each tick the servers send each other two messages, which costs 3 % of a core at the default of 100 ms.
	e, err := zkserver.RunEnsemble(ctx, 3, zkserver.Config{Tick: 200 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	return zooKeeper{e}, nil
}

func (z zooKeeper) Kind() string { return ZooKeeper }

func (z zooKeeper) Addresses() []string { return z.Addrs() }

// Leader implements [Store]. While servers elect a leader, as they do when the machine has stood still,
// it asks again.
func (z zooKeeper) Leader(ctx context.Context) (int, error) {
	for {
		var errs []error
		for i, s := range z.Ensemble {
			leads, err := s.Leads(ctx)
			if leads {
				return i, nil
			}
			errs = append(errs, err)
		}
		if !sleep.For(ctx, patience) {
			return -1, fmt.Errorf("cluster: no ZooKeeper server leads: %w", errors.Join(errs...))
		}
	}
}

func (z zooKeeper) Kill(members ...int) error {
	return z.each(members, (*zkserver.Server).Kill)
}

func (z zooKeeper) Restart(ctx context.Context, members ...int) error {
	return z.each(members, func(s *zkserver.Server) error { return s.Restart(ctx) })
}

// each does something to several servers at the same time.
func (z zooKeeper) each(members []int, do func(*zkserver.Server) error) error {
	results := make(chan error)
	for _, i := range members {
		go func() { results <- do(z.Ensemble[i]) }()
	}
	var errs []error
	for range members {
		errs = append(errs, <-results)
	}
	return errors.Join(errs...)
}

func (z zooKeeper) Pause(member int) error  { return z.Ensemble[member].Pause() }
func (z zooKeeper) Resume(member int) error { return z.Ensemble[member].Resume() }

// MoveLeader restarts the leader: ZooKeeper has no command that moves leadership.
func (z zooKeeper) MoveLeader(ctx context.Context) error {
	leader, err := z.Leader(ctx)
	if err != nil {
		return err
	}
	return z.again(ctx, leader)
}

// again restarts a server in an orderly way.
func (z zooKeeper) again(ctx context.Context, member int) error {
	if err := z.Ensemble[member].Stop(); err != nil {
		return err
	}
	return z.Ensemble[member].Restart(ctx)
}

func (z zooKeeper) Forget(ctx context.Context) error {
	for i := range z.Ensemble {
		if err := z.again(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (z zooKeeper) FillUp(context.Context) error { return z.Kill(0, 1, 2) }

func (z zooKeeper) Free(ctx context.Context) error { return z.Restart(ctx, 0, 1, 2) }

func (z zooKeeper) FillDisk(_ context.Context, member int) error { return z.Kill(member) }

func (z zooKeeper) Sessions(ctx context.Context) (int, error) {
	leader, err := z.Leader(ctx)
	if err != nil {
		return 0, err
	}
	return z.Ensemble[leader].Metric(ctx, "zk_global_sessions")
}
