package job_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/job"
)

func TestProperties(t *testing.T) {
	given := map[string]string{"b": "2", "c": "", "a": "1"}
	p := job.NewProperties(given)
	given["b"] = "changed"
	delete(given, "a")
	if p.Len() != 3 {
		t.Errorf("%d properties, want 3", p.Len())
	}
	for name, want := range map[string]string{"a": "1", "b": "2", "c": ""} {
		if got, ok := p.Get(name); got != want || !ok {
			t.Errorf("%s is %q, %t, want %q", name, got, ok, want)
		}
	}
	if got, ok := p.Get("d"); got != "" || ok {
		t.Errorf("d is %q, %t", got, ok)
	}
	var names []string
	for name := range p.All() {
		names = append(names, name)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name := range p.All() {
		if name != "a" {
			t.Errorf("it goes on to %s after the end", name)
		}
		break
	}
}

func TestNoProperties(t *testing.T) {
	for _, p := range []job.Properties{{}, job.NewProperties(nil)} {
		if _, ok := p.Get("a"); ok || p.Len() != 0 || len(maps.Collect(p.All())) != 0 {
			t.Errorf("%+v has some", p)
		}
	}
}

// Each execution gets properties, so they must not cost an allocation.
func TestPropertiesAreNotCopied(t *testing.T) {
	p := job.NewProperties(map[string]string{"a": "1"})
	var handed job.Properties
	if n := testing.AllocsPerRun(100, func() { handed = p }); n != 0 || handed.Len() != 1 {
		t.Errorf("%v allocations", n)
	}
}
