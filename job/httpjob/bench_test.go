package httpjob_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
)

// BenchmarkHTTP compares an execution with the bare request that it sends, and with the call of
// a handler that does nothing. The server is in the same process: its work and its allocations
// are in both.
func BenchmarkHTTP(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)  // until the other side ends
		_, _ = io.WriteString(w, "settled") // who reads it notices if it fails
	}))
	b.Cleanup(server.Close)
	sc := sharding()

	b.Run("execution", func(b *testing.B) {
		h := handlerOf(b, newType(b, httpjob.Options{}), post(server.URL+"/settle/${shardingItem}").with(props{
			"http.data": `{"city":${json:shardingParameter}}`, "http.content.type": "application/json",
		}))
		b.ReportAllocs()
		for b.Loop() {
			if err := h.Execute(b.Context(), sc); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare request", func(b *testing.B) {
		transport := &http.Transport{DialContext: (&net.Dialer{}).DialContext}
		defer transport.CloseIdleConnections()
		client := http.Client{Transport: transport}
		b.ReportAllocs()
		for b.Loop() {
			response, err := client.Post(server.URL+"/settle/2", "application/json", strings.NewReader(`{"city":"Guangzhou"}`))
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.ReadAll(response.Body) // until the other side ends
			_ = response.Body.Close()        // nothing is read or written any more
		}
	})
	b.Run("bare handler", func(b *testing.B) {
		var h job.Handler = job.HandlerFunc(func(_ context.Context, _ job.ShardingContext) error { return nil })
		b.ReportAllocs()
		for b.Loop() {
			if err := h.Execute(b.Context(), sc); err != nil {
				b.Fatal(err)
			}
		}
	})
}
