// Command soak runs jobs on real servers for a given time. It causes one fault after another,
// drawn from a seed, and checks the history of all processes.
//
//	go run ./integration/soak -duration 30m -seed 7 -store etcd
//
// In a round it begins a few faults, ends them, and waits until every item has run again. What
// is done depends only on the seed and the number of the round. So the same seed repeats a
// run, and -round repeats one round of it.
//
// It ends with status 1 if a promise was broken, and then leaves all logs in -keep.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
)

func main() {
	cluster.PlayRole()
	var o options
	flag.DurationVar(&o.duration, "duration", 30*time.Minute, "how long new rounds begin")
	flag.Uint64Var(&o.seed, "seed", 0, "what happens; 0 is another one each time")
	flag.StringVar(&o.store, "store", cluster.Etcd, cluster.Etcd+" or "+cluster.ZooKeeper)
	flag.IntVar(&o.round, "round", 1, "the round to begin with")
	flag.IntVar(&o.rounds, "rounds", 0, "how many rounds to run at most; 0 is no bound")
	flag.IntVar(&o.workers, "workers", 5, "how many workers there are, 3 to 8")
	flag.StringVar(&o.keep, "keep", "soak-logs", "where the logs go if a promise was broken")
	flag.Parse()
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano()) % 1_000_000
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		if !errors.Is(err, errBroken) {
			fmt.Fprintln(os.Stderr, "soak:", err)
		}
		os.Exit(1)
	}
}

type options struct {
	duration      time.Duration
	seed          uint64
	store         string
	round, rounds int
	workers       int
	keep          string
}

func (o options) validate() error {
	if o.store != cluster.Etcd && o.store != cluster.ZooKeeper {
		return fmt.Errorf("-store %q: %s and %s are allowed", o.store, cluster.Etcd, cluster.ZooKeeper)
	}
	if o.workers < 3 || o.workers > 8 {
		return fmt.Errorf("-workers %d: 3 to 8 are allowed", o.workers)
	}
	if o.round < 1 {
		return fmt.Errorf("-round %d: 1 or more is allowed", o.round)
	}
	return nil
}
