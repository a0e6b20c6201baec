package ops_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// overtaken has something happen after a node was read for the first time.
type overtaken struct {
	coord.Registry
	path string
	then func()
}

func (o *overtaken) Get(ctx context.Context, path string) (coord.Node, error) {
	n, err := o.Registry.Get(ctx, path)
	if then := o.then; path == o.path && then != nil {
		o.then = nil
		then()
	}
	return n, err
}

// A dry run that is overtaken decides anew, as the operation itself would.
func TestDryRunIsOvertaken(t *testing.T) {
	for name, tc := range map[string]struct {
		isNew  bool
		others func(context.Context, *ops.Ops) error
		want   error
	}{
		"created":  {true, func(ctx context.Context, o *ops.Ops) error { return o.Create(ctx, ops.CreateRequest{Config: settle()}) }, ops.ErrJobExists},
		"changed":  {false, changeSettle, ops.ErrConfigChanged},
		"removed":  {false, func(ctx context.Context, o *ops.Ops) error { return o.Job("settle").Remove(ctx, ops.RemoveRequest{}) }, ops.ErrNoJob},
		"as it is": {false, func(context.Context, *ops.Ops) error { return nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T, d dial) {
				ctx := t.Context()
				reg := open(t, d)
				plain := ops.New(reg)
				var there ops.Settings
				if !tc.isNew {
					err := plain.Create(ctx, ops.CreateRequest{Config: settle()})
					if err != nil {
						t.Fatal(err)
					}
					if there, err = plain.Job("settle").Settings(ctx); err != nil {
						t.Fatal(err)
					}
				}
				dry := ops.New(&overtaken{reg, "settle/config", func() {
					if err := tc.others(ctx, plain); err != nil {
						t.Error(err)
					}
				}}).DryRun()
				var err error
				if tc.isNew {
					err = dry.Create(ctx, ops.CreateRequest{Config: settle()})
				} else {
					err = dry.Job("settle").Update(ctx, ops.UpdateRequest{Config: described("by us"), Version: there.Version})
				}
				if !errors.Is(err, tc.want) {
					t.Errorf("got %v, want %v", err, tc.want)
				}
			})
		})
	}
}

func described(text string) job.Config {
	c := settle()
	c.Description = text
	return c
}

func changeSettle(ctx context.Context, o *ops.Ops) error {
	s, err := o.Job("settle").Settings(ctx)
	if err != nil {
		return err
	}
	return o.Job("settle").Update(ctx, ops.UpdateRequest{Config: described("by others"), Version: s.Version})
}

// What is told of a change is what the audit keeps of it, however long its texts are.
func TestLongTextsOfAChange(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		var told ops.Change
		o := ops.New(open(t, d)).OnChange(func(c ops.Change) { told = c })
		if err := o.Create(ctx, ops.CreateRequest{Config: settle()}); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Job("settle").Pause(ctx, ops.PauseRequest{Why: strings.Repeat("why ", 100)}); err != nil {
			t.Fatal(err)
		}
		kept, err := o.Audit(ctx, ops.AuditQuery{Action: ops.ActionPause})
		if err != nil || len(kept) != 1 || kept[0].Why == "" || kept[0].Why != told.Why {
			t.Errorf("told %+v, kept %+v, %v", told, kept, err)
		}
	})
}
