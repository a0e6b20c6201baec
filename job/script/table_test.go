//go:build linux

package script_test

import (
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
)

// wrong are wrong values of each property, and what the error says.
var wrong = map[string][]struct {
	props map[string]string
	want  string
}{
	"script.command.line": {
		{map[string]string{}, "props: script.command.line: is required, or script.command.args"},
		{map[string]string{"script.command.line": `sh -c "a`}, "props: script.command.line: a quotation mark has no second one; a program and its arguments are allowed"},
		{map[string]string{"script.command.line": `  `}, "props: script.command.line: there is no program; a program and its arguments are allowed"},
		{map[string]string{"script.command.line": `'' a`}, "props: script.command.line: there is no program; a program and its arguments are allowed"},
		{map[string]string{"script.command.line": strings.Repeat("x", 100_001)}, "props: script.command.line: one text has 100001 bytes, more than 100000; a program and its arguments are allowed"},
	},
	"script.command.args": {
		{sh("", "script.command.line", "true"), "props: script.command.args: and script.command.line: one of the two is allowed"},
		{sh("", "script.command.args", `sh -c`), "props: script.command.args: it is no JSON list of texts; a JSON list of texts, the program first, is allowed"},
		{sh("", "script.command.args", `["sh",1]`), "props: script.command.args: it is no JSON list of texts; a JSON list of texts, the program first, is allowed"},
		{sh("", "script.command.args", `["sh",null]`), "props: script.command.args: text 1 of the list is null; a JSON list of texts, the program first, is allowed"},
		{sh("", "script.command.args", `["sh"] x`), "props: script.command.args: there is something after the list; a JSON list of texts, the program first, is allowed"},
		{sh("", "script.command.args", `[]`), "props: script.command.args: there is no program; a JSON list of texts, the program first, is allowed"},
		{sh("", "script.command.args", `["a\u0000b"]`), "props: script.command.args: it has a zero byte; a JSON list of texts, the program first, is allowed"},
	},
	"script.context.argument": {{sh("", "script.context.argument", "yes"), `props: script.context.argument: "yes": true, false are allowed`}},
	"script.directory":        {{sh("", "script.directory", "./x"), `props: script.directory: "./x" is not absolute; an absolute path is allowed`}},
	"script.env.*": {
		{sh("", "script.env.A", "a${env:B"), "props: script.env.A: a reference that begins with ${ does not end with }; $${ stands for ${ itself; a text is allowed"},
		{sh("", "script.env.A-B", "c"), "props: script.env.A-B: a name of letters, digits and _ is allowed, which does not begin with a digit"},
		{sh("", "script.env.1", "c"), "props: script.env.1: a name of letters, digits and _ is allowed, which does not begin with a digit"},
		{sh("", "script.env.ELASTICJOB_ITEM", "3"), "props: script.env.ELASTICJOB_ITEM: names that begin with ELASTICJOB_ are for the sharding context"},
	},
	"script.inherit":       {{sh("", "script.inherit", "PATH,A=B"), `props: script.inherit: "A=B" is no name; none, * and names that end with * may stand there, with commas between them; names of variables are allowed`}},
	"script.user":          {{sh("", "script.user", "a b"), `props: script.user: "a b" is neither; a name or a number is allowed`}},
	"script.group":         {{sh("", "script.group", "staff"), "props: script.group: needs script.user"}, {sh("", "script.user", "a", "script.group", "a:b"), `props: script.group: "a:b" is neither; a name or a number is allowed`}},
	"script.grace":         {{sh("", "script.grace", "10"), `props: script.grace: "10": durations from 0s to 1h0m0s, such as 1m30s, are allowed`}},
	"script.codes.success": {{sh("", "script.codes.success", "0-256"), `props: script.codes.success: "0-256": numbers from 0 to 255 and ranges of them, such as 3,5-7, are allowed`}},
	"script.codes.skip":    {{sh("", "script.codes.skip", "0-5"), "props: script.codes.skip: 0 is a code of script.codes.success"}, {sh("", "script.codes.skip", "x"), `props: script.codes.skip: "x": numbers from 0 to 255 and ranges of them, such as 3,5-7, are allowed`}},
	"script.codes.retry":   {{sh("", "script.codes.retry", "0"), "props: script.codes.retry: 0 is a code of script.codes.success"}, {sh("", "script.codes.retry", "3-5", "script.codes.skip", "5,7"), "props: script.codes.retry: 5 is a code of script.codes.skip"}},
}

func TestWrongProperties(t *testing.T) {
	kind := newType(t, script.Options{})
	for _, row := range script.Table().Rows {
		if len(wrong[row.Name]) == 0 {
			t.Errorf("there is no wrong value of %s", row.Name)
		}
	}
	for name, cases := range wrong {
		for _, tc := range cases {
			_, err := kind.Handler(job.Config{Name: "script", Props: tc.props})
			if _, ok := errors.AsType[*job.ConfigError](err); !ok || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v\nwant %s", name, err, tc.want)
			}
		}
	}
	if _, err := kind.Handler(job.Config{Name: "script", Props: sh("", "script.comand.line", "x")}); err == nil || !strings.Contains(err.Error(), "props: script.comand.line: is not known") {
		t.Errorf("a slip: got %v", err)
	}
	many := sh("")
	for i := range 1000 {
		many["script.env.1"+strings.Repeat("x", i)] = ""
	}
	if _, err := kind.Handler(job.Config{Name: "script", Props: many}); err == nil || len(err.Error()) > 20_000 {
		t.Errorf("many faults: %d bytes", len(err.Error()))
	}
}

// The package comment has the same table as the code.
func TestDocumentedTable(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^//\t(script\.\S+)\s+(\S+)\s`).FindAllStringSubmatch(string(text), -1) {
		documented[row[1]] = strings.TrimPrefix(row[2], "-")
	}
	coded := map[string]string{}
	for _, row := range script.Table().Rows {
		coded[row.Name] = row.Default
	}
	if !maps.Equal(documented, coded) {
		t.Errorf("doc.go has %v\nthe code has %v", documented, coded)
	}
	if missing := slices.Sorted(maps.Keys(coded)); len(missing) != len(script.Table().Rows) {
		t.Error("a name stands twice")
	}
}
