package dump_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

// A process answers those who ask it.
func ExampleService() {
	ctx := context.Background()
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
	server := httptest.NewServer(service.Handler()) // or any server of the program
	defer server.Close()

	ask := func(method, page, body string) string {
		r, err := http.NewRequestWithContext(ctx, method, server.URL+page, strings.NewReader(body))
		if err != nil {
			return err.Error()
		}
		r.Header.Set("Authorization", "Bearer from-a-file-of-secrets")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err.Error()
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	var d dump.Dump
	err = json.Unmarshal([]byte(ask("GET", "/dump/settle", "")), &d)
	fmt.Println(d.Status.ItemCount, "items,", d.Differing, "differences,", err)
	fmt.Println(ask("POST", "/command/greet", "you"))
	fmt.Print(ask("GET", "/dump/none", ""))
	// Output:
	// 2 items, 0 differences, <nil>
	// hello, you
	// error: dump: job "none": no such job
}
