package jobtree_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Every path that a Job has, has a meaning: so who adds one says what it is for.
func TestEveryPathHasAMeaning(t *testing.T) {
	j := jobtree.Job("settle")
	paths := []string{
		jobtree.Nodes, jobtree.Node("10.0.0.1@-@1-a"), jobtree.Calendars, jobtree.Calendar("holidays"), jobtree.Removals, jobtree.AppliedJobs,
		jobtree.Audits, jobtree.Audit("01a204d5-4f10-7e2c-87cc-4524af076981"), coord.ClockPath,
	}
	of := reflect.ValueOf(j)
	for i := range of.NumMethod() {
		var in []reflect.Value
		method := of.Method(i)
		for n := range method.Type().NumIn() {
			switch method.Type().In(n) {
			case reflect.TypeFor[string]():
				in = append(in, reflect.ValueOf("10.0.0.1@-@1-a"))
			case reflect.TypeFor[int]():
				in = append(in, reflect.ValueOf(7))
			case reflect.TypeFor[time.Time]():
				in = append(in, reflect.ValueOf(time.UnixMilli(1_800_000_000_500)))
			default:
				t.Fatalf("%s takes a %v: say here what for", of.Type().Method(i).Name, method.Type().In(n))
			}
		}
		if out := method.Call(in); len(out) == 1 && out[0].Kind() == reflect.String {
			paths = append(paths, out[0].String())
		}
	}
	if len(paths) < 45 {
		t.Errorf("%d paths are too few", len(paths))
	}
	for _, path := range paths {
		for p := path; p != ""; p = coord.Parent(p) {
			if text, ok := jobtree.Meaning(p); !ok || text == "" {
				t.Errorf("%s has no meaning", p)
			}
		}
	}
}

func TestMeanings(t *testing.T) {
	for path, want := range map[string]string{
		"settle":                        "a job",
		"settle/sharding/3/running":     "the instance that runs it now",
		"settle/guarantee/started/3":    "an item that has begun, of JVM members",
		"instances/instances/instances": "a live instance",
		"~elasticjob/applied/settle":    "the set of files",
		"settle/sharding/03":            "",
		"settle/sharding/3/runing":      "",
		"settle/guarantee/yesterday":    "",
		"settle/{instance}":             "",
		"a b":                           "",
		"":                              "",
		"settle/":                       "",
		"~other":                        "",
		"settle" + strings.Repeat("/sharding/3", 1000): "",
	} {
		if text, ok := jobtree.Meaning(path); !strings.HasPrefix(text, want) || ok != (want != "") {
			t.Errorf("%.60s: %q, %v", path, text, ok)
		}
	}
}
