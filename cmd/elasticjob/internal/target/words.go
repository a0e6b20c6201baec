package target

import (
	"strings"
	"unicode"
)

// Words returns the flags that these settings and a context were given by, as words of a shell, with a blank before each:
// a command that is advised has them, so that who copies it does not work on another store. The history is not among them.
func (s Settings) Words(context string) string {
	var b strings.Builder
	add := func(flag, value string) {
		if flag != "" && value != "" {
			b.WriteString(" --" + flag + " " + word(value))
		}
	}
	add("context", context)
	for _, f := range Fields() {
		if f.Flag != "history" {
			add(f.Flag, *f.In(&s))
		}
	}
	return b.String()
}

// word quotes a text for a shell if that is necessary.
func word(text string) string {
	isPlain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./:,@+=", r)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !isPlain(r) }) {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}
