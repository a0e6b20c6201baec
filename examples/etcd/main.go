// Command etcd is an etcd server for trying things out, for machines that have none:
//
//	go run ./examples/etcd
//
// It listens at 127.0.0.1:2379, and forgets everything when it ends (Ctrl-C).
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/elasticjob-go/elasticjob/internal/embedetcd"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:2379", "the `address` for clients")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, out io.Writer, listen string) error {
	server, err := embedetcd.Start(ctx, listen)
	if err != nil {
		return err
	}
	defer server.Stop()
	fmt.Fprintln(out, "etcd is at", server.Address())
	select {
	case err := <-server.Err():
		return err
	case <-ctx.Done():
		return nil
	}
}
