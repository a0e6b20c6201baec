// Command quickstart shows a sharded cron job at work, with nothing else installed:
//
//	go run ./examples/quickstart
//
// It starts etcd within itself and three instances of the job as processes of their own,
// which share the files below a folder: each item hashes and counts its part of them.
// While they work it kills one with SIGKILL in mid-item, lets one leave gracefully and
// one join, and draws who runs what. In the end it checks that every tick of every item
// ran once, that what was cut short was run again, and that the counts are those of one
// process alone.
//
// What a program of your own needs is in worker.go. The story is in story.go; crew.go
// has the processes, ledger.go the record of what ran, check.go what is asked of it.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/embedetcd"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == workerCommand {
		exitOn(workerMain(os.Args[2:], os.Stdin, os.Stdout), errorCode)
		return
	}
	settings, err := parse(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	exitOn(err, usageCode)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait
	exitOn(show(ctx, settings, os.Stdout), errorCode)
}

const (
	errorCode = 1
	usageCode = 2
)

func exitOn(err error, code int) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(code)
	}
}

// show runs the whole show. It returns an error if the show could not go on to its end, or if
// a promise was broken.
func show(ctx context.Context, s settings, out io.Writer) (err error) {
	begun := time.Now()
	jobName := "count-files-" + rand.Text()[:6] // nobody else's, on a store that others use
	where := s.store.String()
	if len(s.store.Servers) == 0 {
		server, err := embedetcd.Start(ctx, "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("start etcd: %w", err)
		}
		defer server.Stop()
		s.store.Servers = []string{server.Address()}
		where = "etcd within this program, at " + s.store.Servers[0]
	}
	reg, err := s.store.dial(ctx, zap.NewNop())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tidyUp(reg, jobName)) }()
	view, err := reg.View(ctx, jobName, coord.AllLevels)
	if err != nil {
		return fmt.Errorf("follow the job: %w", err)
	}
	defer view.Close()

	stage := newStage(s, jobName, view, out)
	defer stage.close()
	stage.say("the registry is %s", where)
	stage.say("%d items share the files below %s, every %v", s.items, s.dir, s.every)
	if err := stage.play(ctx); err != nil {
		return err
	}
	alone, err := countAlone(ctx, s.dir, s.items)
	if err != nil {
		return err
	}
	return stage.sumUp(begun, alone)
}

// tidyUp removes the job from the registry, which may be one that others use, and
// closes that.
func tidyUp(reg coord.Registry, jobName string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err := reg.Commit(ctx, coord.DeleteTree(jobName))
	if err != nil {
		err = fmt.Errorf("remove the job: %w", err)
	}
	return errors.Join(err, reg.Close(ctx))
}

// countAlone does the work of all items in this process.
func countAlone(ctx context.Context, dir string, items int) ([]result, error) {
	results := make([]result, items)
	for i := range results {
		var err error
		if results[i], err = count(ctx, dir, i, items, 0, func(done, files int) {}); err != nil {
			return nil, fmt.Errorf("count alone: %w", err)
		}
	}
	return results, nil
}
