package script

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// forShells finds words that mean something to a shell: redirections, pipes and lists of commands,
// variables, back quotes, globs, the home directory.
var forShells = regexp.MustCompile("^[0-9&]*[<>]|^[&|]+$|.;$|`|\\$[A-Za-z_{(]|\\*|^~(/|$)")

// Hint says what in a command line is for a shell, which there is none of: the program gets it as
// it stands, and nothing is expanded or written. It is empty if there is no such thing, or if the
// line starts a shell.
func Hint(line string) string {
	list, err := words(line)
	if err != nil || slices.ContainsFunc(list, isShell) {
		return ""
	}
	quote := rune(0)
	bare := strings.Map(func(r rune) rune {
		switch {
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
			return '_'
		case quote == r:
			quote = 0
			return '_'
		case quote == '\'' || quote == '"' && strings.ContainsRune(" <>&|;*~", r):
			return '_' // as a shell sees it
		}
		return r
	}, line)
	for word := range strings.FieldsSeq(bare) {
		if forShells.MatchString(word) {
			return brief.Quote(word) + ` is for a shell, and there is none: the program gets it as it stands; script.command.args: '["/bin/sh","-c","…"]' starts one`
		}
	}
	return ""
}

func isShell(word string) bool {
	return slices.Contains([]string{"sh", "ash", "bash", "dash", "ksh", "zsh", "busybox"}, path.Base(word))
}
