//go:build linux

package script_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job/script"
)

// The words of a command line reach the program. What ElasticJob's parser says of each line
// is the same, but that its runner trims words, and puts quotation marks around those that
// have a space or a mark in them.
func TestWords(t *testing.T) {
	for _, tc := range []struct {
		line string
		want []string
	}{
		{`foo bar`, []string{"foo", "bar"}},
		{`  foo   bar  `, []string{"foo", "bar"}},
		{`"foo" 'ba r'`, []string{"foo", "ba r"}},
		{`'fo o' "ba r"`, []string{"fo o", "ba r"}},
		{`10 30 -XX:+UseParallelGC '"-XX:ParallelGCThreads=2"'`, []string{"10", "30", "-XX:+UseParallelGC", `"-XX:ParallelGCThreads=2"`}},
		{`"it's"`, []string{"it's"}},
		{`a"b c"d'e f'`, []string{"ab cde f"}},
		{`"" '' a`, []string{"", "", "a"}},
		{`''`, []string{""}},
		{`a\ b "c\" d`, []string{`a\`, "b", `c\`, "d"}},
		{`$HOME ${x} *.go ~ a|b >c;d`, []string{"$HOME", "${x}", "*.go", "~", "a|b", ">c;d"}},
		{"a\tb\nc d\n", []string{"a\tb\nc", "d"}},
		{"中文 '空 格'", []string{"中文", "空 格"}},
	} {
		r := runProps(t, map[string]string{"script.command.line": "/proc/self/exe be-a-program json " + tc.line, "script.context.argument": "false", "script.env.GORACE": "atexit_sleep_ms=0"})
		var got []string
		if err := json.Unmarshal(r.Output, &got); err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q (%v, %v)", tc.line, got, tc.want, err, r.Err)
		}
	}
}

// Any list of words can be written as a line, if no word has both kinds of quotation marks.
func TestQuotedWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[ a-z\\$"'\t中]{0,8}`).Filter(func(word string) bool {
			return !strings.Contains(word, `"`) || !strings.Contains(word, `'`)
		}), 1, 5).Draw(t, "words")
		words[0] = "program" + words[0]
		var line []string
		for _, word := range words {
			mark := `"`
			if strings.Contains(word, mark) {
				mark = `'`
			}
			line = append(line, mark+word+mark)
		}
		got, err := script.Words(strings.Join(line, strings.Repeat(" ", rapid.IntRange(1, 3).Draw(t, "spaces"))))
		if err != nil || !slices.Equal(got, words) {
			t.Errorf("got %q (%v), want %q", got, err, words)
		}
	})
}
