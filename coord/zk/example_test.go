package zk_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
)

func ExampleDial() {
	ctx := context.Background()
	reg, err := zk.Dial(ctx, zk.Config{
		Servers:   []string{"10.0.0.1", "10.0.0.2", "10.0.0.3:2182"}, // port 2181 unless given
		Namespace: "billing",
	})
	switch {
	case errors.Is(err, coord.ErrUnavailable):
		fmt.Println("nobody answered:", err) // the error names the servers
		return
	case err != nil:
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx) // ends the session: its ephemeral nodes go at once
}

// TLS with one's own authority, and nodes that only the user billing may read and write.
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
	ctx := context.Background()
	reg, err := zk.Dial(ctx, zk.Config{
		Servers:        []string{"zk1.example.com:2281", "zk2.example.com:2281", "zk3.example.com:2281"},
		Namespace:      "prod/billing",
		SessionTimeout: 6 * time.Second, // the ensemble may grant less or more
		Digest:         "billing:" + os.Getenv("ZOOKEEPER_PASSWORD"),
		TLS:            &tls.Config{RootCAs: roots},
		Logger:         zap.Must(zap.NewProduction()),
	})
	if err != nil {
		fmt.Println(err) // coord.ErrDenied if the namespace belongs to another user
		return
	}
	defer reg.Close(ctx)
}
