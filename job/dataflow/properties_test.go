package dataflow_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dataflow"
)

func fetchAfter(ctx context.Context, sc job.ShardingContext, after, size int) ([]int, int, error) {
	return nil, after, nil
}
func fetch(ctx context.Context, sc job.ShardingContext, size int) ([]int, error) { return nil, nil }
func process(ctx context.Context, sc job.ShardingContext, rows []int) error      { return nil }
func props(name, value string) func(*job.Config) {
	return func(c *job.Config) { c.Props = map[string]string{name: value} }
}

// What is wrong is refused at the start, with the name of the field.
func TestWrongConfigurations(t *testing.T) {
	same := func(*job.Config) {}
	good := dataflow.WithCursor(fetchAfter, process)
	for _, test := range []struct {
		name   string
		flow   *dataflow.Flow
		change func(*job.Config)
		want   string
	}{
		{"streaming", good, props("streaming.process", "yes"), `props: streaming.process: "yes": true, false are allowed`},
		{"page of none", good, props("dataflow.page.size", "0"), `props: dataflow.page.size: "0": 1 to 1000000 are allowed`},
		{"page too large", good, props("dataflow.page.size", "1000001"), `props: dataflow.page.size: "1000001": 1 to 1000000 are allowed`},
		{"page in words", good, props("dataflow.page.size", "ten"), `props: dataflow.page.size: "ten": 1 to 1000000 are allowed`},
		{"slip", good, props("dataflow.pagesize", "10"), "props: dataflow.pagesize: is not known; did you mean dataflow.page.size?"},
		{"another slip", good, props("streaming.proces", "true"), "props: streaming.proces: is not known; did you mean streaming.process?"},
		{"cursor without records", good, func(c *job.Config) { c.MonitorExecution, c.Failover = job.Off, false }, "monitorExecution false: a dataflow with a cursor needs it"},
		{"no fetch", dataflow.New[int](nil, process), same, "handler: a dataflow needs a function that fetches and one that processes"},
		{"no process", dataflow.New(fetch, nil), same, "handler: a dataflow needs"},
		{"no fetch, with a cursor", dataflow.WithCursor[int, int](nil, process), same, "handler: a dataflow needs"},
		{"no process, with a cursor", dataflow.WithCursor(fetchAfter, nil), same, "handler: a dataflow needs"},
		{"nothing", &dataflow.Flow{}, same, "handler: a dataflow needs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(c *cluster) {
				cfg := config(1)
				test.change(&cfg)
				_, err := job.Schedule(c.Context(), c.dial(), cfg, test.flow)
				if !errors.Is(err, job.ErrInvalidConfig) || !strings.Contains(fmt.Sprint(err), test.want) {
					c.Errorf("got %v, want %s", err, test.want)
				}
			})
		})
	}
}

// A change that is wrong is not put in force, and the flow goes on.
func TestWrongChange(t *testing.T) {
	inCluster(t, func(c *cluster) {
		s := endless()
		m := c.join(config(1), s.flow())
		c.awaitBatch("a batch", s, func(batch) bool { return true })
		c.configure(props("dataflow.page.size", "-1"))
		for m.Status().Fault() == nil {
			c.awaitBatch("a batch", s, func(batch) bool { return true })
		}
		if err := m.Status().Fault(); !strings.Contains(fmt.Sprint(err), "dataflow.page.size") {
			c.Errorf("the fault is %v", err)
		}
		c.awaitBatch("a batch", s, func(b batch) bool { return b.rows == 100 })
	})
}

// Without a cursor a flow needs no records, and reads its properties as they were.
func TestWithoutRecords(t *testing.T) {
	inCluster(t, func(c *cluster) {
		left := 250
		flow := dataflow.New(func(ctx context.Context, sc job.ShardingContext, size int) ([]int, error) {
			return make([]int, min(left, size)), nil
		}, func(ctx context.Context, sc job.ShardingContext, rows []int) error {
			left -= len(rows)
			return nil
		})
		cfg := config(1)
		cfg.MonitorExecution, cfg.Failover = job.Off, false
		if e := c.once(cfg, flow, 1)[0]; e.Outcome != job.OutcomeOK || left != 0 {
			c.Errorf("it ended with %v, %v; %d rows are left", e.Outcome, e.Err, left)
		}
	})
}

// Outside of a scheduler a flow has no cursor.
func TestWithoutScheduler(t *testing.T) {
	err := dataflow.WithCursor(fetchAfter, process).Execute(t.Context(), job.ShardingContext{})
	if !errors.Is(err, job.ErrNoCursor) {
		t.Errorf("got %v", err)
	}
	if err := dataflow.New(fetch, process).Execute(t.Context(), job.ShardingContext{}); err != nil {
		t.Errorf("got %v", err)
	}
	if err := dataflow.New(fetch, nil).Execute(t.Context(), job.ShardingContext{}); err == nil {
		t.Error("a flow without a function runs")
	}
}

// The comment of the package has the properties as the code does.
func TestPropertiesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^//\t([a-z.]+\.[a-z.]+) +(\S+) `).FindAllStringSubmatch(string(text), -1) {
		documented[row[1]] = row[2]
	}
	rows := dataflow.Properties().Rows
	for _, row := range rows {
		if got, ok := documented[row.Name]; !ok || got != row.Default {
			t.Errorf("%s has the default %q, and in the comment %q", row.Name, row.Default, got)
		}
		if !strings.Contains(string(text), row.Meaning+"\n") {
			t.Errorf("%s: the comment does not say %q", row.Name, row.Meaning)
		}
	}
	if len(documented) != len(rows) {
		t.Errorf("the comment has %v", documented)
	}
}
