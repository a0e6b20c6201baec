// Command orders pays the orders of a table, with nothing else installed:
//
//	go run ./examples/orders
//
// The orders stand in a SQLite table. Four items share them by key, and three instances of the
// job share the items: each instance streams its orders in batches. In the middle one instance
// freezes and another one is asked to leave; the others go on from the cursors. When the frozen
// one wakes up, it wants to pay orders that others have paid, and the table refuses that. In the
// end SQL says whether every order was paid exactly once.
//
// What a program of your own needs is in flow.go. The tables are in table.go, the story in
// story.go. The three instances are schedulers in one process, on a store in memory; in a
// program of your own each is a process, and the store is etcd or ZooKeeper.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

type settings struct {
	orders, page int
	pace         time.Duration // what a batch takes
	file         string        // for the tables; empty: a temporary one
}

func main() {
	var s settings
	flag.IntVar(&s.orders, "orders", 2000, "number of orders, 100 to 1,000,000")
	flag.IntVar(&s.page, "page", 20, "number of orders in a batch")
	flag.DurationVar(&s.pace, "pace", 20*time.Millisecond, "what a batch takes besides")
	flag.StringVar(&s.file, "file", "", "a new file that keeps the tables; empty: a temporary one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait
	if err := run(ctx, s, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(1)
	}
}

// run pays all orders, and returns an error if one was not paid exactly once.
func run(ctx context.Context, s settings, out io.Writer) (err error) {
	if s.orders < 100 || s.orders > 1_000_000 {
		return fmt.Errorf("%d orders: 100 to 1,000,000 are allowed", s.orders)
	}
	if s.file == "" {
		dir, err := os.MkdirTemp("", "orders-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }() // the system removes it otherwise
		s.file = filepath.Join(dir, "orders.db")
	}
	db, err := create(ctx, s.file, s.orders, items)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := tell(ctx, db, s, out); err != nil {
		return err
	}
	return check(ctx, db, out)
}
