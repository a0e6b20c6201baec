package script

import (
	"errors"
	"strings"
)

// words splits a command line as ElasticJob does: at spaces only. Single and double quotes
// hold a word together and are removed, also in the middle of a word; within one kind the
// other is a character like all others. Nothing else has a meaning: no escape, no variable.
func words(line string) ([]string, error) {
	var list []string
	var word strings.Builder
	var quote rune
	begun := false // also true for a word that is empty, in quotes
	for _, r := range strings.TrimSpace(line) {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r != ' ':
			word.WriteRune(r)
			begun = true
		case begun:
			list = append(list, word.String())
			word.Reset()
			begun = false
		}
	}
	if quote != 0 {
		return nil, errors.New("a quotation mark has no second one")
	}
	if begun {
		list = append(list, word.String())
	}
	return list, nil
}
