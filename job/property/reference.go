package property

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/bounded"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Lookup returns what a reference stands for: name is "env:HOME" for "${env:HOME}". ok is
// false if it does not know such a reference; then another Lookup is asked.
type Lookup func(name string) (value string, ok bool, err error)

// Expand puts the values of references in their place. "$${" stands for "${" itself. The
// error names the reference, and shows no value.
func Expand(text string, lookups ...Lookup) (string, error) {
	var b strings.Builder
	for {
		before, name, rest, found, err := next(text)
		if err != nil {
			return "", err
		}
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		value, err := lookUp(name, lookups)
		if err != nil {
			return "", err
		}
		b.WriteString(value)
		text = rest
	}
}

// Escape returns a text that [Expand] turns into the given one.
func Escape(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// HasReference reports whether there is a reference to what the process has in a text: to its
// environment, or to a file.
func HasReference(text string) bool {
	for {
		_, name, rest, found, err := next(text)
		if err != nil || !found {
			return false
		}
		if strings.HasPrefix(name, "env:") || strings.HasPrefix(name, "file:") {
			return true
		}
		text = rest
	}
}

// next finds the first reference of a text.
func next(text string) (before, name, rest string, found bool, err error) {
	var b strings.Builder
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			return b.String() + text, "", "", false, nil
		}
		if i > 0 && text[i-1] == '$' {
			b.WriteString(text[:i-1] + "${")
			text = text[i+2:]
			continue
		}
		b.WriteString(text[:i])
		name, rest, closed := strings.Cut(text[i+2:], "}")
		if !closed {
			return "", "", "", false, errors.New("a reference that begins with ${ does not end with }; $${ stands for ${ itself")
		}
		return b.String(), name, rest, true, nil
	}
}

func lookUp(name string, lookups []Lookup) (string, error) {
	for _, look := range lookups {
		if value, ok, err := look(name); err != nil {
			return "", fmt.Errorf("reference %s: %w", brief.Quote("${"+name+"}"), err)
		} else if ok {
			return value, nil
		}
	}
	return "", fmt.Errorf("reference %s is not known; $${ stands for ${ itself", brief.Quote("${"+name+"}"))
}

// withoutReferences puts "x" in the place of each reference.
func withoutReferences(text string) string {
	plain, err := Expand(text, func(string) (string, bool, error) { return "x", true, nil })
	if err != nil {
		return text
	}
	return plain
}

// maxSecretFile bounds a file that a reference names.
const maxSecretFile = 64 << 10

// FromProcess looks up what the process has: ${env:NAME} is a variable of its environment,
// which must be set, and ${file:/path} the content of a regular file of up to 64 KiB, without
// the line break at its end. It reads anew at each call, so a secret may change.
//
// Whoever may change the configuration of a job can thereby have any variable and any file
// sent where he likes. Package allow has a narrower Lookup.
func FromProcess() Lookup {
	return func(name string) (string, bool, error) {
		kind, what, _ := strings.Cut(name, ":")
		switch kind {
		case "env":
			value, ok := os.LookupEnv(what)
			if !ok {
				return "", true, errors.New("this process has no such variable")
			}
			return value, true, nil
		case "file":
			text, _, err := bounded.File(what, maxSecretFile)
			return strings.TrimRight(string(text), "\r\n"), true, err
		}
		return "", false, nil
	}
}
