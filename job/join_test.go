package job

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// A job of a Runner goes by the registry's configuration, of either kind, and writes none.
func TestJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewStore(memory.Options{})
		defer store.Close()
		ctx := t.Context()
		reg, err := store.Dial(ctx, memory.Config{Namespace: "join"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = reg.Close(context.WithoutCancel(ctx)) }() // how it ends is not the question
		commit := func(ops ...coord.Op) {
			t.Helper()
			if _, err := reg.Commit(ctx, ops...); err != nil {
				t.Fatal(err)
			}
		}
		n, err := NewNode(reg, NodeConfig{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = n.Shutdown(context.WithoutCancel(ctx)) }() // the test has looked at its jobs
		nothing := HandlerFunc(func(context.Context, ShardingContext) error { return nil })
		join := func(name string, h Handler, opts ...Option) error {
			_, err := n.join(ctx, name, h, opts)
			return err
		}
		if err := join("settle", nothing); !errors.Is(err, ErrJobRemoved) {
			t.Errorf("without a configuration: %v", err)
		}
		if err := join("a/b", nothing); err == nil {
			t.Error("a name that no job can have")
		}
		if err := join("settle", nil); err == nil {
			t.Error("no handler")
		}
		for _, cfg := range []Config{
			{Name: "settle", Cron: "0/5 * * * * ?", ShardingTotalCount: 2, Overwrite: true, Revision: 7},
			{Name: "rebuild", ShardingTotalCount: 3},
		} {
			document, err := cfg.Encode(nil)
			if err != nil {
				t.Fatal(err)
			}
			node := jobtree.Job(cfg.Name)
			commit(coord.Put(node.Root(), []byte("theirs")), coord.Put(node.Config(), document))
			if err := join(cfg.Name, nothing); !errors.Is(err, ErrImplementationConflict) {
				t.Errorf("%s: got %v", cfg.Name, err)
			}
			s, err := n.join(ctx, cfg.Name, nothing, []Option{WithImplementation("theirs")})
			if err != nil {
				t.Fatal(err)
			}
			if !sleep.For(ctx, 6*time.Second) { // of virtual time: a tick comes
				t.Fatal(context.Cause(ctx))
			}
			synctest.Wait()
			if config, err := reg.Get(ctx, node.Config()); err != nil || string(config.Value) != string(document) || config.Version != 0 {
				t.Errorf("%s: the configuration is %s, version %d, %v", cfg.Name, config.Value, config.Version, err)
			}
			_, err = reg.Get(ctx, node.Completion(0))
			if ran := err == nil; ran != (cfg.Cron != "") {
				t.Errorf("%s: it ran: %t", cfg.Name, ran)
			}
			commit(coord.DeleteTree(node.Root()))
			<-s.Done()
			if err := join(cfg.Name, nothing); !errors.Is(err, ErrJobRemoved) {
				t.Errorf("%s: when it is gone: %v", cfg.Name, err)
			}
		}
		other, err := Config{Name: "other", ShardingTotalCount: 1}.Encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		commit(coord.Put(jobtree.Job("settle").Config(), other))
		if err := join("settle", nothing); err == nil || !strings.Contains(err.Error(), "jobName") {
			t.Errorf("another job's configuration: %v", err)
		}
	})
}
