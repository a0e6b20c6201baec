package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Who only joins writes no configuration, also if it went after it was read.
func TestJoinWritesNoConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.NewStore(memory.Options{})
		defer s.Close()
		reg, err := s.Dial(t.Context(), memory.Config{Namespace: "test"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := reg.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		o := setup.DefaultOptions()
		if err := o.PairLoggers(); err != nil {
			t.Fatal(err)
		}
		o.IP, o.JoinOnly = "10.0.0.1", true
		read, err := o.Prepare(jobtype.Config{Name: "gone", ShardingTotalCount: 1}, jobtype.HandlerFunc(func(context.Context, jobtype.ShardingContext) error { return nil }))
		if err != nil {
			t.Fatal(err)
		}
		view, err := openView(t.Context(), reg, "gone", o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := launch(t.Context(), Params{Registry: reg, Pool: pool.Alone(reg), Options: o}, view, read, jobtype.Config{}); !errors.Is(err, jobtype.ErrJobRemoved) {
			t.Errorf("got %v", err)
		}
		if _, err := reg.Get(t.Context(), "gone"); !errors.Is(err, coord.ErrNoNode) {
			t.Errorf("its node: %v", err)
		}
	})
}
