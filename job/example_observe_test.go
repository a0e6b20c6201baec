package job_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// An observer is told of what happens, each in a function of its own. Those that are left
// out cost nothing.
func ExampleWithObserver() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	told := make(chan string, 10)
	s, err := job.Schedule(ctx, reg, job.Config{Name: "settle", ShardingTotalCount: 1, ErrorHandler: job.ErrorHandlerIgnore},
		job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error { return errors.New("no such account") }),
		job.WithObserver(func(e job.Event) {
			switch e.Kind {
			case jobtype.EventStarted:
				told <- fmt.Sprintf("item %d starts, %v", e.Item, e.Source)
			case jobtype.EventFinished:
				told <- fmt.Sprintf("item %d: %v: %v", e.Item, e.Outcome, e.Err)
			}
		}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Shutdown(ctx)
	if _, err := s.Trigger(ctx, job.TriggerRequest{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-told)
	fmt.Println(<-told)
	// Output:
	// item 0 starts, MANUAL
	// item 0: FAILED: no such account
}

// A handler's lines have the job, the item, the tick, the task id and the fencing token.
func ExampleLogger() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	// Of the execution's fields, this one shows those that are the same each time.
	lines := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey, "tick", "task", "token":
			return slog.Attr{}
		}
		return a
	}, Level: slog.LevelWarn})
	done := make(chan struct{})
	s, err := job.Schedule(ctx, reg, job.Config{Name: "settle", ShardingTotalCount: 1},
		job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			defer close(done)
			job.Logger(ctx).Warn("an account is closed", "account", 7)
			return nil
		}),
		job.WithSlog(slog.New(lines)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Shutdown(ctx)
	if _, err := s.Trigger(ctx, job.TriggerRequest{}); err != nil {
		fmt.Println(err)
		return
	}
	<-done
	// Output: level=WARN msg="an account is closed" job=settle item=0 account=7
}

// A scope is around an execution: a tracer begins a span there. What it makes go along reaches scripts and
// servers; here the handler asks for it. The lines of the execution go to a place of its own.
func ExampleWithScope() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	done := make(chan struct{})
	lines := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	scope := job.WithScope(func(ctx context.Context, e job.Event) (context.Context, func(job.Event)) {
		fmt.Println("span of item", e.Item)
		ctx, err := job.Propagate(ctx, "traceparent", "00-1")
		if err != nil {
			fmt.Println(err)
		}
		return job.LogTo(ctx, lines), func(e job.Event) {
			if e.Kind == jobtype.EventFinished {
				fmt.Println("its end:", e.Outcome)
				close(done)
			}
		}
	})
	s, err := job.Schedule(ctx, reg, job.Config{Name: "settle", ShardingTotalCount: 1},
		job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			for name, value := range job.Propagated(ctx) {
				job.Logger(ctx).Info("goes along", name, value)
			}
			return nil
		}), scope)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Shutdown(ctx)
	if _, err := s.Trigger(ctx, job.TriggerRequest{}); err != nil {
		fmt.Println(err)
		return
	}
	<-done
	// Output:
	// span of item 0
	// level=INFO msg="goes along" traceparent=00-1
	// its end: OK
}
