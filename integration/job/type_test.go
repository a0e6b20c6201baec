package job_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// begin is schedule for any handler. What it does is not recorded.
func (m *member) begin(cfg job.Config, h job.Handler, opts ...job.Option) error {
	s, err := job.Schedule(m.c.Context(), m.reg, cfg, h, append([]job.Option{job.WithIP(m.ip)}, opts...)...)
	if err == nil {
		m.Scheduler = s
	}
	return err
}

// greeting is a type whose jobs greet somebody.
func greeting(greets chan<- string) job.Type {
	return job.TypeFunc(func(c job.Config) (job.Handler, error) {
		name, ok := c.Props["greeting.name"]
		if !ok {
			return nil, &job.ConfigError{Faults: []*job.FieldError{{Field: "props: greeting.name", Err: errors.New("is required")}}}
		}
		return job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			select {
			case greets <- fmt.Sprintf("%s %s %d", name, sc.Properties, sc.Item):
			case <-ctx.Done():
			}
			return nil
		}), nil
	})
}

func greetingJob(name string) job.Config {
	return job.Config{Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 1, Props: map[string]string{"greeting.name": name}}
}

// A type checks the properties at the start and at each change, and an execution has the
// handler of the configuration in force. The job's node holds the name of the type.
func TestType(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		greets := make(chan string)
		m := c.dial("10.0.0.1")
		work := job.OfType("GREETING", greeting(greets))
		err := m.begin(job.Config{Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 1}, work)
		var field *job.FieldError
		if !errors.Is(err, job.ErrInvalidConfig) || !errors.As(err, &field) || field.Field != "props: greeting.name" {
			t.Fatalf("without the property: %v", err)
		}
		c.must(m.begin(greetingJob("Ada"), work))
		await := func(name string) {
			t.Helper()
			for got := ""; !strings.HasPrefix(got, name+" "); {
				select {
				case got = <-greets:
				case <-t.Context().Done():
					t.Fatalf("nobody greets %s", name)
				}
			}
		}
		await("Ada")
		if n, err := c.admin.Get(t.Context(), c.job.Root()); err != nil || string(n.Value) != "GREETING" {
			t.Errorf("the job's node is %q, %v", n.Value, err)
		}
		c.configure(func(cfg *job.Config) { cfg.Props = map[string]string{"greeting.name": "Grace"} })
		await("Grace")
		c.configure(func(cfg *job.Config) { cfg.Props = nil })
		m.awaitFault(jobtype.FaultConfig, "props: greeting.name: is required")
		await("Grace")
		c.configure(func(cfg *job.Config) { cfg.Props = map[string]string{"greeting.name": "Joan"} })
		await("Joan")
	})
}

// A handler that is a type itself keeps the name of its implementation.
func TestAHandlerThatIsAType(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		greets := make(chan string)
		h := struct {
			job.Type
			job.HandlerFunc
		}{greeting(greets), func(context.Context, job.ShardingContext) error {
			t.Error("the handler itself is called")
			return nil
		}}
		m := c.dial("10.0.0.1")
		if err := m.begin(job.Config{Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 1}, h); !errors.Is(err, job.ErrInvalidConfig) {
			t.Errorf("without the property: %v", err)
		}
		c.must(m.begin(greetingJob("Ada"), h, job.WithImplementation("com.acme.Greeting")))
		if got := <-greets; !strings.HasPrefix(got, "Ada ") {
			t.Errorf("greeted %q", got)
		}
		if n, err := c.admin.Get(t.Context(), c.job.Root()); err != nil || string(n.Value) != "com.acme.Greeting" {
			t.Errorf("the job's node is %q, %v", n.Value, err)
		}
	})
}

