//go:build !unix

package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
)

// serveDemo refuses: the demo's etcd and its workers are made for Unix.
func (c *cli) serveDemo(context.Context, consoleFlags) error {
	return exit.Errorf(exit.Usage, "--demo is for Linux, macOS and other kinds of Unix only")
}

func (c *cli) demoCommands() []*cobra.Command { return nil }
