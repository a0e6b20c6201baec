//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"
)

// figures are of the honest user's requests.
type figures struct {
	times   []time.Duration
	changes int
	errs    []error
}

// work is what the honest user does: it looks, pauses and resumes its job, one after the other.
func (t *town) work(ctx context.Context, length time.Duration) (f figures, err error) {
	client := t.client("honest")
	defer client.http.CloseIdleConnections()
	steps := []struct{ method, path string }{
		{"GET", "/jobs"}, {"GET", "/jobs/settle"}, {"POST", "/jobs/settle/pause"}, {"GET", "/jobs/settle/instances"}, {"POST", "/jobs/settle/resume"}, {"GET", "/audit"},
	}
	next := time.NewTicker(50 * time.Millisecond)
	defer next.Stop()
	for end := time.Now().Add(length); time.Now().Before(end); {
		for _, s := range steps {
			begin := time.Now()
			_, err := client.ask(ctx, s.method, s.path)
			f.times = append(f.times, time.Since(begin))
			switch {
			case ctx.Err() != nil:
				return f, context.Cause(ctx)
			case err != nil:
				f.errs = append(f.errs, err)
			case s.method == "POST":
				f.changes++
			}
			<-next.C
		}
	}
	return f, nil
}

// percentile returns the time that so many of 100 requests have taken at most.
func (f figures) percentile(percent int) time.Duration {
	sorted := slices.Sorted(slices.Values(f.times))
	return sorted[(len(sorted)*percent-1)/100]
}

// audited is how many changes of the honest user the audit has.
func (t *town) audited(ctx context.Context) (n int, err error) {
	client := t.client("honest")
	defer client.http.CloseIdleConnections()
	for after := ""; ; {
		text, err := client.get(ctx, "/audit?job=settle&limit=200&after="+url.QueryEscape(after))
		if err != nil {
			return n, err
		}
		var page struct {
			Rows []struct {
				By string `json:"by"`
			}
			Next string
		}
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			return n, fmt.Errorf("audit: %w", err)
		}
		for _, row := range page.Rows {
			if row.By == "honest" || row.By == "honest (token flood)" {
				n++
			}
		}
		if after = page.Next; after == "" {
			return n, nil
		}
	}
}

// report is what came of an attack.
type report struct {
	plan             plan
	quiet, during    figures
	met              met
	memory           int64
	changed, audited int
}

func (r report) String() string {
	line := func(f figures) string {
		return fmt.Sprintf("%d requests, p50 %v, p99 %v, slowest %v, %d failed", len(f.times), f.percentile(50).Round(time.Millisecond/10), f.percentile(99).Round(time.Millisecond/10), f.percentile(100).Round(time.Millisecond/10), len(f.errs))
	}
	return fmt.Sprintf(`attack           %d streams, %d slow connections, %d slow bodies, %d guessers, %d nodes of junk, %d crumbs, %v
it met           %s
before it        %s
during it        %s
console, at most %d MiB
changes          %d, of which the audit has %d
`, r.plan.streams, r.plan.connections, r.plan.bodies, r.plan.guesses, r.plan.junk, r.plan.crumbs, r.plan.length, r.met, line(r.quiet), line(r.during), r.memory>>20, r.changed, r.audited)
}

// broken returns what of the promise does not hold.
func (r report) broken() error {
	var errs []error
	if failed := slices.Concat(r.quiet.errs, r.during.errs); len(failed) > 0 {
		errs = append(errs, fmt.Errorf("%d requests of the honest user failed, the first: %w", len(failed), failed[0]))
	}
	if p99 := r.during.percentile(99); p99 > slowest {
		errs = append(errs, fmt.Errorf("p99 is %v, more than %v", p99, slowest))
	}
	if r.memory > mostMemory {
		errs = append(errs, fmt.Errorf("the console took %d MiB, more than %d", r.memory>>20, mostMemory>>20))
	}
	if r.audited != r.changed {
		errs = append(errs, fmt.Errorf("the audit has %d of %d changes", r.audited, r.changed))
	}
	return errors.Join(errs...)
}
