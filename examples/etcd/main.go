// Command etcd is an etcd server for trying things out, for machines that have none:
//
//	go run ./examples/etcd
//
// It listens at 127.0.0.1:2379, and forgets everything when it ends (Ctrl-C).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
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
func run(ctx context.Context, out io.Writer, listen string) (err error) {
	folder, err := os.MkdirTemp("", "etcd-for-trying-out-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	c := embed.NewConfig()
	c.Dir, c.LogLevel = folder, "fatal" // it logs its end as errors
	clients := url.URL{Scheme: "http", Host: listen}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{clients}, []url.URL{clients}
	c.ListenPeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}} // it has no peers
	server, err := embed.StartEtcd(c)
	if err != nil {
		return err
	}
	defer server.Close()
	select {
	case <-server.Server.ReadyNotify():
		fmt.Fprintln(out, "etcd is at", server.Clients[0].Addr())
	case <-time.After(time.Minute):
		return errors.New("it does not start")
	case <-ctx.Done():
		return nil
	}
	select {
	case err := <-server.Err():
		return err
	case <-ctx.Done():
		return nil
	}
}
