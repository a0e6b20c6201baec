package dataflow_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dataflow"
)

var errBroken = errors.New("broken")

// One execution fetches once, or until there is nothing.
func TestBatches(t *testing.T) {
	for _, test := range []struct {
		name  string
		props map[string]string
		rows  int
		sizes []int // that the fetches were asked for
		done  int
	}{
		{"one-off, nothing", nil, 0, []int{100}, 0},
		{"one-off, many", nil, 250, []int{100}, 100},
		{"one-off by the property", map[string]string{"streaming.process": "false"}, 250, []int{100}, 100},
		{"stream, nothing", map[string]string{"streaming.process": "true"}, 0, []int{100}, 0},
		{"stream, one", map[string]string{"streaming.process": "true"}, 1, []int{100, 100}, 1},
		{"stream, many", map[string]string{"streaming.process": "true"}, 250, []int{100, 100, 100, 100}, 250},
		{"page", map[string]string{"dataflow.page.size": "7"}, 250, []int{7}, 7},
		{"largest page", map[string]string{"dataflow.page.size": "1000000"}, 250, []int{1_000_000}, 250},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(c *cluster) {
				var sizes []int
				left := test.rows
				flow := dataflow.New(func(ctx context.Context, sc job.ShardingContext, size int) ([]*string, error) {
					sizes = append(sizes, size)
					return make([]*string, min(size, left)), nil // rows may be anything
				}, func(ctx context.Context, sc job.ShardingContext, rows []*string) error {
					if len(rows) == 0 {
						c.Error("no rows to process")
					}
					left -= len(rows)
					return nil
				})
				cfg := config(1)
				cfg.Props = test.props
				e := c.once(cfg, flow, 1)[0]
				if e.Outcome != job.OutcomeOK || e.Err != nil {
					c.Errorf("it ended with %v, %v", e.Outcome, e.Err)
				}
				if !slices.Equal(sizes, test.sizes) || test.rows-left != test.done {
					c.Errorf("fetches of %v rows, %d processed; want %v, %d", sizes, test.rows-left, test.sizes, test.done)
				}
			})
		})
	}
}

// An error ends the execution, after the batches that came before it.
func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name             string
		fetches, process error // of the third batch
		want             string
	}{
		{"fetch", errBroken, nil, "dataflow: fetch: broken"},
		{"process", nil, errBroken, "dataflow: process: broken"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(c *cluster) {
				fetched, processed := 0, 0
				flow := dataflow.New(func(ctx context.Context, sc job.ShardingContext, size int) ([]int, error) {
					if fetched++; fetched == 3 && test.fetches != nil {
						return []int{1}, test.fetches
					}
					return []int{1}, nil
				}, func(ctx context.Context, sc job.ShardingContext, rows []int) error {
					if processed++; processed == 3 {
						return test.process
					}
					return nil
				})
				e := c.once(config(1), flow, 1)[0]
				if e.Outcome != job.OutcomeFailed || !errors.Is(e.Err, errBroken) || e.Err.Error() != test.want {
					c.Errorf("it ended with %v, %v", e.Outcome, e.Err)
				}
				if fetched != 3 {
					c.Errorf("%d fetches", fetched)
				}
			})
		})
	}
}

// One line says what an execution has done, at debug level: nothing has changed.
func TestLog(t *testing.T) {
	inCluster(t, func(c *cluster) {
		var text strings.Builder
		cfg := config(1)
		cfg.Cron = ""
		m := c.join(cfg, newSource(250).flow(), job.WithSlog(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))))
		c.trigger(m)
		if err := m.Shutdown(c.Context()); err != nil { // nobody writes any more
			c.Error(err)
		}
		var lines []string
		for line := range strings.Lines(text.String()) {
			if strings.Contains(line, "dataflow ends") {
				lines = append(lines, line)
			}
		}
		if len(lines) != 1 {
			c.Fatalf("%d lines in %s", len(lines), text.String())
		}
		for _, want := range []string{"level=DEBUG", `why="no more rows"`, "batches=3", "rows=250", "job=flow", "item=0"} {
			if !strings.Contains(lines[0], want) {
				c.Errorf("no %s in %s", want, lines[0])
			}
		}
	})
}

// A panic is an error of the attempt, and leaves the cursor before the batch.
func TestPanic(t *testing.T) {
	inCluster(t, func(c *cluster) {
		var after []int
		flow := dataflow.WithCursor(func(ctx context.Context, sc job.ShardingContext, at, size int) ([]int, int, error) {
			if after = append(after, at); len(after) > 10 {
				return nil, at, errBroken
			}
			return []int{at + 1}, at + 1, nil
		}, func(ctx context.Context, sc job.ShardingContext, rows []int) error {
			if rows[0] == 3 {
				panic("three")
			}
			return nil
		})
		for _, e := range c.once(config(1), flow, 2) {
			if e.Outcome != job.OutcomePanic {
				c.Errorf("it ended with %v, %v", e.Outcome, e.Err)
			}
		}
		if want := []int{0, 1, 2, 2}; !slices.Equal(after, want) {
			c.Errorf("fetched after %v, want %v", after, want)
		}
	})
}

// place is a cursor of two fields.
type place struct {
	Day time.Time
	ID  int64
}

