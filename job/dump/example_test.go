package dump_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dump"
)

// What the registry has of a job, for a ticket.
func ExampleDirectly() {
	ctx := context.Background()
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)
	if _, err := reg.Commit(ctx,
		coord.Put("settle/servers/10.0.0.1", []byte("ENABLED")),
		coord.Put("settle/servers/10.0.0.10", []byte("DISABLED")),
		coord.Put("settle/sharding/0/instance", []byte("10.0.0.1@-@4711")),
	); err != nil {
		fmt.Println(err)
		return
	}

	d, err := dump.Directly(ctx, reg, "settle")
	if err != nil {
		fmt.Println(err)
		return
	}
	var text strings.Builder
	if err := d.Masked().WriteText(&text); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(strings.ReplaceAll(text.String(), " \n", "\n")) // without the space behind what has no value
	// Output:
	// /settle/sharding |
	// /settle/sharding/0 |
	// /settle/sharding/0/instance | ip1@-@4711
	// /settle/servers |
	// /settle/servers/ip2 | DISABLED
	// /settle/servers/ip1 | ENABLED
}

// A process answers; another one asks it.
func ExampleService() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(context.Background())
	node, err := job.NewNode(reg, job.NodeConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Shutdown(context.Background())
	nothing := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	if _, err := node.Schedule(ctx, job.Config{Name: "settle", Cron: "@daily", ShardingTotalCount: 2}, nothing); err != nil {
		fmt.Println(err)
		return
	}

	service, err := dump.New(reg, node, dump.Options{
		Token: "from-a-file-of-secrets",
		Commands: map[string]dump.Command{"greet": func(_ context.Context, args string, w io.Writer) error {
			_, err := fmt.Fprintf(w, "hello, %s", args)
			return err
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- service.Serve(ctx, l) }()

	c := dump.Client{Address: l.Addr().String(), Token: "from-a-file-of-secrets"}
	d, err := c.Dump(ctx, "settle")
	fmt.Println(d.Status.ItemCount, "items,", d.Differing, "differences,", err)
	fmt.Println(c.Command(ctx, "greet", "you"))
	_, err = c.Text(ctx, "none")
	fmt.Println(errors.Is(err, dump.ErrNoJob))

	stop()
	fmt.Println(<-ended)
	// Output:
	// 2 items, 0 differences, <nil>
	// hello, you <nil>
	// true
	// <nil>
}
