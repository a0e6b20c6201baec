package access

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a password, in bytes.
const (
	MinPassword = 12
	MaxPassword = 256
)

// CheckPassword returns ErrPassword for a password that is too short or too long, or easy to guess: it is one that
// many have, or is little more than the name, or repeats a few signs.
func CheckPassword(name, password string) error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrPassword, fmt.Sprintf(format, args...))
	}
	switch folded := strings.ToLower(password); {
	case len(password) < MinPassword || len(password) > MaxPassword:
		return refuse("it has %d bytes; allowed are %d to %d", len(password), MinPassword, MaxPassword)
	case !utf8.ValidString(password):
		return refuse("it is not UTF-8")
	case strings.ContainsFunc(password, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return refuse("it has control characters, which HTTP Basic cannot send")
	case signs(folded) < 5:
		return refuse("it has fewer than 5 different signs")
	case isRow(folded):
		return refuse("its signs follow each other in the alphabet, or on the keyboard")
	case isCommon(folded):
		return refuse("many have it, or one like it")
	case name != "" && len(strings.ReplaceAll(folded, strings.ToLower(name), "")) < MinPassword/2:
		return refuse("it is little more than the name")
	}
	return nil
}

func signs(text string) int {
	all := []rune(text)
	slices.Sort(all)
	return len(slices.Compact(all))
}

// isRow reports whether a text is part of a row that is said, or typed, again and again.
func isRow(text string) bool {
	const repeats = MaxPassword/10 + 2
	return slices.ContainsFunc([]string{
		"0123456789", "1234567890", "abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm", "qwertzuiopasdfghjklyxcvbnm",
		"1qaz2wsx3edc4rfv5tgb6yhn7ujm", "1q2w3e4r5t6y7u8i9o0p",
	}, func(row string) bool {
		forward := strings.Repeat(row, repeats)
		back := []byte(forward)
		slices.Reverse(back)
		return strings.Contains(forward, text) || strings.Contains(string(back), text)
	})
}

// isCommon reports whether a text is one of the words below, once or several times, with up to 8 digits and other
// signs before and after. Of the passwords in lists of leaked ones, few that have 12 bytes are anything else.
func isCommon(text string) bool {
	const around = 8
	core := strings.TrimFunc(text, func(r rune) bool { return r < 'a' || r > 'z' })
	if core == "" || len(text)-len(core) > around {
		return false
	}
	for _, word := range []string{ // a longer one before what it begins with
		"password", "passwort", "passw0rd", "p@ssw0rd", "p@ssword", "pa$$word", "secret", "letmein", "welcome", "changeme", "change-me", "changeit", "default",
		"administrator", "admin", "root", "guest", "operator", "viewer", "username", "user", "testing", "test", "demo", "elasticjob", "elastic-job", "console",
		"qwertyuiop", "qwerty", "qwertz", "asdfgh", "abc123", "abcdef", "iloveyou", "monkey", "dragon", "sunshine", "princess", "football", "baseball", "superman", "batman",
		"trustno", "master", "hello", "login", "access", "private", "company", "summer", "winter", "spring", "autumn", "internet", "computer", "correcthorsebatterystaple",
	} {
		core = strings.ReplaceAll(core, word, "")
	}
	return strings.TrimFunc(core, func(r rune) bool { return r < 'a' || r > 'z' }) == ""
}