func TestTypesThatAreRefused(t *testing.T) {
	handler := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	greets := job.OfType("GREETING", greeting(nil))
	none := job.OfType("NONE", job.TypeFunc(func(job.Config) (job.Handler, error) { return nil, nil }))
	failing := job.OfType("FAILING", job.TypeFunc(func(job.Config) (job.Handler, error) { return nil, errors.New("no licence") }))
	for name, tc := range map[string]struct {
		handler job.Handler
		opts    []job.Option
		says    string
	}{
		"another implementation": {greets, []job.Option{job.WithImplementation("com.acme.Job")}, `implementation "com.acme.Job" of a job of type "GREETING"`},
		"no name":                {job.OfType("", greeting(nil)), nil, "type \"\": name: is empty"},
		"nil":                    {job.OfType("X", nil), nil, `type "X" is nil`},
		"no handler":             {none, nil, "props: the type returned no handler"},
		"an error of no field":   {failing, nil, "props: no licence"},
		"error handler no name":  {handler, []job.Option{job.WithErrorHandler("", job.ErrorHandlerTypeFunc(nil))}, `error handler "": name: is empty`},
		"error handler nil":      {handler, []job.Option{job.WithErrorHandler("X", nil)}, `error handler "X" is nil`},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			if err := c.dial("10.0.0.1").begin(greetingJob("Ada"), tc.handler, tc.opts...); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want one that says %s", err, tc.says)
			}
		})
	}
}

// Without a scheduler, the handler of a type says what it needs.
func TestOfTypeAlone(t *testing.T) {
	if err := job.OfType("SCRIPT", greeting(nil)).Execute(t.Context(), job.ShardingContext{}); err == nil || !strings.Contains(err.Error(), "needs a scheduler") {
		t.Errorf("got %v", err)
	}
}

// elastic-job 2.1 leaves the job's node empty. jobType says then which work it is.
func TestJobTypeOfOldConfigurations(t *testing.T) {
	script := job.OfType("SCRIPT", greeting(nil))
	other := job.OfType("HTTP", greeting(nil))
	handler := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	for name, tc := range map[string]struct {
		node, document string
		handler        job.Handler
		refused        string
	}{
		"a script":                        {"", `"jobType":"SCRIPT"`, script, ""},
		"a script, in small letters":      {"", `"jobType":"script"`, script, ""},
		"a script for a handler":          {"", `"jobType":"SCRIPT"`, handler, `the registry has "SCRIPT", this is "settle"`},
		"a script for another type":       {"", `"jobType":"SCRIPT"`, other, `the registry has "SCRIPT", this is "HTTP"`},
		"a class for a handler":           {"", `"jobType":"SIMPLE","jobClass":"com.acme.Job"`, handler, ""},
		"a dataflow for a handler":        {"", `"jobType":"DATAFLOW","jobClass":"com.acme.Job"`, handler, ""},
		"a class for a type":              {"", `"jobType":"SIMPLE","jobClass":"com.acme.Job"`, script, `the registry has "SIMPLE"`},
		"the node counts":                 {"HTTP", `"jobType":"SCRIPT"`, other, ""},
		"the node counts, though it ends": {"HTTP", `"jobType":"SCRIPT"`, script, `the registry has "HTTP"`},
		"neither":                         {"", `"failover":false`, other, ""},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			document := fmt.Sprintf(`{"jobName":"settle","cron":"* * * * * ?","shardingTotalCount":1,"props":{"greeting.name":"Ada"},%s}`, tc.document)
			c.commit(coord.Put(c.job.Root(), []byte(tc.node)), coord.Put(c.job.Config(), []byte(document)))
			err := c.dial("10.0.0.1").begin(greetingJob("Ada"), tc.handler)
			if tc.refused == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, job.ErrImplementationConflict) || !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("got %v, want one that says %s", err, tc.refused)
			}
		})
	}
}

// A configuration that was refused is looked at again: what it needs may be there by then.
func TestARefusedConfigurationIsLookedAtAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		var isAway atomic.Bool
		var asked atomic.Int64
		kind := job.TypeFunc(func(job.Config) (job.Handler, error) {
			asked.Add(1)
			if isAway.Load() {
				return nil, errors.New("the secret is away")
			}
			return job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }), nil
		})
		cfg := job.Config{Name: "settle", Cron: "0 0 0 1 1 ?", ShardingTotalCount: 1}
		m := c.dial("10.0.0.1")
		c.must(m.begin(cfg, job.OfType("KIND", kind)))
		isAway.Store(true)
		c.configure(func(cfg *job.Config) { cfg.JobParameter = "another" })
		m.awaitFault(jobtype.FaultConfig, "the secret is away")
		c.pass(time.Hour)
		if n := asked.Load(); n < 50 || n > 70 {
			t.Errorf("asked %d times in an hour", n)
		}
		isAway.Store(false)
		c.pass(2 * time.Minute)
		if faults := m.Status().Faults; len(faults) > 0 {
			t.Errorf("faults after the secret is back: %v", faults)
		}
	})
}
