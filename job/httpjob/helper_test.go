package httpjob_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
)

// props are properties of a job.
type props map[string]string

// with returns the properties with some changed.
func (p props) with(more props) props {
	all := maps.Clone(p)
	maps.Copy(all, more)
	return all
}

// get are the properties of a job that gets a URL, and does so once.
func get(url string) props {
	return props{"http.uri": url, "http.method": "GET", "http.retry.attempts": "0"}
}

func post(url string) props { return get(url).with(props{"http.method": "POST"}) }

// sharding is the context of an execution.
func sharding() job.ShardingContext {
	return job.ShardingContext{
		JobName: "settle", TaskID: "0193-task", InstanceID: "10.0.0.1@-@1", Total: 3, Item: 2, ItemParameter: "Guangzhou", JobParameter: "all",
		ScheduledTime: time.Date(2026, 5, 1, 2, 0, 0, 0, time.UTC), Source: job.SourceNormal, Attempt: 1, Token: 42,
	}
}

// newType returns a type that is closed at the end of the test.
func newType(t testing.TB, o httpjob.Options) *httpjob.Type {
	requests := httpjob.New(o)
	t.Cleanup(requests.Close)
	return requests
}

// handlerOf returns the handler for some properties.
func handlerOf(t testing.TB, of *httpjob.Type, p props) job.Handler {
	t.Helper()
	h, err := of.Handler(job.Config{Name: "settle", ShardingTotalCount: 3, Props: p})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// execute runs an item under some properties.
func execute(t testing.TB, p props) error {
	t.Helper()
	return executeIn(t, t.Context(), p)
}

func executeIn(t testing.TB, ctx context.Context, p props) error {
	t.Helper()
	return handlerOf(t, newType(t, httpjob.Options{}), p).Execute(ctx, sharding())
}

// serve starts a server that ends with the test.
func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}
