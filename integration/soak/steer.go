package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// steerEvery is the longest time between two things that the operator does.
const steerEvery = 400 * time.Millisecond

// hasty is the session time-out of the operator: he soon gives up a request without an answer.
const hasty = 2 * time.Second

// fewest is how many items every job has at all times.
const fewest = 3

// hire starts the operator who steers in all rounds.
func (s *soak) hire(ctx context.Context) (err error) {
	if s.operator, err = s.Hire(ctx, hasty); err != nil {
		return err
	}
	steered := slices.Clone(managed)
	for _, j := range jobs {
		j.Items = fewest
		steered = append(steered, j)
	}
	var addresses []string
	for _, name := range s.names {
		addresses = append(addresses, cluster.Address(name))
	}
	s.steering = cluster.NewSteering(s.operator, s.seed, steered, addresses)
	return nil
}

// steer has the operator do one thing after the other, at random, until the function that it
// returns is called. At times his answers are lost.
func (s *soak) steer(ctx context.Context, round uint64) (dismiss func() error) {
	ctx, cancel := context.WithCancel(ctx)
	r := rand.New(rand.NewPCG(s.seed, round<<1|1))
	s.steering.Reseed(s.seed<<20 + round)
	failed := make(chan error, 1)
	go func() {
		var err error
		if r.IntN(4) == 0 {
			err = s.operator.Break([]string{cluster.DropAnswers, cluster.Slow}[r.IntN(2)])
		}
		for err == nil && sleep.For(ctx, time.Duration(r.Int64N(int64(steerEvery)))) {
			if _, err = s.steering.Act(ctx); err != nil {
				err = fmt.Errorf("round %d: %w", round, err)
			}
		}
		s.operator.Mend()
		failed <- err
	}()
	return func() error {
		cancel()
		return <-failed
	}
}
