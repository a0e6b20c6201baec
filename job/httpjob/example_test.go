package httpjob_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// A job posts each of its items to a server.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", r.Method, r.URL, body)
	}))
	defer server.Close()
	ctx := context.Background()
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"}) // etcd.Dial or zk.Dial
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	requests := httpjob.New(httpjob.Options{})
	defer requests.Close()
	finished := make(chan job.Event, 2)
	s, err := job.Schedule(ctx, reg, job.Config{
		Name: "settle", ShardingTotalCount: 2, ShardingItemParameters: "0=Beijing,1=Hong Kong",
		Props: map[string]string{
			"http.uri":    server.URL + "/settle?city=${shardingParameter}",
			"http.method": "POST",
			"http.data":   `{"item": ${shardingItem}, "of": ${json:jobName}}`,
		},
	}, job.OfType(httpjob.Name, requests), job.WithObserver(func(e job.Event) {
		if e.Kind == jobtype.EventFinished {
			finished <- e
		}
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Shutdown(ctx)
	if _, err := s.Trigger(ctx, job.TriggerRequest{}); err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		e := <-finished
		fmt.Printf("%v: %s\n", e.Outcome, e.Output)
	}
	// Unordered output:
	// OK: POST /settle?city=Beijing {"item": 0, "of": "settle"}
	// OK: POST /settle?city=Hong%20Kong {"item": 1, "of": "settle"}
}
