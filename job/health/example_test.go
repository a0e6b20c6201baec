package health_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/health"
)

// A program serves the probes before it starts its jobs.
func ExampleHandler() {
	ctx := context.Background()
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)
	node, err := job.NewNode(reg, job.NodeConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}

	mux := http.NewServeMux()
	mux.Handle("/health/", http.StripPrefix("/health", health.Handler(node)))

	for _, path := range []string{"/health/live", "/health/ready", "/health/faults"} {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
		fmt.Print(path, " ", answer.Code, " ", answer.Body)
	}
	// Output:
	// /health/live 200 {"status":"ok"}
	// /health/ready 503 {"status":"failing","error":"job: node: Run was not called yet"}
	// /health/faults 200 {"status":"ok"}
}
