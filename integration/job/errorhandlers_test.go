package job_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// A failure goes to all error handlers in their order, and to the log unless IGNORE is named.
// All are told, even if one of them panics.
func TestErrorHandlersAreToldInTheirOrder(t *testing.T) {
	for list, want := range map[string][]string{
		"":                {"log"},
		"LOG":             {"log"},
		"IGNORE":          nil,
		"A":               {"log", "A"},
		"LOG,A":           {"log", "A"},
		"A,LOG,B":         {"A", "log", "B"},
		" B , A ":         {"log", "B", "A"},
		"IGNORE,A":        {"A"},
		"A,IGNORE,B":      {"A", "B"},
		"PANIC,A":         {"log", "PANIC", "panicked: PANIC", "A"},
		"PANIC":           {"log", "PANIC", "panicked: PANIC"},
		"GOEXIT,PANIC,A":  {"log", "GOEXIT", "PANIC", "panicked: PANIC", "A"},
		"IGNORE,GOEXIT,A": {"GOEXIT", "A"},
	} {
		runInVirtualTime(t, list, func(t *testing.T, c *cluster, _ *memory.Store) {
			var mu sync.Mutex
			var told []string
			tell := func(who string) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, who)
			}
			handler := func(name string, does func()) job.Option {
				return job.WithErrorHandler(name, job.ErrorHandlerFunc(func(_ context.Context, _ job.ShardingContext, err error) {
					if !errors.Is(err, errFailed) {
						t.Errorf("%s is told of %v", name, err)
					}
					tell(name)
					does()
				}))
			}
			core, logged := observer.New(zapcore.ErrorLevel)
			log := zap.New(core, zap.Hooks(func(e zapcore.Entry) error {
				switch e.Message {
				case "item failed":
					tell("log")
				case "error handler panicked":
					tell("panicked: PANIC")
				}
				return nil
			}))
			cfg := job.Config{Name: "settle", ShardingTotalCount: 1, ErrorHandler: list}
			m := c.join("10.0.0.1", cfg, func(context.Context, job.ShardingContext) error { return errFailed }, job.WithLogger(log),
				handler("A", func() {}), handler("B", func() {}), handler("PANIC", func() { panic("no") }), handler("GOEXIT", runtime.Goexit))
			c.trigger(m)
			m.awaitStatus("it has failed", func(s job.Status) bool {
				return (errors.Is(s.LastError, errFailed) || s.LastError != nil && strings.Contains(list, "GOEXIT")) && !s.LastErrorTime.IsZero()
			})
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(told, want) {
				t.Errorf("told are %q, want %q", told, want)
			}
			for _, e := range logged.FilterMessage("error handler panicked").All() {
				if fields := e.ContextMap(); fields["handler"] != "PANIC" || fields["panic"] != "no" || fields["item"] != int64(0) || fields["error"] != errFailed.Error() {
					t.Errorf("the panic is logged as %v", fields)
				}
			}
		})
	}
}

// Each name of a list has to be known. The error says which one is not.
func TestErrorHandlerThatIsNotKnown(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ErrorHandler = "LOG,GONE"
		err := c.dial("10.0.0.1").schedule(t.Context(), cfg, nil)
		var field *job.FieldError
		if !errors.As(err, &field) || field.Field != "jobErrorHandlerType" || !strings.Contains(err.Error(), `"GONE" is not known here, IGNORE, LOG, THROW are`) {
			t.Errorf("got %v", err)
		}
	})
}
