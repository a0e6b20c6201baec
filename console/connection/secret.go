package connection

import (
	"fmt"
	"io"
	"log/slog"
	"regexp"
)

// Secret is a password. Nothing prints, marshals or logs it: there is "" for none, "***" for one, and
// its reference, ${env:NAME} or ${file:/path}, for one that stands elsewhere. Read from JSON or text,
// "***" is [Kept].
type Secret struct {
	text *string // a pointer, so that no verb of fmt gets behind it, wherever the secret stands
}

// Plain returns a secret: a password, or a reference to one.
func Plain(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Kept returns what stands for a secret that the book has already, and keeps.
func Kept() Secret { return Plain(masked) }

// Reveal returns the secret itself, for who logs in with it.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether there is none.
func (s Secret) IsZero() bool { return s.text == nil }

func (s Secret) isKept() bool { return s.Reveal() == masked }

// masked stands where a secret is.
const masked = "***"

// String returns what may be shown.
func (s Secret) String() string { return stored(s.Reveal()).String() }

// Format keeps every verb from printing the secret.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) } // fmt keeps its errors to itself

// MarshalText writes what may be shown, in JSON and YAML too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a secret.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = Plain(string(text))
	return nil
}

// LogValue is what may be shown.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// stored is a secret as it stands in the file: a reference, encrypted, or in clear text.
type stored string

// String returns what may be shown.
func (s stored) String() string {
	if s == "" || isReference(string(s)) {
		return string(s)
	}
	return masked
}

// Format keeps every verb from printing the secret.
func (s stored) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) } // fmt keeps its errors to itself

// isPlain reports whether the secret stands there in clear text.
func (s stored) isPlain() bool { return s != "" && !isReference(string(s)) && !isSealed(string(s)) }

// reference is one reference and nothing else: there is none within a text.
var reference = regexp.MustCompile(`^\$\{(env|file):([^{}]+)\}$`)

func isReference(text string) bool { return reference.MatchString(text) }
