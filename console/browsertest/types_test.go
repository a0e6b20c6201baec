package browsertest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A script, an HTTP request, and a job of a program's own type are changed in the form in which they were made. What has no field there, and what nobody has
// touched, stays as it is written.
func TestTypesAreChangedAsTheyAreMade(t *testing.T) {
	t.Parallel()
	eventually(t, "a worker describes a type", func(ctx context.Context) (bool, error) {
		processes, err := town.Ops(t).Processes(ctx)
		return slices.ContainsFunc(processes, func(p ops.ProcessInfo) bool { return len(p.Described) > 0 }), err
	})
	for name, x := range map[string]struct {
		way            string // chosen where it is made
		made, changed  [][2]string
		more           string // what opens the other fields
		meanwhile      map[string]string
		was, is, shown map[string]string
	}{
		"type-script": {
			made: [][2]string{{"Command", "echo one"}, {"Environment", "CITY=Lima\nTOKEN=${env:TOKEN}"}}, more: "More of the script",
			was: map[string]string{"script.command.args": `["/bin/sh","-c","echo one"]`, "script.env.CITY": "Lima", "script.env.TOKEN": "${env:TOKEN}"},
			meanwhile: map[string]string{
				"script.command.args": `["/bin/sh", "-c", "echo two"]`, "script.env.TEXT": " two\nlines", "script.later": "kept", "colour": "green", "http.uri": "of another type",
			},
			shown:   map[string]string{"command": "echo two", "script-env-": "CITY=Lima\nTOKEN=${env:TOKEN}", "script-grace": ""},
			changed: [][2]string{{"Environment", "CITY=上海"}, {"Time to end", "20s"}},
			is: map[string]string{
				"script.command.args": `["/bin/sh", "-c", "echo two"]`, "script.env.CITY": "上海", "script.env.TEXT": " two\nlines", "script.grace": "20s",
				"script.later": "kept", "colour": "green", "http.uri": "of another type",
			},
		},
		"type-http": {
			way:  "HTTP request A request to a service, for each sharding item.",
			made: [][2]string{{"URL", "http://127.0.0.1:9/a"}, {"Headers", "Accept: text/plain"}},
			was:  map[string]string{"http.uri": "http://127.0.0.1:9/a", "http.method": "GET", "http.header.Accept": "text/plain"},
			meanwhile: map[string]string{
				"http.later": "kept",
			},
			shown:   map[string]string{"http-uri": "http://127.0.0.1:9/a", "http-header-": "Accept: text/plain"},
			changed: [][2]string{{"URL", "http://127.0.0.1:9/b"}, {"Headers", "Accept: text/plain\nX-From: console"}},
			is: map[string]string{
				"http.uri": "http://127.0.0.1:9/b", "http.method": "GET", "http.header.Accept": "text/plain", "http.header.X-From": "console", "http.later": "kept",
			},
		},
		"type-own": {
			way:  "Program A handler that one of your programs offers.",
			made: [][2]string{{"Implementation", world.Publish}, {"publish.topic", "cities"}, {"publish.label.*", "a=1\nb=2"}},
			was:  map[string]string{"publish.topic": "cities", "publish.label.a": "1", "publish.label.b": "2"},
			meanwhile: map[string]string{
				"publish.password": "${env:BROKER}", "publish.label.text": "two\nlines", "publish.later": "kept",
			},
			shown:   map[string]string{"type-0": "cities", "type-1": "", "type-2": "${env:BROKER}", "type-3": "a=1\nb=2"},
			changed: [][2]string{{"publish.topic", "上海"}, {"publish.copies", "3"}, {"publish.label.*", "a=2"}},
			is: map[string]string{
				"publish.topic": "上海", "publish.copies": "3", "publish.password": "${env:BROKER}", "publish.label.a": "2", "publish.label.text": "two\nlines", "publish.later": "kept",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab, j := creating(t, world.Admin, "", name)
			fill := func(fields [][2]string) {
				if x.more != "" {
					tab.Click("button", x.more)
				}
				for _, f := range fields {
					tab.Fill(f[0], f[1])
				}
			}
			tab.Fill("Name", name)
			tab.Choose("Runs", "only when triggered")
			if x.way != "" {
				tab.Click("radio", x.way)
			}
			fill(x.made)
			tab.Click("button", "Create the job")
			tab.WaitFor("location.pathname.endsWith('/jobs/" + name + "')")
			if c, _ := configOf(t, j); !maps.Equal(c.Props, x.was) {
				t.Errorf("created with %v, want %v", c.Props, x.was)
			}
			change(t, j, func(c *job.Config) { maps.Copy(c.Props, x.meanwhile) })

			tab.Open("/namespaces/" + world.Namespace + "/jobs/" + name + "/settings")
			for id, value := range x.shown {
				tab.WaitFor(fmt.Sprintf("document.getElementById(%q)?.value === %q", id, value))
			}
			tab.See("Nothing is changed.")
			fill(x.changed)
			audit(t, tab, name)
			tab.Click("button", "Review and save")
			tab.Click("button", "Save")
			tab.See("The configuration is saved.")
			if c, _ := configOf(t, j); !maps.Equal(c.Props, x.is) {
				t.Errorf("changed to %v, want %v", c.Props, x.is)
			}
		})
	}
}
