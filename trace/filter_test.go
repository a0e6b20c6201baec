package trace_test

import (
	"errors"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
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

// everything returns an observer that has all functions, and counts their calls.
func everything(told *int) job.Observer {
	var o job.Observer
	v := reflect.ValueOf(&o).Elem()
	for i := range v.NumField() {
		v.Field(i).Set(reflect.MakeFunc(v.Field(i).Type(), func([]reflect.Value) []reflect.Value { *told++; return nil }))
	}
	return o
}

// each calls each function of an observer with an event of a job.
func each(t *testing.T, o job.Observer, name string, then func(function string)) {
	t.Helper()
	v := reflect.ValueOf(o)
	for i := range v.NumField() {
		function := v.Type().Field(i).Name
		if v.Field(i).IsNil() {
			t.Errorf("there is no function %s", function)
			continue
		}
		event := reflect.New(v.Field(i).Type().In(0)).Elem()
		event.FieldByName("JobName").SetString(name)
		v.Field(i).Call([]reflect.Value{event})
		then(function)
	}
}

// Each function of an observer is told of the jobs of the filter, and only of those.
func TestOnly(t *testing.T) {
	told, want := 0, 0
	o := trace.Only(filter(t, []string{"a"}, nil), everything(&told))
	for _, name := range []string{"a", "b"} {
		each(t, o, name, func(function string) {
			if name == "a" {
				want++
			}
			if told != want {
				t.Fatalf("%s of job %s: told %d times, want %d", function, name, told, want)
			}
		})
	}
	if empty := trace.Only(trace.Filter{}, job.Observer{}); !reflect.ValueOf(empty).IsZero() {
		t.Error("an observer without functions has some")
	}
}

// Each function of several observers is told, also if one of them panics.
func TestJoin(t *testing.T) {
	one, two, want := 0, 0, 0
	o := trace.Join(job.Observer{}, everything(&one), everything(&two))
	each(t, o, "a", func(function string) {
		if want++; one != want || two != want {
			t.Fatalf("%s: told %d and %d times, want %d", function, one, two, want)
		}
	})
	if empty := trace.Join(job.Observer{}, job.Observer{}); !reflect.ValueOf(empty).IsZero() {
		t.Error("observers without functions have some")
	}
	var order []string
	named := func(name string) job.Observer {
		return job.Observer{Joined: func(job.JoinedEvent) { order = append(order, name); panic(name) }}
	}
	func() {
		defer func() { _ = recover() }() // the job would log it
		trace.Join(named("a"), named("b"), named("c")).Joined(job.JoinedEvent{})
	}()
	if !slices.Equal(order, []string{"a", "b", "c"}) {
		t.Errorf("told in the order %v", order)
	}
}

// A recorder is told of everything, and makes an event of it.
func TestNothingIsForgotten(t *testing.T) {
	s := newPlanned()
	r := newRecorder(t, s, trace.Options{})
	calls := 0
	each(t, r.Observer(), "a", func(string) { calls++ })
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	events := s.events()
	if len(events) != calls {
		t.Fatalf("%d events of %d calls", len(events), calls)
	}
	seen := map[trace.Kind]bool{}
	for _, e := range events {
		if seen[e.Kind] || e.Kind.String() == "unknown" || e.Job != "a" {
			t.Errorf("%+v", e)
		}
		seen[e.Kind] = true
	}
}
