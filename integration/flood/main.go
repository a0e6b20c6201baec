//go:build linux

// Command flood attacks a console as strangers, and as users with few rights, while an honest user works with it:
//
//	go run ./integration/flood -for 60s
//
// It builds the command elasticjob, and starts etcd, a console and a worker of it as processes of their own, on Linux.
// At the same time there are streams, connections that send their headers slowly, log-ins that send their bodies slowly,
// wrong passwords, junk in the tree of one job, and a user who changes another job all the time. They come from
// addresses of their own within 127.0.0.0/8.
//
// The exit status is 1 if the honest user was not answered in 99 of 100 requests within a second, if one of its
// requests failed or one of its changes is missing in the audit, if the console took more memory than the chart gives
// it, or if the worker did not run.
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
)

// plan is how strong the attack is.
type plan struct {
	streams, connections, bodies, guesses, junk, crumbs int
	length                                              time.Duration
}

// What the honest user is promised.
const (
	slowest    = time.Second // of 99 of 100 requests
	mostMemory = 512 << 20   // the limit of the console in the chart
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var p plan
	flag.IntVar(&p.streams, "streams", 2000, "streams")
	flag.IntVar(&p.connections, "connections", 3000, "connections that send their headers slowly")
	flag.IntVar(&p.bodies, "bodies", 600, "log-ins that send their bodies slowly")
	flag.IntVar(&p.guesses, "guesses", 8, "addresses that guess passwords")
	flag.IntVar(&p.junk, "junk", 150, "nodes of 1.2 MB below a job")
	flag.IntVar(&p.crumbs, "crumbs", 300_000, "nodes without a value below it")
	flag.DurationVar(&p.length, "for", time.Minute, "how long")
	flag.Parse()
	r, err := attack(ctx, p)
	if err == nil {
		fmt.Print(r)
		err = r.broken()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "flood:", err)
		os.Exit(1)
	}
}

// attack starts everything, and returns what came of it.
func attack(ctx context.Context, p plan) (r report, err error) {
	t, err := build(ctx, p)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	quiet, err := t.work(ctx, max(p.length/6, time.Second))
	if err != nil {
		return r, fmt.Errorf("before the attack: %w", err)
	}
	end := t.attack(ctx, p)
	during, err := t.work(ctx, p.length)
	met := end()
	if err != nil {
		return r, err
	}
	r = report{plan: p, quiet: quiet, during: during, met: met}
	if r.memory, err = peakMemory(t.console.Process.Pid); err != nil {
		return r, err
	}
	r.audited, err = t.audited(ctx)
	r.changed = quiet.changes + during.changes
	return r, err
}
