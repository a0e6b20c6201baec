package connection_test

import (
	"context"
	"fmt"
	"log"

	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A book connects when somebody asks for a namespace, and then keeps the connection.
func ExampleOpen() {
	store := memory.NewStore(memory.Options{})
	book, err := connection.Open(connection.Options{
		Given: []connection.Given{{Namespace: connection.Namespace{Name: "prod", Kind: connection.Etcd, Endpoints: []string{"etcd-0:2379"}, Path: "shop"}}},
		Dial: func(ctx context.Context, n connection.Namespace) (coord.Registry, error) { // etcd.Dial, mostly
			return store.Dial(ctx, memory.Config{Namespace: n.Path})
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	defer book.Close(ctx)

	prod, err := book.Ops(ctx, "prod") // for each request anew
	if err != nil {
		log.Fatal(err)
	}
	if err := prod.By("anna").Create(ctx, ops.CreateRequest{Config: job.Config{Name: "settle", ShardingTotalCount: 1}}); err != nil {
		log.Fatal(err)
	}
	for _, state := range book.States() {
		fmt.Println(state.Name, state.Phase)
	}
	// Output: prod connected
}

// A password is shown to nobody who prints it.
func ExamplePlain() {
	fmt.Println(connection.Plain("secret"), connection.Plain("${env:ETCD_PASSWORD}"))
	// Output: *** ${env:ETCD_PASSWORD}
}
