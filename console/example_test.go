package console_test

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/elasticjob-go/elasticjob/console"
	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A program serves the console beside what else it serves.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	reg, err := etcd.Dial(ctx, etcd.Config{Endpoints: []string{"127.0.0.1:2379"}, Namespace: "orders"})
	if err != nil {
		log.Fatal(err)
	}
	book := connection.Fixed(map[string]*ops.Ops{"orders": ops.New(reg)})
	who, err := access.Open(access.Options{File: "console-users.yaml"}) // elasticjob console user add anna --role admin
	if err != nil {
		log.Fatal(err)
	}
	c, err := console.New(console.Options{Connections: book, Access: who, Hosts: []string{"127.0.0.1", "localhost"}})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/api/", c) // its paths are fixed: none can be put before them
	server := &http.Server{Addr: "127.0.0.1:8899", Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.ListenAndServe() }()
	select {
	case <-ctx.Done():
	case err := <-served:
		log.Print(err)
	}
	end, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err = errors.Join(c.Close(end), server.Shutdown(end), who.Close(), book.Close(end), reg.Close(end)) // in this order
	if err != nil {
		log.Print(err)
	}
}
