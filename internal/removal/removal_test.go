package removal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/removal"
)

func dial(t testing.TB) coord.Registry {
	t.Helper()
	store := memory.NewStore(memory.Options{})
	t.Cleanup(store.Close)
	reg, err := store.Dial(t.Context(), memory.Config{Namespace: "removal"})
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// Whatever is left of a job goes, and nothing beside it.
func TestRestLeavesNothing(t *testing.T) {
	reg := dial(t)
	rapid.Check(t, func(r *rapid.T) {
		segment := rapid.SampledFrom([]string{"a", "b", "1", "1-x", strings.Repeat("y", 200), strings.Repeat("z", 250)})
		beside := []coord.Op{coord.Put("settle-x/config", nil), coord.Put("settle2", nil), coord.Put("~elasticjob/removed/settle", nil)}
		if _, err := reg.Commit(t.Context(), beside...); err != nil {
			r.Fatal(err)
		}
		for range rapid.IntRange(0, 20).Draw(r, "commits") {
			prefix := "settle"
			for range rapid.IntRange(0, 3).Draw(r, "depth") {
				prefix += "/" + segment.Draw(r, "segment")
			}
			var ops []coord.Op
			for i := range rapid.IntRange(1, coord.MaxOps).Draw(r, "nodes") {
				ops = append(ops, coord.Put(fmt.Sprintf("%s/n%d", prefix, i), nil))
			}
			if _, err := reg.Commit(t.Context(), ops...); err != nil {
				r.Fatal(err)
			}
		}
		if _, err := removal.Rest(t.Context(), reg, "settle"); err != nil {
			r.Fatal(err)
		}
		var left []string
		for n, err := range reg.Walk(t.Context(), "") {
			if err != nil {
				r.Fatal(err)
			}
			left = append(left, n.Path)
		}
		if got := strings.Join(left, " "); got != "settle-x settle-x/config settle2 ~elasticjob ~elasticjob/removed ~elasticjob/removed/settle" && got != "settle-x/config settle2 ~elasticjob/removed/settle" {
			r.Fatalf("left are %s", got)
		}
	})
}

// What has a configuration is a job, and no rest.
func TestRestOfAJobThatIsThere(t *testing.T) {
	reg := dial(t)
	if _, err := reg.Commit(t.Context(), coord.Put("settle/config", nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := removal.Rest(t.Context(), reg, "settle"); !errors.Is(err, removal.ErrConfigured) || !errors.Is(err, coord.ErrConflict) {
		t.Errorf("got %v", err)
	}
	if _, err := reg.Get(t.Context(), "settle/config"); err != nil {
		t.Error(err)
	}
}

// The newest notes stay.
func TestTrim(t *testing.T) {
	reg := dial(t)
	if err := removal.Trim(t.Context(), reg, 5); err != nil {
		t.Error(err)
	}
	for i := range 200 {
		if _, err := reg.Commit(t.Context(), coord.Put(jobtree.Job(fmt.Sprint("j", i%150)).Removal(), nil)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := removal.Trim(t.Context(), reg, 60); err != nil {
			t.Error(err)
		}
		kept, err := reg.List(t.Context(), jobtree.Removals)
		if err != nil || len(kept) != 60 {
			t.Errorf("%d are kept, %v", len(kept), err)
		}
		for _, i := range []int{0, 49, 140, 149} {
			if _, err := reg.Get(t.Context(), jobtree.Job(fmt.Sprint("j", i)).Removal()); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		}
	}
}
