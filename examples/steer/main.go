// Command steer shows how jobs are steered while they run: one scene for each thing that an
// operator may ask for, in a file of its own.
//
//	go run ./examples/steer
//	go run ./examples/steer kill backfill
//
// The store is in memory, so nothing need be installed. All scenes together take about
// a minute. The calls are the same on etcd and ZooKeeper, and from any other program: package
// ops needs a registry, and runs no job.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// scene is one thing that is shown.
type scene struct {
	name, about string
	play        func(context.Context, *stage) error
}

// scenes returns all scenes, in the order in which they are played.
func scenes() []scene {
	return []scene{
		{"kill", "an execution ends at once, and is not run again", kill},
		{"pause", "no tick begins until the job is resumed", pause},
		{"trigger", "items run now, with a parameter, and the caller waits for what comes of it", trigger},
		{"retry", "the items that failed in a tick run again for it", retry},
		{"backfill", "an item runs for ticks of the past, in order", backfill},
		{"cancel", "a request that waits never begins", cancel},
		{"pin", "an item belongs to instances of one kind", pin},
		{"deal", "items are assigned as if nobody had had any", deal},
		{"disable", "an item, a server, or all servers run nothing", disable},
		{"overlap", "ticks that come while the item runs are skipped", overlap},
		{"crons", "a job fires when any of its expressions does", crons},
		{"calendar", "days and hours that jobs leave out", calendars},
		{"jitter", "the items of a tick do not begin all at once", jitter},
		{"listen", "listeners are told before and after each execution", listen},
		{"once", "one call in the cluster before a tick, and one after it", onceATick},
		{"broadcast", "each instance runs each tick", broadcast},
		{"limit", "an instance has only so many items of a job", limit},
		{"balance", "items go where there are the fewest of all jobs", balance},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]...); err != nil {
		fmt.Fprintln(os.Stderr, "steer:", err)
		os.Exit(1)
	}
}

// run plays the scenes of these names; all, if there is no name.
func run(ctx context.Context, out io.Writer, names ...string) error {
	all := scenes()
	for _, name := range names {
		if !slices.ContainsFunc(all, func(s scene) bool { return s.name == name }) {
			var known []string
			for _, s := range all {
				known = append(known, s.name)
			}
			return fmt.Errorf("there is no scene %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	for _, s := range all {
		if len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		if err := play(ctx, out, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}
