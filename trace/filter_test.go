package trace_test

import (
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
)

func filter(t *testing.T, include, exclude []string) trace.Filter {
	t.Helper()
	f, err := trace.NewFilter(include, exclude)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFilter(t *testing.T) {
	for _, tc := range []struct {
		include, exclude []string
		has, not         []string
	}{
		{nil, nil, []string{"", "a", "billing/settle"}, nil},
		{[]string{"a*", "b"}, nil, []string{"a", "ab", "b"}, []string{"ba", "bb", ""}},
		{nil, []string{"a*", "b"}, []string{"ba", "bb", ""}, []string{"a", "ab", "b"}},
		{[]string{"[a-c]?"}, nil, []string{"a1"}, []string{"d1", "a"}},
	} {
		f := filter(t, tc.include, tc.exclude)
		for _, name := range tc.has {
			if !f.Has(name) {
				t.Errorf("%v, %v does not have %q", tc.include, tc.exclude, name)
			}
		}
		for _, name := range tc.not {
			if f.Has(name) {
				t.Errorf("%v, %v has %q", tc.include, tc.exclude, name)
			}
		}
	}
	if !(trace.Filter{}).Has("a") {
		t.Error("the zero filter does not have all jobs")
	}
	if _, err := trace.NewFilter([]string{"a"}, []string{"b"}); err == nil {
		t.Error("include and exclude are allowed together")
	}
	if _, err := trace.NewFilter(nil, []string{"ok", "["}); !errors.Is(err, path.ErrBadPattern) || !strings.Contains(err.Error(), `"["`) {
		t.Errorf("a wrong pattern: %v", err)
	}
}

// each tells an observer an event of each kind that schedulers tell, of a job.
func each(o job.Observer, name string) (told int) {
	for kind := jobtype.EventClaimed; kind < jobtype.EventOperated; kind++ {
		o(job.Event{Kind: kind, JobName: name})
		told++
	}
	return told
}

// Only the jobs of the filter are told of.
func TestOnly(t *testing.T) {
	told := 0
	o := trace.Only(filter(t, []string{"a"}, nil), func(job.Event) { told++ })
	want := each(o, "a")
	each(o, "b")
	if told != want {
		t.Errorf("told %d times, want %d", told, want)
	}
}

// Each of several observers is told, also if one of them panics.
func TestJoin(t *testing.T) {
	var order []string
	named := func(name string) job.Observer {
		return func(job.Event) {
			order = append(order, name)
			panic(name)
		}
	}
	func() {
		defer func() { _ = recover() }() // the job would log it
		trace.Join(named("a"), nil, named("b"), named("c"))(job.Event{})
	}()
	if !slices.Equal(order, []string{"a", "b", "c"}) {
		t.Errorf("told in the order %v", order)
	}
}

// A recorder is told of everything, and makes an event of it.
func TestNothingIsForgotten(t *testing.T) {
	s := newPlanned()
	r := newRecorder(t, s, trace.Options{})
	calls := each(r.Observer(), "a")
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	events := s.events()
	if len(events) != calls {
		t.Fatalf("%d events of %d calls", len(events), calls)
	}
	seen := map[jobtype.EventKind]bool{}
	for _, e := range events {
		if seen[e.Kind] || e.Kind.String() == "unknown" || e.Job != "a" {
			t.Errorf("%+v", e)
		}
		seen[e.Kind] = true
	}
}
