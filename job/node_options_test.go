package job

import (
	"context"
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/instance"
)

// The options of a node hold for all its jobs, those of a job for no other one.
func TestNodeOptionsAndThoseOfAJob(t *testing.T) {
	store := memory.NewStore(memory.Options{})
	defer store.Close()
	reg, err := store.Dial(t.Context(), memory.Config{Namespace: "options"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reg.Close(context.WithoutCancel(t.Context())) }() // how it ends is not the question
	handler := func(name string) Option { return WithErrorHandler(name, exec.IgnoreErrors()) }
	n, err := NewNode(reg, NodeConfig{Options: []Option{WithLabels("a"), WithLabels("b"), WithLabels("c"), handler("all"), WithObserver(func(Event) {})}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		opts      []Option
		labels    []string
		knows     string
		ip        string
		observers int
	}{
		{opts: []Option{WithLabels("d"), handler("first"), WithIP("first"), WithObserver(func(Event) {})}, labels: []string{"a", "b", "c", "d"}, knows: "first", ip: "first", observers: 2},
		{opts: []Option{WithLabels("e")}, labels: []string{"a", "b", "c", "e"}, ip: instance.LocalIP(), observers: 1},
		{labels: []string{"a", "b", "c"}, ip: instance.LocalIP(), observers: 1},
	} {
		o, err := n.optionsWith(tc.opts)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { // when later jobs have theirs, too
			if !slices.Equal(o.Labels, tc.labels) || o.IP != tc.ip || len(o.Observers) != tc.observers {
				t.Errorf("labels %q, want %q; address %q, want %q; %d observers, want %d", o.Labels, tc.labels, o.IP, tc.ip, len(o.Observers), tc.observers)
			}
		}()
		if o.ErrorHandlers["all"] == nil || (o.ErrorHandlers["first"] != nil) != (tc.knows == "first") {
			t.Errorf("labels %q: error handlers %v", tc.labels, o.ErrorHandlers)
		}
	}
}
