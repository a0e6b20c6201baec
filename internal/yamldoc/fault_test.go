package yamldoc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// An error says where the mistake is that people make, and what they most often have meant.
func TestSyntaxErrors(t *testing.T) {
	const head = "jobs:\n  a:\n    type: HTTP\n" // three lines
	for name, tc := range map[string]struct {
		text         string
		line, column int
		want         string
	}{
		"one blank too few":       {head + strings.Repeat("    x: y\n", 100) + "   cron: a\n", 104, 4, "the indentation is not that of line 2"},
		"one blank too many":      {head + "     cron: a\n", 4, 10, "the indentation is not that of the line above"},
		"in a list":               {head + "    list:\n      - a\n     - b\n", 6, 6, "the indentation is not that of line 3"},
		"one line, two levels":    {head + "    list:\n    - a\n   - b\n    c: d\n", 6, 4, "the indentation is not that of line 2"},
		"behind a quoted text":    {head + "    cron: \"0 0 3\" * * ?\n    x: y\n", 4, 19, "a text that begins with * needs quotation marks"},
		"behind a quoted word":    {head + "    cron: 'a' b\n    x: y\n", 4, 15, "something follows a value that has ended"},
		"no second quote":         {head + "    cron: 'a\n    x: y\n", 4, 11, "the second quotation mark is missing"},
		"no ]":                    {head + "    list: [a, b\n    x: y\n    z: y\n", 5, 6, "the [ in line 4 is not closed, or a comma is missing"},
		"no ] at the end":         {head + "    list: [a, b\n", 4, 11, "the [ in line 4 is not closed"},
		"no } and no value":       {"jobs: {", 1, 8, "a [ or { is not closed"},
		"no }":                    {head + "    props: {a: b\n    x: y\n", 5, 6, "the { in line 4 is not closed, or a comma is missing"},
		"no comma":                {head + "    props: {a: b\n      c: d}\n", 5, 8, "the { in line 4 is not closed, or a comma is missing"},
		"two ]":                   {head + "    list: [a]]\n    x: y\n", 4, 14, "something follows a value that has ended"},
		"unquoted cron":           {head + "    cron: * 0/5 * * * ?\n", 4, 11, "a text that begins with * needs quotation marks"},
		"unquoted cron of Unix":   {head + "    cron: */5 * * * *\n", 4, 15, "a text that begins with * needs quotation marks"},
		"unquoted cron in braces": {head + "  b: {cron: * * * * * ?}\n", 4, 13, "a text that begins with * needs quotation marks"},
		"unquoted pattern":        {head + "    pattern: *pay\n", 4, 14, "a text that begins with * needs quotation marks"},
		"unquoted descriptor":     {head + "    cron: @daily\n", 4, 11, "a text that begins with such a character needs quotation marks"},
		"a colon":                 {head + "    text: a: b\n", 4, 12, "a text with a colon and a blank in it needs quotation marks"},
		"no colon":                {head + "    cron\n    x: y\n", 4, 5, "a key needs a colon"},
		"a tab":                   {head + "\tcron: a\n", 4, 1, "a tab is no indentation"},
		"a tab behind blanks":     {head + "    x:\n    \ty: z\n", 5, 5, "a tab is no indentation"},
		"two documents":           {"[a]\nb: c\n", 2, 1, "one document is allowed, and more follows it"},
		"an escape":               {"a: \"\\d\"\n", 1, 5, "unknown escape character"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := yamldoc.Root([]byte(tc.text))
			wrong, ok := errors.AsType[*yamldoc.SyntaxError](err)
			if !ok || wrong.Line != tc.line || wrong.Column != tc.column || !strings.Contains(wrong.Problem, tc.want) || len(err.Error()) > 500 {
				t.Errorf("%v, want %d:%d, %s", err, tc.line, tc.column, tc.want)
			}
		})
	}
}
