package script_test

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job/script"
)

// What only a shell understands is told, and nothing else.
func TestHint(t *testing.T) {
	for line, want := range map[string]string{
		"echo `date`":               "`date`",
		"echo a > /tmp/out":         ">",
		"echo a 2>/dev/null":        "2>/dev/null",
		"sort < in":                 "<",
		"cd /tmp && ls":             "&&",
		"cat a | wc":                "|",
		"cd /tmp; ls":               "/tmp;",
		"echo $HOME":                "$HOME",
		`echo "$HOME/a b"`:          "_$HOME/a_b_",
		"echo ${HOME}":              "${HOME}",
		"echo $(date)":              "$(date)",
		"rm /tmp/*.log":             "/tmp/*.log",
		"ls ~/bin":                  "~/bin",
		"echo a '>' \"b|c\"":        "",
		"echo '$HOME' '*'":          "",
		"/opt/run --a=b -x 5":       "",
		"curl http://a/b?c=d&e=f#g": "",
		"find . -exec rm {} ;":      "",
		"grep a->b price$ 5$":       "",
		`/bin/sh -c "echo $HOME"`:   "",
		"env bash -c 'a > b'":       "",
		"echo 'a":                   "", // an error
		"":                          "",
	} {
		got := script.Hint(line)
		if want == "" && got != "" || want != "" && !strings.HasPrefix(got, `"`+want+`" is for a shell`) {
			t.Errorf("%s: got %q, want %s", line, got, want)
		}
	}
}
