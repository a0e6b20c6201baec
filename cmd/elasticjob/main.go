// Command elasticjob shows, steers, changes, checks and moves the jobs of a namespace: see
// elasticjob help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
	_ "time/tzdata" // hosts and images may have no zone files

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/command"
	"github.com/elasticjob-go/elasticjob/job/script"
)

func main() { run(0) }

// run is main. patience is that of [command.Environment].
func run(patience time.Duration) {
	supervisor := script.Supervise() // first of all: a process of its own may begin here
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	env := command.Process()
	env.Supervisor, env.Patience = supervisor, patience
	os.Exit(int(command.Run(ctx, env, os.Args[1:]...)))
}
