package trace

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// Options are those of a Recorder. The zero Options are good for most programs.
type Options struct {
	// MaxEvents bounds how many events and lines wait for the sink. Default 5,000,000.
	MaxEvents int
	// MaxBytes bounds how many bytes they hold, about. Default 128 MiB. What waits for long is
	// packed: ten minutes of 1,000 executions a second, with three events each and without
	// output, are 35 MiB.
	MaxBytes int
	// Batch is how many events and lines the sink is given at a time, at most. Default 500.
	Batch int
	// Interval is how long they wait for others at most, unless the sink is behind. Default 1 s.
	Interval time.Duration
	// WriteTimeout bounds one call of the sink. A batch that takes longer comes again in halves, and
	// those that follow are as short, until they take little time. Default 30 s.
	WriteTimeout time.Duration
	// MaxOutput is how many bytes of an execution's output are kept: the last ones. Default
	// 4,000; at most [job.MaxOutput]; negative: none.
	MaxOutput int
	// Lines says which lines of the handlers are kept.
	Lines Lines
	// Slog is told when the sink begins to fail, when it works again, what is dropped, and that the
	// recorder was closed before its jobs.
	// Default: nothing is logged; see [Recorder.Stats].
	Slog *slog.Logger
}

// Lines bounds what is kept of the lines that handlers write with [job.Logger]. What is over
// a bound is left out, and the last line of the execution says how much that was.
type Lines struct {
	// Off: none are kept.
	Off bool
	// Level is the lowest one that is kept. Default: slog.LevelInfo.
	Level slog.Leveler
	// Max and MaxBytes bound the lines of one execution. Default 10,000 lines, 1 MiB.
	Max, MaxBytes int
	// PerSecond bounds how many lines an execution may write in a second; it may write as many
	// at once if it has not written for a second. Default 1,000.
	PerSecond int
}

// withDefaults returns the options with what was left out.
func (o Options) withDefaults() (Options, error) {
	for _, n := range []struct {
		field    string
		value    *int
		standard int
		most     int // 0: any
	}{
		{"MaxEvents", &o.MaxEvents, 5_000_000, 0},
		{"MaxBytes", &o.MaxBytes, 128 << 20, 0},
		{"Batch", &o.Batch, 500, 10_000},
		{"Lines.Max", &o.Lines.Max, 10_000, 0},
		{"Lines.MaxBytes", &o.Lines.MaxBytes, 1 << 20, 0},
		{"Lines.PerSecond", &o.Lines.PerSecond, 1_000, 0},
	} {
		switch {
		case *n.value < 0:
			return o, fmt.Errorf("trace: %s %d: must not be negative", n.field, *n.value)
		case n.most > 0 && *n.value > n.most:
			return o, fmt.Errorf("trace: %s %d: at most %d is allowed", n.field, *n.value, n.most)
		case *n.value == 0:
			*n.value = n.standard
		}
	}
	switch {
	case o.Interval < 0:
		return o, fmt.Errorf("trace: Interval %v: must not be negative", o.Interval)
	case o.WriteTimeout < 0:
		return o, fmt.Errorf("trace: WriteTimeout %v: must not be negative", o.WriteTimeout)
	case o.MaxOutput > job.MaxOutput:
		return o, fmt.Errorf("trace: MaxOutput %d: at most %d is allowed", o.MaxOutput, job.MaxOutput)
	}
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = 30 * time.Second
	}
	if o.MaxOutput == 0 {
		o.MaxOutput = 4000
	}
	if o.Lines.Level == nil {
		o.Lines.Level = slog.LevelInfo
	}
	if o.Slog == nil {
		o.Slog = slog.New(slog.DiscardHandler)
	}
	return o, nil
}
