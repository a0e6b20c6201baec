package memory_test

import (
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
)

// Views of the upper levels lag, and are put back with the store, as whole views are.
func TestUpperLevelsLagAndAreRestored(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a, b := dial(t, store, memory.Config{}), dial(t, store, memory.Config{})
		commit(t, a, coord.Put("job/x", nil), coord.Put("old/x", nil))
		saved := store.Save()
		b.Link().Lag(time.Minute)
		var views []coord.View
		for _, r := range []*memory.Registry{a, b} {
			v, err := r.View(t.Context(), "", 1)
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			views = append(views, v)
		}
		shows := func(v coord.View, want ...string) {
			t.Helper()
			if got := v.Snapshot().Children(""); !slices.Equal(got, want) {
				t.Errorf("it shows %q, want %q", got, want)
			}
		}
		late := views[1].Changed()
		commit(t, a, coord.DeleteTree("old"), coord.Put("new/x", nil))
		shows(views[0], "job", "new")
		shows(views[1], "job", "old")
		begin := time.Now()
		<-late
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("a lag of a minute took %v", took)
		}
		shows(views[1], "job", "new")
		late = views[1].Changed()
		commit(t, a, coord.Put("job/y", nil)) // changes nothing that they show
		time.Sleep(time.Hour)
		select {
		case <-late:
			t.Error("told of a change below what it shows")
		default:
		}
		store.Restore(saved)
		shows(views[0], "job", "old")
		<-late
		shows(views[1], "job", "old")
	})
}
