package connection

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// admit checks an entry that somebody gives over the network, where old is the one that there is, if any.
// It returns the secret as it is to be stored, but not encrypted yet if it is in clear text.
func admit[T item[T]](b *Book, given T, old *entry[T]) (stored, error) {
	if err := given.check(); err != nil {
		return "", err
	}
	var before map[string]string
	if old != nil {
		before = old.Item.files()
	}
	for name, path := range given.files() {
		if path == "" || path == before[name] {
			continue
		}
		if err := b.o.Allow.file(path); err != nil {
			return "", &EntryError{name, err}
		}
	}
	secret := given.password()
	isSame := old != nil && (secret.isKept() || stored(secret.Reveal()) == old.Stored && isReference(string(old.Stored)))
	switch {
	case isSame && old.Item.with(given.name(), Secret{}, false, "").destination() != given.destination():
		if !secret.isKept() {
			return b.o.Allow.secret(secret) // as if it were new
		}
		return "", &EntryError{"password", ErrElsewhere}
	case isSame:
		return old.Stored, nil
	case secret.isKept():
		return "", field("password", "there is none yet that could be kept")
	}
	return b.o.Allow.secret(secret)
}

// secret returns a secret as it is to be stored, if it is in clear text or may be referred to. A text in
// clear that looks like an encrypted one is none: so it is refused.
func (a Allow) secret(s Secret) (stored, error) {
	parts := reference.FindStringSubmatch(s.Reveal())
	var err error
	switch {
	case isSealed(s.Reveal()):
		err = fmt.Errorf("it begins with %s, as only what the console writes does", sealedPrefix)
	case parts == nil:
	case parts[1] == "env" && !slices.Contains(a.Variables, parts[2]):
		err = fmt.Errorf("variable %s: %w", brief.Quote(parts[2]), ErrNotAllowed)
	case parts[1] == "file":
		if err = checkPath("file", parts[2]); err == nil {
			err = a.file(parts[2])
		}
	}
	if err != nil {
		return "", &EntryError{"password", err}
	}
	return stored(s.Reveal()), nil
}

// file returns ErrNotAllowed if a file is not in a folder that is allowed. Of any other file it does not
// tell whether it is there.
func (a Allow) file(path string) error {
	errNot := fmt.Errorf("file %s: %w", brief.Quote(path), ErrNotAllowed)
	if !a.has(path) {
		return errNot
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("file %s cannot be found", brief.Quote(path)) // the error would tell where a link leads
	}
	if !a.has(real) {
		return errNot
	}
	return nil
}

func (a Allow) has(path string) bool {
	return slices.ContainsFunc(a.Folders, func(folder string) bool {
		return strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
	})
}
