package job_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
)

func TestPropagate(t *testing.T) {
	long := strings.Repeat("x", 8<<10)
	for name, tc := range map[string]struct {
		name, value, says string
	}{
		"a name":              {"Trace-Parent_1", "00-a", ""},
		"an empty value":      {"baggage", "", ""},
		"other languages":     {"who", "zoë", ""},
		"a long value":        {"baggage", long, ""},
		"one that is longer":  {"baggage", long + "x", "value of 8193 bytes, at most 8192"},
		"no name":             {"", "x", "letters, digits"},
		"a long name":         {strings.Repeat("n", 65), "x", "up to 64"},
		"a name with a space": {"a b", "x", "letters, digits"},
		"a digit first":       {"1a", "x", "begins with a letter"},
		"another language":    {"zoë", "x", "letters, digits"},
		"a line break":        {"a", "x\ny", "control characters"},
		"a zero byte":         {"a", "x\x00", "control characters"},
		"not UTF-8":           {"a", "\xff", "UTF-8"},
	} {
		ctx, err := job.Propagate(t.Context(), tc.name, tc.value)
		got := maps.Collect(job.Propagated(ctx))
		if tc.says != "" {
			if err == nil || !strings.Contains(err.Error(), tc.says) || len(got) > 0 || ctx != t.Context() {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			continue
		}
		if value, is := got[strings.ToLower(tc.name)]; err != nil || !is || value != tc.value || len(got) != 1 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// The last value of a name counts, earlier contexts keep theirs, and names are bounded.
func TestPropagateMore(t *testing.T) {
	before, err := job.Propagate(t.Context(), "a", "1")
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := job.Propagate(before, "A", "2")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 31 {
		if ctx, err = job.Propagate(ctx, fmt.Sprintf("n%d", n), ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := job.Propagate(ctx, "more", ""); err == nil || !strings.Contains(err.Error(), "32 names") {
		t.Errorf("a name too many: %v", err)
	}
	if ctx, err = job.Propagate(ctx, "a", "3"); err != nil {
		t.Errorf("one that it has: %v", err)
	}
	names := ""
	for name := range job.Propagated(ctx) {
		names += name
		if name == "n1" {
			break
		}
	}
	if names != "an0n1" {
		t.Errorf("the first names are %s", names)
	}
	if was, is := maps.Collect(job.Propagated(before)), maps.Collect(job.Propagated(ctx)); was["a"] != "1" || is["a"] != "3" || len(is) != 32 {
		t.Errorf("%v before, %v", was, is)
	}
	for range job.Propagated(context.Background()) {
		t.Error("something comes from nowhere")
	}
}