// A cursor goes on from execution to execution, and is of the user's type.
func TestCursor(t *testing.T) {
	inCluster(t, func(c *cluster) {
		day := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		var after []place
		flow := dataflow.WithCursor(func(ctx context.Context, sc job.ShardingContext, at place, size int) ([]int, place, error) {
			after = append(after, at)
			if len(after) == 3 {
				return nil, place{}, nil // the cursor stays: an empty fetch does not move it
			}
			return []int{1}, place{day, at.ID + 1<<60}, nil
		}, func(ctx context.Context, sc job.ShardingContext, rows []int) error { return nil })
		cfg := config(1)
		cfg.Props = nil
		for _, e := range c.once(cfg, flow, 4) {
			if e.Outcome != job.OutcomeOK {
				c.Errorf("it ended with %v, %v", e.Outcome, e.Err)
			}
		}
		want := []place{{}, {day, 1 << 60}, {day, 2 << 60}, {day, 2 << 60}}
		if !slices.Equal(after, want) {
			c.Errorf("fetched after %v, want %v", after, want)
		}
	})
}

// Each attempt goes on behind the batches that are done.
func TestRetryGoesOn(t *testing.T) {
	inCluster(t, func(c *cluster) {
		s := newSource(50)
		failures := 0
		flow := dataflow.WithCursor(s.fetch, func(ctx context.Context, sc job.ShardingContext, rows []int) error {
			if rows[0] == 21 && failures < 2 {
				failures++
				return errBroken
			}
			return s.process(ctx, sc, rows)
		})
		cfg := config(1)
		cfg.Props["dataflow.page.size"] = "10"
		cfg.Retry.Attempts = 2
		e := c.once(cfg, flow, 1)[0]
		if e.Outcome != job.OutcomeOK || e.Attempt != 3 {
			c.Errorf("it ended with %v, %v, after %d attempts", e.Outcome, e.Err, e.Attempt)
		}
		s.check(c, 0, 0)
	})
}

// A cursor that cannot be used ends the execution at once, before rows are processed.
func TestWrongCursors(t *testing.T) {
	for _, test := range []struct {
		name string
		next any
		want string
	}{
		{"stays", "start", "the cursor does not move"},
		{"too long", strings.Repeat("x", job.MaxCursor), "16386 bytes, at most 16384 are allowed"},
		{"no JSON", func() {}, "unsupported type"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(c *cluster) {
				fetched := 0
				flow := dataflow.WithCursor(func(ctx context.Context, sc job.ShardingContext, at any, size int) ([]int, any, error) {
					if fetched++; fetched == 1 {
						return []int{1}, "start", nil
					}
					return []int{2}, test.next, nil
				}, func(ctx context.Context, sc job.ShardingContext, rows []int) error {
					if rows[0] != 1 {
						c.Error("the rows were processed")
					}
					return nil
				})
				cfg := config(1)
				cfg.Retry.Attempts = 5
				e := c.once(cfg, flow, 1)[0]
				if e.Outcome != job.OutcomeFailed || !strings.Contains(fmt.Sprint(e.Err), test.want) || e.Attempt != 1 {
					c.Errorf("it ended with %v, %v, after %d attempts", e.Outcome, e.Err, e.Attempt)
				}
				if test.name == "stays" && !errors.Is(e.Err, dataflow.ErrCursorStays) {
					c.Errorf("%v is not ErrCursorStays", e.Err)
				}
			})
		})
	}
}

// A cursor of another type is not taken for a place. Without it the item begins anew.
func TestCursorOfAnotherType(t *testing.T) {
	inCluster(t, func(c *cluster) {
		var after []int
		flow := dataflow.WithCursor(func(ctx context.Context, sc job.ShardingContext, at, size int) ([]int, int, error) {
			after = append(after, at)
			return []int{at + 1}, at + 1, nil
		}, func(ctx context.Context, sc job.ShardingContext, rows []int) error {
			if len(after) == 1 {
				return errors.Join(errBroken, job.MoveCursor(ctx, strconv.Quote("a name")))
			}
			return errBroken
		})
		cfg := config(1)
		cfg.Cron = ""
		m := c.join(cfg, flow)
		if e := c.trigger(m); !errors.Is(e.Err, errBroken) {
			c.Errorf("it ended with %v", e.Err)
		}
		if e := c.trigger(m); e.Err == nil || !strings.Contains(e.Err.Error(), "the cursor in the registry is no int") {
			c.Errorf("it ended with %v", e.Err)
		}
		c.commit(coord.Delete("flow/cursor/0"))
		if e := c.trigger(m); !errors.Is(e.Err, errBroken) {
			c.Errorf("it ended with %v", e.Err)
		}
		if want := []int{0, 0}; !slices.Equal(after, want) {
			c.Errorf("fetched after %v, want %v", after, want)
		}
	})
}

// A type that does not keep what it says in JSON cannot be a cursor: that shows at once.
func TestCursorWithoutFields(t *testing.T) {
	inCluster(t, func(c *cluster) {
		type hidden struct{ id int }
		flow := dataflow.WithCursor(func(ctx context.Context, sc job.ShardingContext, at hidden, size int) ([]int, hidden, error) {
			return []int{1}, hidden{at.id + 1}, nil
		}, func(ctx context.Context, sc job.ShardingContext, rows []int) error { return nil })
		if e := c.once(config(1), flow, 1)[0]; !errors.Is(e.Err, dataflow.ErrCursorStays) {
			c.Errorf("it ended with %v, %v", e.Outcome, e.Err)
		}
	})
}
