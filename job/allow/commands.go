package allow

import (
	"cmp"
	"fmt"
	"path/filepath"
)

// Command returns ErrNotAllowed if a script may not be a program.
func (l *List) Command(program string) error {
	if l == nil || filepath.Clean(program) == program && matches(l.of(func(r Rule) []string { return r.Commands }), program) {
		return nil
	}
	return refused(program, "script.commands")
}

// SetsVariable reports whether a configuration may set a variable of a script.
func (l *List) SetsVariable(name string) bool {
	return l == nil || matches(l.of(func(r Rule) []string { return r.Environment }), name)
}

// User returns the user as whom scripts have to run; empty if the list says nothing. It is an
// error if rules name several.
func (l *List) User() (string, error) {
	if l == nil {
		return "", nil
	}
	user := ""
	for _, r := range l.rules {
		if r.User != "" && user != "" && user != r.User {
			return "", fmt.Errorf("of the rules %v two have different users, %s and %s; one is allowed", l, user, r.User)
		}
		user = cmp.Or(r.User, user)
	}
	return user, nil
}
