// Package httpx has what the HTTP clients of this module share: one exchange with an answer of bounded size, errors that
// do not show URLs, which may hold secrets, the header Retry-After, the pause before a request is sent again, and which
// hosts are this one.
package httpx

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/bounded"
)

// Answer is what a server has answered, whatever its status.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // its beginning
}

// Exchange sends a request once, follows no redirect, and reads at most so many bytes of the answer. The error does not
// show the URL; if the context of the request has ended, it is its cause.
func Exchange(by http.RoundTripper, r *http.Request, most int64) (Answer, error) {
	fail := func(err error) (Answer, error) {
		if r.Context().Err() != nil {
			err = context.Cause(r.Context())
		}
		return Answer{}, WithoutURL(err)
	}
	client := http.Client{Transport: by, CheckRedirect: NoRedirect}
	response, err := client.Do(r)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	body, err := bounded.Start(response.Body, most)
	if err != nil {
		return fail(fmt.Errorf("reading the answer: %w", err))
	}
	return Answer{response.StatusCode, response.Header, body}, nil
}

// NoRedirect has a client return a redirect as any other answer: a request with a secret goes to no other place.
func NoRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// WithoutURL takes away what a client tells of the URL.
func WithoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// IsHeaderName reports whether a text can be the name of a header.
func IsHeaderName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

// IsHeaderValue reports whether a text can be the value of a header: a line break would begin another header.
func IsHeaderValue(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// maxSeconds keeps a number of seconds within a Duration.
const maxSeconds = 1 << 30

// RetryAfter returns how long a server asks to wait, in seconds or until a time by its own clock; 0 if it does not say.
func RetryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		return time.Duration(min(seconds, maxSeconds)) * time.Second
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(until.Sub(now), 0)
}

// IsLoopback reports whether a host is this machine by a name or an address that no other one reaches: localhost,
// 127.0.0.1, ::1.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
