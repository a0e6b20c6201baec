package etcd_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
)

func ExampleDial() {
	ctx := context.Background()
	reg, err := etcd.Dial(ctx, etcd.Config{
		Endpoints: []string{"10.0.0.1:2379", "10.0.0.2:2379", "10.0.0.3:2379"},
		Namespace: "billing",
	})
	switch {
	case errors.Is(err, coord.ErrUnavailable):
		fmt.Println("nobody answered:", err) // the error names the endpoints
		return
	case err != nil:
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx) // ends the session: its ephemeral nodes go at once
}

// Certificates of one's own authority, for the servers and for this client, and a user
// who may read and write the keys of the namespace.
func ExampleDial_secured() {
	authority, err := os.ReadFile("ca.pem")
	if err != nil {
		fmt.Println(err)
		return
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		fmt.Println("ca.pem has no certificate")
		return
	}
	client, err := tls.LoadX509KeyPair("client.pem", "client-key.pem")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	reg, err := etcd.Dial(ctx, etcd.Config{
		Endpoints:      []string{"https://etcd.example.com:2379"},
		Namespace:      "billing",
		SessionTimeout: 5 * time.Second, // crashes are noticed sooner, short disconnects matter more
		Username:       "billing",
		Password:       os.Getenv("ETCD_PASSWORD"),
		TLS:            &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{client}},
		Logger:         zap.Must(zap.NewProduction()),
	})
	if err != nil {
		fmt.Println(err) // coord.ErrDenied for a wrong password or certificate
		return
	}
	defer reg.Close(ctx)
}

// A Mutex of etcd's own package concurrency in the registry's session. The work is begun again if
// the session is lost.
func ExampleRegistry_Concurrency() {
	ctx := context.Background()
	reg, err := etcd.Dial(ctx, etcd.Config{Endpoints: []string{"10.0.0.1:2379"}, Namespace: "billing"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)
	report := func() error {
		session, err := reg.Concurrency(ctx)
		if err != nil {
			return err
		}
		defer session.Close()
		mutex := concurrency.NewMutex(session, "/locks/report") // outside the tree of the jobs
		if err := mutex.Lock(ctx); err != nil {
			return err
		}
		defer mutex.Unlock(session.Client().Ctx()) // also when ctx has ended
		return writeReport(session.Ctx())          // which ends before the store drops the lock
	}
	err = report()
	for errors.Is(err, coord.ErrSessionLost) {
		err = report()
	}
	fmt.Println(err)
}

func writeReport(context.Context) error { return nil }
