package property

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Secrets looks up references, and takes what they stand for out of texts. It is for one use of them, such as one
// attempt to send something: a secret may change. It may be used by one goroutine at a time.
type Secrets struct {
	lookups []Lookup
	values  []string
}

// NewSecrets returns Secrets that look up references as [Expand] does.
func NewSecrets(lookups ...Lookup) *Secrets { return &Secrets{lookups: lookups} }

// Expand is the function [Expand], and keeps the values as secrets.
func (s *Secrets) Expand(text string) (string, error) {
	return Expand(text, func(name string) (string, bool, error) {
		for _, look := range s.lookups {
			if value, ok, err := look(name); ok || err != nil {
				s.keep(value)
				return value, ok, err
			}
		}
		return "", false, nil
	})
}

// KeepURL keeps the parts of a URL as secrets that may hold a token: its password, and what is in its path and query.
func (s *Secrets) KeepURL(u *url.URL) {
	parts := strings.Split(u.Path, "/")
	for _, values := range u.Query() {
		parts = append(parts, values...)
	}
	if password, ok := u.User.Password(); ok {
		parts = append(parts, password)
	}
	for _, part := range parts {
		if len(part) >= minPart {
			s.keep(part)
		}
	}
}

// A shorter value is no secret, and stands in many texts; so is a shorter part of a URL, most of which are words.
const (
	minSecret = 4
	minPart   = 5
)

func (s *Secrets) keep(value string) {
	if len(value) >= minSecret && !slices.Contains(s.values, value) {
		s.values = append(s.values, value)
	}
}

// Hide puts "***" in the place of the secrets in a text, also where they are escaped as in a URL or in JSON. Hide a text
// before it is cut: what is left of a secret is not found any more.
func (s *Secrets) Hide(text string) string {
	for _, shape := range s.shapes() {
		text = strings.ReplaceAll(text, shape, "***")
	}
	return text
}

// Longest is how many bytes the longest secret has, in the form of it that is the longest. Whoever hides secrets in the
// beginning of a longer text has to read that much more of it, so that a secret is whole that begins there.
func (s *Secrets) Longest() int {
	if shapes := s.shapes(); len(shapes) > 0 {
		return len(shapes[0])
	}
	return 0
}

// Error returns an error with the chain of err whose text does not show secrets.
func (s *Secrets) Error(err error) error {
	if text := s.Hide(err.Error()); text != err.Error() {
		return hidden{text, err}
	}
	return err
}

type hidden struct {
	text string
	err  error
}

func (e hidden) Error() string { return e.text }
func (e hidden) Unwrap() error { return e.err }

// shapes are the secrets in the forms in which they may stand in a text. The longest come first: one may be the
// beginning of another.
func (s *Secrets) shapes() []string {
	var list []string
	for _, value := range s.values {
		query := url.QueryEscape(value)
		list = append(list, value, query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(value), inJSON(value, true), inJSON(value, false))
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(list)
}

// inJSON returns a text as it stands in JSON between quotation marks. Some programs escape <, > and & there, too.
func inJSON(text string, forHTML bool) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(forHTML)
	if err := encoder.Encode(text); err != nil {
		return text // a string always has a form
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n")
}
