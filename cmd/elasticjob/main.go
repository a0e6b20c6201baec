// Command elasticjob shows, steers, changes, checks and moves the jobs of a namespace: see
// elasticjob help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(int(command.Run(ctx, command.Process(), os.Args[1:]...)))
}
