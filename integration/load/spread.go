package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// spread says how durations are spread, in milliseconds. All are 0 without durations.
type spread struct {
	P50 float64 `json:"p50_ms"`
	P90 float64 `json:"p90_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
}

func (s spread) String() string {
	return fmt.Sprintf("p50 %.1f  p90 %.1f  p99 %.1f  max %.1f ms", s.P50, s.P90, s.P99, s.Max)
}

// spreadOf sorts the durations.
func spreadOf(all []time.Duration) spread {
	slices.Sort(all)
	return spread{quantile(all, 0.5), quantile(all, 0.9), quantile(all, 0.99), quantile(all, 1)}
}

// quantile returns the smallest duration, of sorted ones, that a share q of them does not
// exceed, in milliseconds.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return milliseconds(sorted[max(int(math.Ceil(q*float64(len(sorted)))), 1)-1])
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
