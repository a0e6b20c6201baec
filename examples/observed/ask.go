package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/elasticjob-go/elasticjob/job/dump"
	"github.com/elasticjob-go/elasticjob/trace/history"
	"github.com/elasticjob-go/elasticjob/trace/oteljob"
	"github.com/elasticjob-go/elasticjob/trace/prom"
)

// pages are what the process answers over HTTP.
func pages(service *dump.Service, metrics *prom.Metrics) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.Handle("/", service.Handler())
	return mux
}

// look asks a process that runs the job, at its port.
func look(ctx context.Context, address string, out io.Writer) error {
	var log struct{ Lines []dump.Line }
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for ; len(log.Lines) == 0; <-again.C { // they come a moment after the run
		text, err := get(ctx, address, "/log/settle?item=1")
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &log); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "The newest lines of item 1, from memory:")
	for _, l := range log.Lines {
		fmt.Fprintf(out, "  %v %s\n", l.Level, l.Text)
	}
	text, err := get(ctx, address, "/dump/settle?format=text")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "Of the dump:")
	only(out, text, "/settle/sharding/2/")
	if text, err = get(ctx, address, "/metrics"); err != nil {
		return err
	}
	fmt.Fprintln(out, "Of the metrics:")
	only(out, text, "elasticjob_executions_finished_total", "elasticjob_retries_total")
	return nil
}

// get returns a page of a process.
func get(ctx context.Context, address, page string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+page, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

// only writes the lines that begin with one of some words.
func only(out io.Writer, text []byte, words ...string) {
	for line := range strings.Lines(string(text)) {
		for _, word := range words {
			if strings.HasPrefix(line, word) {
				fmt.Fprint(out, "  ", line)
			}
		}
	}
}

// ask asks the history, as an operator does a week later.
func ask(ctx context.Context, reader history.Reader, begin time.Time, spans traces, out io.Writer) error {
	fmt.Fprintln(out, "The newest run of each item, from the history:")
	latest, err := reader.Latest(ctx, "settle", -1, 10)
	if err != nil {
		return err
	}
	for _, x := range latest {
		fmt.Fprintf(out, "  item %d for %s: %s after %d attempts, %v\n", x.Item, x.ScheduledTime.Format(time.TimeOnly), x.Outcome, x.Attempts, x.Duration.Round(time.Millisecond))
	}
	fmt.Fprintln(out, "How runs ended, by hour:")
	hours, err := reader.Counts(ctx, history.CountQuery{Job: "settle", From: begin, To: time.Now().Add(time.Hour), Step: history.Hourly})
	if err != nil {
		return err
	}
	for _, h := range hours {
		fmt.Fprintf(out, "  from %s: %v\n", h.Start.Format(time.DateTime), h.Executions)
	}
	failures, err := reader.Executions(ctx, history.ExecutionFilter{Job: "settle", Outcomes: history.Failures(), From: begin, Limit: 1})
	if err != nil {
		return err
	}
	if len(failures.Rows) == 0 {
		return errors.New("no run has failed")
	}
	failed := failures.Rows[0]
	fmt.Fprintf(out, "What failed last: item %d for %s: %s\n", failed.Item, failed.ScheduledTime.Format(time.TimeOnly), failed.Error)
	lines, err := reader.Lines(ctx, failed.ID, 0, 100)
	if err != nil {
		return err
	}
	for _, l := range lines {
		fmt.Fprintf(out, "  %v %s\n", l.Level, l.Text)
	}
	id := oteljob.TraceOfTick(namespace, "settle", failed.ScheduledTime)
	_, err = fmt.Fprintf(out, "Its trace %s has the spans %s\n", id, strings.Join(spans[id], ", "))
	return err
}

// traces are the names of spans by trace: a backend of OpenTelemetry that is small.
type traces map[oteltrace.TraceID][]string

// ExportSpans implements [sdktrace.SpanExporter].
func (t traces) ExportSpans(_ context.Context, list []sdktrace.ReadOnlySpan) error {
	for _, span := range list {
		id := span.SpanContext().TraceID()
		t[id] = append(t[id], span.Name())
	}
	return nil
}

// Shutdown implements [sdktrace.SpanExporter].
func (t traces) Shutdown(context.Context) error { return nil }
