package jobtree_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Whatever the value of a node, reading it is fast, and its error is short.
func TestErrorsOfValuesAreBounded(t *testing.T) {
	const size = 900_000
	long := strings.Repeat("x", size)
	var keys strings.Builder
	for i := range size / 9 {
		fmt.Fprintf(&keys, "k%d: v\n", i)
	}
	read := func(path, value string) *jobtree.State {
		return jobtree.Read(tree(map[string]string{"settle/" + path: value}), "settle")
	}
	decoders := map[string]func(value string) error{
		"instance": func(value string) error { return read("instances/"+id, value).Instances[id].Err },
		"schedule": func(value string) error { return read("schedule", value).Schedule.Err },
		"fired":    func(value string) error { return read("sharding/0/fired", value).Item(0).Fired.Err },
		"kill":     func(value string) error { return read("kill/0", value).Kills[0].Err },
		"pin":      func(value string) error { return read("pins/0", value).Pins[0].Err },
		"request":  func(value string) error { return read("requests/"+aRequest, value).Requests[0].Err },
		"progress": func(value string) error { return readProgress(value).Err },
		"guarantee": func(value string) error {
			return read("guarantee/2026-11-20T23:14:28.000Z", value).Guarantees[0].Err
		},
		"completed": func(value string) error {
			_, err := read("sharding/0/completed", value).Item(0).Completed.Document()
			return err
		},
	}
	const small = "instance fired completed kill pin request progress guarantee" // these refuse all
	for name, tc := range map[string]struct {
		value string
		bad   string // the other decoders that refuse it; "" means all
	}{
		"long address":       {"serverIp: " + long, "instance"},
		"long quoted one":    {"serverIp: '" + long + "'", "instance"},
		"many labels":        {"labels: " + strings.Repeat("x,", size/2), "instance"},
		"list of labels":     {"labels: [" + strings.Repeat("x,", size/2) + "]", "instance"},
		"long time":          {"since: " + long, "schedule"},
		"long switch":        {"misfire: " + long, "schedule"},
		"list as a cron":     {"cron: [" + long + "]", "schedule"},
		"text":               {long, ""},
		"text of many lines": {strings.Repeat("a: b: c\n", size/8), ""},
		"many keys":          {keys.String(), "none"},
		"one key many times": {strings.Repeat("<<: {a: b}\n", size/11), ""},
		"depth":              {strings.Repeat("[", size), ""},
		"anchor":             {"*" + long, ""},
		"tag":                {"cron: !" + long + " x", "none"},
		"more than a node":   {strings.Repeat("#\n", 600_000), ""},
		"binary":             {strings.Repeat("\x00\xff", size/2), ""},
	} {
		for decoder, decode := range decoders {
			err := decode(tc.value)
			if bad := tc.bad == "" || strings.Contains(tc.bad+small, decoder); bad != (err != nil) {
				t.Errorf("%s: %s: %v", name, decoder, err)
			}
			if err != nil && len(err.Error()) > 700 {
				t.Errorf("%s: %s: error of %d bytes: %.200s", name, decoder, len(err.Error()), err)
			}
		}
	}
}
