package httpjob

import (
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// StatusError is the error of an execution whose answer has a code that is no success.
type StatusError struct {
	Code int
	// Body is the beginning of the answer, in one line; up to 200 bytes.
	Body string
	// RetryAfter is how long the server asks to wait; 0 if it does not say.
	RetryAfter time.Duration
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("status %d", e.Code)
	if name := http.StatusText(e.Code); name != "" {
		text += " " + name
	}
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(", retry after %v", e.RetryAfter.Round(time.Second))
	}
	if e.Body != "" {
		text += ": " + e.Body
	}
	return text
}

const maxShownBody = 200

func (a *answer) statusError() error {
	return &StatusError{Code: a.code, Body: oneLine(a.body), RetryAfter: a.retryAfter}
}

// oneLine returns the beginning of a text without breaks and control characters.
func oneLine(text []byte) string {
	start := string(text[:min(len(text), 4*maxShownBody)])
	start = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(start, "?"))
	return brief.Cut(strings.Join(strings.Fields(start), " "), maxShownBody)
}

// isForGood reports whether a code says that the same request will always fail. A conflict or
// a lock may be gone at another attempt.
func isForGood(code int) bool {
	switch code {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusLocked, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return 400 <= code && code < 500
}

// refusal: the server leads the request to where it must not go.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }
