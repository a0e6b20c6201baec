//go:build unix

package command

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/demo"
)

// serveDemo serves the console of a demo, which begins and ends with it.
func (c *cli) serveDemo(ctx context.Context, f consoleFlags) (err error) {
	command, err := c.demoWorker()
	if err != nil {
		return err
	}
	d, err := demo.Start(ctx, demo.Options{Worker: command, Log: slog.New(slog.NewTextHandler(c.env.Err, nil))})
	defer func() { err = cmp.Or(err, closeIn(ctx, d.Close)) }()
	if err != nil {
		return err
	}
	return c.serveOwn(ctx, &f, d.Store, demo.Namespace, "A demo with a store, three workers and their jobs. All of it ends with this command.\n\n")
}

// demoWorkerUse is the command with which the demo starts its workers.
const demoWorkerUse = "demo-worker"

// demoWorker is the command line of a worker.
func (c *cli) demoWorker() ([]string, error) {
	self, err := exec.LookPath(os.Args[0]) // not os.Executable: the name says what the program is
	return []string{self, "console", demoWorkerUse}, err
}

// demoCommands are what the demo needs beside its flag.
func (c *cli) demoCommands() []*cobra.Command {
	return []*cobra.Command{{
		Use: demoWorkerUse + " ORDERS", Short: "A worker of the demo", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return demo.Work(cmd.Context(), args[0], c.env.In, c.env.Supervisor)
		},
	}}
}
