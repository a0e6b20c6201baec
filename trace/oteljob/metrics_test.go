package oteljob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/trace/oteljob"
)

var encoder = attribute.DefaultEncoder()

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, reader := newRig(t), sdkmetric.NewManualReader()
		tracer, err := oteljob.New(oteljob.Options{TracerProvider: r.provider, MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))})
		if err != nil {
			t.Fatal(err)
		}
		c := jobtest.NewCluster(t)
		calls := 0
		config := settleOne
		config.Retry.Attempts = 1
		c.Process("10.0.0.1", tracer.Option()).Schedule(config, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
			switch calls++; calls {
			case 1:
				time.Sleep(6 * time.Minute)
			case 2, 3:
				return errors.New("no money")
			}
			return nil
		}))
		c.Advance(15*time.Minute + time.Minute)
		if err := c.Ops().Job("settle").DisableItems(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		c.Advance(5 * time.Minute)

		var data metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &data); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range data.ScopeMetrics[0].Metrics {
			got = append(got, shown(m)...)
		}
		slices.Sort(got)
		want := []string{
			"elasticjob.execution.duration s elasticjob.job.name=settle,elasticjob.outcome=FAILED,elasticjob.source=MISFIRE: 1, 1s",
			"elasticjob.execution.duration s elasticjob.job.name=settle,elasticjob.outcome=OK,elasticjob.source=NORMAL_TRIGGER: 2, 6m0s",
			"elasticjob.execution.lateness s elasticjob.job.name=settle: 2, 0s",
			"elasticjob.execution.retries {attempt} elasticjob.job.name=settle: 1",
			"elasticjob.tick.due {tick} elasticjob.job.name=settle: 4",
			"elasticjob.tick.made_up {tick} elasticjob.job.name=settle: 1",
			"elasticjob.tick.skipped {tick} elasticjob.job.name=settle,elasticjob.reason=item disabled: 1",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// Examples of a histogram lead to traces.
func TestExemplars(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, reader := newRig(t), sdkmetric.NewManualReader()
		tracer, err := oteljob.New(oteljob.Options{TracerProvider: r.provider, MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))})
		if err != nil {
			t.Fatal(err)
		}
		jobtest.Run(t, sleeps(time.Second), jobtest.Case{Config: job.Config{Name: "settle"}, Options: []job.Option{tracer.Option()}})
		var data metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &data); err != nil {
			t.Fatal(err)
		}
		for _, m := range data.ScopeMetrics[0].Metrics {
			if m.Name != "elasticjob.execution.duration" {
				continue
			}
			point := m.Data.(metricdata.Histogram[float64]).DataPoints[0]
			span := r.one("run settle").SpanContext.SpanID()
			if len(point.Exemplars) != 1 || !bytes.Equal(point.Exemplars[0].SpanID, span[:]) {
				t.Errorf("examples %v, want one of span %s", point.Exemplars, span)
			}
			return
		}
		t.Error("no durations")
	})
}

// shown returns a metric's points as texts: name, unit, attributes and count.
func shown(m metricdata.Metrics) (list []string) {
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			list = append(list, fmt.Sprintf("%s %s %s: %d", m.Name, m.Unit, p.Attributes.Encoded(encoder), p.Value))
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			list = append(list, fmt.Sprintf("%s %s %s: %d, %v", m.Name, m.Unit, p.Attributes.Encoded(encoder), p.Count, time.Duration(p.Sum*float64(time.Second)).Round(time.Second)))
		}
	}
	return list
}
