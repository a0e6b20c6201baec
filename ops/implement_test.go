package ops_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A job whose program has another name now is given to it, while the old one runs.
func TestImplement(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		steer := ops.New(open(t, d)).Job("settle")
		old := runs(t, d, settle(), "10.0.0.1", nothing, job.WithImplementation("com.example.Old"))
		owns(t, old, 3)
		there, err := steer.Settings(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			r    ops.ImplementRequest
			want error
		}{
			{ops.ImplementRequest{From: "com.example.Older", To: "new"}, ops.ErrImplementationChanged},
			{ops.ImplementRequest{From: "com.example.Old", To: "new", Version: there.Version + 1}, ops.ErrConfigChanged},
			{ops.ImplementRequest{From: "com.example.Old", To: "new", Version: there.Version}, nil},
			{ops.ImplementRequest{From: "com.example.Old", To: "new", Version: there.Version}, ops.ErrImplementationChanged},
			{ops.ImplementRequest{From: "new", To: "new"}, nil},
		} {
			if err := steer.Implement(ctx, c.r); !errors.Is(err, c.want) {
				t.Errorf("%+v: %v, want %v", c.r, err, c.want)
			}
		}
		for _, to := range []string{"", "\xff", strings.Repeat("x", 1001)} {
			if err := steer.Implement(ctx, ops.ImplementRequest{From: "new", To: to}); err == nil || !strings.Contains(err.Error(), "1 to 1000 bytes") {
				t.Errorf("implementation %q: %v", to, err)
			}
		}
		if _, err := job.Schedule(ctx, open(t, d), settle(), job.HandlerFunc(nothing), job.WithImplementation("com.example.Old")); !errors.Is(err, job.ErrImplementationConflict) {
			t.Errorf("the old program: %v", err)
		}
		owns(t, runs(t, d, settle(), "10.0.0.2", nothing, job.WithImplementation("new")), 1)
		owns(t, old, 2) // it runs on
		if after, err := steer.Settings(ctx); err != nil || after.Version != there.Version || after.Implementation != "new" {
			t.Errorf("%+v, %v", after, err)
		}
		if err := ops.New(open(t, d)).Job("other").Implement(ctx, ops.ImplementRequest{To: "new"}); !errors.Is(err, ops.ErrNoJob) {
			t.Errorf("no job: %v", err)
		}
	})
}

// A program that runs a job under a name that the job has no more says so.
func TestOldImplementationIsAFault(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		s := runs(t, d, settle(), "10.0.0.1", nothing)
		owns(t, s, 3)
		steer := ops.New(open(t, d)).Job("settle")
		for _, r := range []ops.ImplementRequest{{From: "settle", To: "new"}, {From: "new", To: "settle"}} {
			if err := steer.Implement(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			pass(time.Minute)
			faults := s.Status().Faults
			if isFault := len(faults) == 1 && errors.Is(faults[0].Err, job.ErrImplementationConflict) && faults[0].Kind == jobtype.FaultConfig; isFault != (r.To == "new") {
				t.Errorf("%+v: faults %v", r, faults)
			}
		}
	})
}
