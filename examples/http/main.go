// Command http runs a job that sends a request for each of its items, to a server in the same
// process:
//
//	go run ./examples/http
//
// One item is refused for a moment, and sent again. For another one the server works longer than
// a request may take: it is polled. The program ends after a few ticks.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

const (
	cities = 3
	rounds = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A secret is not in the configuration of a job. This one is only for show.
	if err := os.Setenv("BILLING_TOKEN", "for-show"); err != nil {
		fail(err)
	}
	if err := run(ctx, os.Stdout); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// run runs the job until each item has succeeded a few times, or ctx ends.
func run(ctx context.Context, to io.Writer) (err error) {
	out := &lines{to: to}
	url, stop, err := serveBilling(out)
	if err != nil {
		return err
	}
	defer stop()
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		return err
	}
	defer reg.Close(context.WithoutCancel(ctx))
	requests := httpjob.New(httpjob.Options{})
	defer requests.Close()

	finished := make(chan job.Event, 100)
	s, err := job.Schedule(ctx, reg, job.Config{
		Name: "settle", Cron: "* * * * * ?",
		ShardingTotalCount: cities, ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou",
		Timeout: 20 * time.Second,
		Props: map[string]string{
			"http.uri":                  url + "/settle/${shardingParameter}",
			"http.method":               "PUT",
			"http.content.type":         "application/json",
			"http.data":                 `{"city": ${json:shardingParameter}, "token": ${token}}`,
			"http.header.Authorization": "Bearer ${env:BILLING_TOKEN}",
			"http.poll":                 "true",
		},
	}, job.OfType(httpjob.Name, requests), job.WithObserver(func(e job.Event) {
		if e.Kind == jobtype.EventFinished {
			finished <- e
		}
	}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Shutdown(context.WithoutCancel(ctx))) }()

	for succeeded := map[int]int{}; len(succeeded) < cities || min(succeeded[0], succeeded[1], succeeded[2]) < rounds; {
		select {
		case e := <-finished:
			out.printf("worker: item %d: %v after %v: %s", e.Item, e.Outcome, e.Took.Round(time.Millisecond), e.Output)
			if e.Err != nil {
				return e.Err
			}
			succeeded[e.Item]++
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// lines are written by several goroutines.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lines) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.to, format+"\n", args...)
}
