package property_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/property"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// publisher is a type of jobs that publish each of their items. The properties say where.
func publisher(lookup property.Lookup) job.Type {
	table := property.Table{Own: []string{"publish."}, Rows: []property.Row{
		{Name: "publish.topic", Required: true, Check: property.Length(255), Meaning: "where items are published"},
		{Name: "publish.copies", Default: "1", Check: property.Integer(1, 10), Meaning: "how often each is"},
		{Name: "publish.password", Required: true, Secret: true, Meaning: "the password of the broker"},
	}}
	return table.Type(job.TypeFunc(func(c job.Config) (job.Handler, error) {
		v, err := table.Read(job.NewProperties(c.Props))
		if err != nil {
			return nil, err
		}
		// A secret that this process lacks refuses the configuration.
		reference := v.Text("publish.password")
		if _, err := property.Expand(reference, lookup); err != nil {
			return nil, &job.FieldError{Field: "props: publish.password", Err: err}
		}
		return job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			password, err := property.Expand(reference, lookup) // again: it may have changed
			if err != nil {
				return err
			}
			for range v.Integer("publish.copies") {
				if err := publish(v.Text("publish.topic"), sc.ItemParameter, password); err != nil {
					return err
				}
			}
			job.SetOutput(ctx, []byte("published "+sc.ItemParameter))
			return nil
		}), nil
	}))
}

// publish stands for the client of a broker.
func publish(topic, text, password string) error {
	if password != "hunter2" {
		return errors.New("the broker refuses the password")
	}
	fmt.Printf("%s: %s\n", topic, text)
	return nil
}

// A type of jobs of one's own, with properties that are checked, and a secret that does not
// stand in the registry.
func Example() {
	_ = os.Setenv("BROKER_PASSWORD", "hunter2") // whoever starts the process does that
	defer os.Unsetenv("BROKER_PASSWORD")
	ctx := context.Background()
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"}) // etcd.Dial or zk.Dial
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	start := func(props map[string]string, options ...job.Option) (*job.Scheduler, error) {
		return job.Schedule(ctx, reg, job.Config{
			Name: "greet", ShardingTotalCount: 1, ShardingItemParameters: "0=Beijing", Props: props,
		}, job.OfType("PUBLISH", publisher(property.FromProcess())), options...)
	}

	// Slips are refused at the start.
	_, err = start(map[string]string{"publish.topic": "cities", "publish.copies": "two", "publish.password": "hunter2"})
	if faults, ok := errors.AsType[*job.ConfigError](err); ok {
		for _, fault := range faults.Faults {
			fmt.Println(fault)
		}
	}

	finished := make(chan job.Event, 1)
	s, err := start(map[string]string{
		"publish.topic": "cities", "publish.copies": "2", "publish.password": "${env:BROKER_PASSWORD}",
	}, job.WithObserver(func(e job.Event) {
		if e.Kind == jobtype.EventFinished {
			finished <- e
		}
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := s.Trigger(ctx, job.TriggerRequest{}); err != nil {
		fmt.Println(err)
		return
	}
	e := <-finished
	fmt.Printf("%v: %s\n", e.Outcome, e.Output)
	if err := s.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// props: publish.copies: "two": 1 to 10 are allowed
	// props: publish.password: is secret, so a reference to what the process has is allowed: ${env:NAME} or ${file:/path}, alone or within a text
	// cities: Beijing
	// cities: Beijing
	// OK: published Beijing
}
