package job_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// pointerHandler is an error handler whose methods have a pointer, which may be nil.
type pointerHandler struct{ made job.ErrorHandler }

func (h *pointerHandler) ErrorHandler(job.Config, *slog.Logger) (job.ErrorHandler, error) {
	return h.made, nil
}

// pointerStrategy is a strategy whose methods have a pointer, which may be nil.
type pointerStrategy struct{}

func (*pointerStrategy) Assign(strategy.Request) []string { return nil }

func registry(t *testing.T) coord.Registry {
	t.Helper()
	store := memory.NewStore(memory.Options{})
	t.Cleanup(store.Close)
	reg, err := store.Dial(t.Context(), memory.Config{Namespace: "jobs"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := reg.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return reg
}

// An option with a wrong value is an error at the start. It is short, and says which option,
// what is wrong, and what is allowed.
func TestOptionsThatAreRefused(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	ignore := job.ErrorHandlerFunc(func(context.Context, job.ShardingContext, error) {})
	deal := strategy.Func(func(strategy.Request) []string { return nil })
	for _, tc := range []struct {
		name   string
		option job.Option
		says   string
	}{
		{"nil", nil, "option 2 is nil"},
		{"long address", job.WithIP(strings.Repeat("x", 1000)), "1000 bytes, at most 255"},
		{"path as an address", job.WithIP("10.0.0.0/8"), `"10.0.0.0/8" has a slash`},
		{"empty address", job.WithIP(""), "WithIP, the address of this host: it is empty; 1 to 255 bytes"},
		{"address of a folder", job.WithIP(".."), `WithIP, the address of this host: invalid path ".."`},
		{"long network", job.WithNetwork(long), "10.0.0.0/8"},
		{"long label", job.WithLabels("a", long), "1048576 bytes, at most 255"},
		{"label that is no text", job.WithLabels("\xff"), "only UTF-8"},
		{"empty label", job.WithLabels(""), "is empty; 1 to 255 bytes"},
		{"many labels", job.WithLabels(strings.Split(strings.Repeat("a,", 100)+"a", ",")...), "101 labels, at most 100"},
		{"two labels in one", job.WithLabels("a,b"), "without commas"},
		{"weight", job.WithWeight(-1), "weight -1: 1 to"},
		{"empty implementation", job.WithImplementation(""), "is empty; 1 to 1000 bytes"},
		{"long implementation", job.WithImplementation(long), "1048576 bytes, at most 1000"},
		{"implementation that is no text", job.WithImplementation("\xff"), "only UTF-8"},
		{"strategy without a name", job.WithStrategy("", deal), "is empty; 1 to 255 bytes"},
		{"strategy with a long name", job.WithStrategy(long, deal), "1048576 bytes, at most 255"},
		{"strategy with a name that is taken", job.WithStrategy("STICKY", deal), "a built-in one has that name"},
		{"nil strategy", job.WithStrategy("MINE", nil), `strategy "MINE" is nil`},
		{"nil function as a strategy", job.WithStrategy("MINE", strategy.Func(nil)), `strategy "MINE" is nil`},
		{"nil strategy in another order", job.WithStrategy("MINE", strategy.DescendingID(nil)), `strategy "MINE" is nil`},
		{"nil pointer as a strategy", job.WithStrategy("MINE", (*pointerStrategy)(nil)), `strategy "MINE" is nil`},
		{"error handler without a name", job.WithErrorHandler("", ignore), "is empty; 1 to 255 bytes"},
		{"error handler with a long name", job.WithErrorHandler(long, ignore), "1048576 bytes, at most 255"},
		{"two error handlers in one", job.WithErrorHandler("A,B", ignore), "without commas"},
		{"error handler with spaces", job.WithErrorHandler(" A", ignore), "without spaces"},
		{"nil error handler", job.WithErrorHandler("MINE", nil), `error handler "MINE" is nil`},
		{"nil function as an error handler", job.WithErrorHandler("MINE", job.ErrorHandlerFunc(nil)), `error handler "MINE" is nil`},
		{"nil pointer as an error handler", job.WithErrorHandler("MINE", (*pointerHandler)(nil)), `error handler "MINE" is nil`},
		{"listener without a name", job.WithListener("", job.ListenerFuncs{}), "is empty; 1 to 255 bytes"},
		{"nil listener", job.WithListener("a", nil), `listener "a" is nil`},
		{"nil once-listener", job.WithOnceListener("a", nil, job.OnceTimes{}), `listener "a" is nil`},
		{"no time for listeners", job.WithListenerTimeout(0), "more than 0 and up to 24h"},
		{"long time for listeners", job.WithListenerTimeout(25 * time.Hour), "more than 0 and up to 24h"},
		{"time of a call", job.WithOnceListener("a", job.OnceListenerFuncs{}, job.OnceTimes{Call: -1}), "time of a call -1ns"},
		{"time of a tick", job.WithOnceListener("a", job.OnceListenerFuncs{}, job.OnceTimes{Tick: 25 * time.Hour}), "time of a tick 25h"},
		{"grace", job.WithCancelGrace(-1), "must not be negative"},
		{"negative early claims", job.WithEarlyClaims(-1), "-1ns"},
		{"very early claims", job.WithEarlyClaims(10*time.Second + 1), "10s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reg := registry(t)
			c := job.Config{Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 1}
			handler := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
			// The error has to come at once, not when the start gives up.
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			s, err := job.Schedule(ctx, reg, c, handler, job.WithLogger(nil), tc.option)
			if err == nil {
				t.Fatal("allowed", s.Shutdown(t.Context()))
			}
			if !strings.Contains(err.Error(), tc.says) || len(err.Error()) > 500 {
				t.Errorf("%d bytes: %.500s\ndoes not say %s", len(err.Error()), err, tc.says)
			}
		})
	}
}

// The largest values that are allowed fit into the registry.
func TestLargestOptionsAndConfiguration(t *testing.T) {
	reg := registry(t)
	labels := make([]string, 100)
	for i := range labels {
		labels[i] = fmt.Sprintf("%0255d", i)
	}
	c := job.Config{Name: strings.Repeat("j", 200), Cron: "* * * * * ?", ShardingTotalCount: 1, JobParameter: strings.Repeat("p", jobtype.MaxConfigSize-1000)}
	handler := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	s, err := job.Schedule(t.Context(), reg, c, handler, job.WithIP(strings.Repeat("i", 255)),
		job.WithLabels(labels...), job.WithImplementation(strings.Repeat("c", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	node, err := reg.Get(t.Context(), jobtree.Job(c.Name).Instance(s.Status().InstanceID))
	if err != nil {
		t.Error(err)
	}
	tree := coord.NewTree()
	tree.Put(node)
	state := jobtree.Read(tree.Snapshot(), jobtree.Job(c.Name))
	if in := state.Instances[s.Status().InstanceID]; in.Err != nil || len(in.Labels) != 100 {
		t.Errorf("%d labels, %v", len(in.Labels), in.Err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	c.JobParameter += strings.Repeat("p", 1000)
	var invalid *job.FieldError
	if _, err := job.Schedule(t.Context(), reg, c, handler); !errors.As(err, &invalid) || invalid.Field != "config" {
		t.Errorf("a configuration that is too large: %.500v", err)
	}
}

// A strategy with ElasticJob's order of instances can have a name of one's own.
func TestStrategyInElasticJobsOrder(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		average, err := strategy.Lookup(strategy.AvgAllocation, nil)
		c.must(err)
		cfg := c.config()
		cfg.Strategy = "AVG_ALLOCATION_DESCENDING"
		known := job.WithStrategy(cfg.Strategy, strategy.DescendingID(average))
		c.join("10.0.0.1", cfg, nil, known)
		c.join("10.0.0.2", cfg, nil, known)
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 2}, "10.0.0.1": {1}})
	})
}
