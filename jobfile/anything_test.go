package jobfile_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/jobfile"
)

// Whatever is in a file, Read returns, with an error of bounded length that says where.
func TestAnything(t *testing.T) {
	good := example(t)
	dir := t.TempDir() + "/elasticjob.yaml"
	rapid.Check(t, func(rt *rapid.T) {
		text := good
		for range rapid.IntRange(1, 4).Draw(rt, "changes") {
			at := rapid.IntRange(0, len(text)).Draw(rt, "at")
			cut := min(rapid.IntRange(0, 30).Draw(rt, "cut"), len(text)-at)
			put := rapid.OneOf(
				rapid.SampledFrom([]string{"", "\n", "null", "{", "}", "[", ": ", "- ", "&a ", "*a", "<<: *a", "!!int ", "${env:X}", "${", "$${x}", "'", "\t", "jobs:", "-1", "1e9", "?"}),
				rapid.String(),
			).Draw(rt, "put")
			text = text[:at] + put + text[at+cut:]
		}
		rewrite(t, dir, text)
		f, err := jobfile.Read(options(map[string]string{}), dir)
		if err == nil {
			for _, c := range f.Jobs() {
				if err := c.Validate(); err != nil {
					rt.Errorf("a configuration that is wrong: %v", err)
				}
			}
			return
		}
		var e *jobfile.Error
		if !errors.As(err, &e) || len(err.Error()) > 30_000 {
			rt.Fatalf("%d bytes: %v", len(err.Error()), err)
		}
		for _, m := range e.Mistakes {
			if m.File != dir || m.Line < 0 || m.Line > 1+strings.Count(text, "\n")+strings.Count(text, "\r")+strings.Count(text, "\u0085")+strings.Count(text, "\u2028")+strings.Count(text, "\u2029") ||
				strings.Contains(m.Error(), "\n") || utf8.ValidString(text) && !utf8.ValidString(m.Error()) {
				rt.Errorf("mistake %q", m)
			}
		}
	})
}

// What two files say is what one says that has both, and the later one counts: whether they are
// given apart, or one stands in a profile of the other.
func TestMergeIsTheSameEverywhere(t *testing.T) {
	line := rapid.SampledFrom([]string{
		"description: a", "description: b", "description: null", "retry: {attempts: 1}", "retry: {maxBackoff: 5s}", "retry: {attempts: null}", "retry: null",
		"calendars: [a, b]", "calendars: [c]", "calendars: null", "props: {a: x, b: y}", "props: {a: null, c: z}", "props: null", "timeout: 1s", "timeout: null",
	})
	job := rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfNDistinct(line, 0, 5, func(l string) string { return l[:strings.IndexByte(l, ':')] }).Draw(t, "lines")
		return "{" + strings.Join(lines, ", ") + "}"
	})
	const base = memoryFile + "defaults: {implementation: settle, cron: '0 0 3 * * ?', shardingTotalCount: 1, retry: {attempts: 7}, props: {d: e}}\n"
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		one, two := job.Draw(rt, "one"), job.Draw(rt, "two")
		read := func(profiles []string, texts ...string) any {
			var paths []string
			for i, text := range texts {
				path := dir + "/" + string(rune('a'+i))
				rewrite(t, path, text)
				paths = append(paths, path)
			}
			o := options(nil)
			o.Profiles = profiles
			f, err := jobfile.Read(o, paths...)
			if err != nil {
				rt.Fatal(err)
			}
			return f.Jobs()
		}
		none := []string{}
		apart := read(none, base+"jobs: {x: "+one+"}", "jobs: {x: "+two+"}")
		for name, other := range map[string]any{
			"a profile":          read([]string{"p"}, base+"jobs: {x: "+one+"}\nprofiles: {p: {jobs: {x: "+two+"}}}"),
			"a profile in front": read([]string{"p"}, "profiles: {p: {jobs: {x: "+two+"}}}", base+"jobs: {x: "+one+"}"),
			"two profiles":       read([]string{"p", "q"}, base+"profiles: {q: {jobs: {x: "+two+"}}, p: {jobs: {x: "+one+"}}}"),
			"twice":              read(none, base+"jobs: {x: "+one+"}", "jobs: {x: "+two+"}", "jobs: {x: "+two+"}"),
			"nothing":            read(none, base+"jobs: {x: "+one+"}", "", "jobs: {x: "+two+"}", "{}"),
		} {
			if !reflect.DeepEqual(apart, other) {
				rt.Errorf("%s: %+v, apart %+v", name, other, apart)
			}
		}
	})
}
