package alert

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/job/property"
)

// Secrets looks up references, and takes what they stand for out of texts. It is for one
// attempt to send, so that a secret may change. Its zero value knows no reference.
type Secrets struct {
	lookup property.Lookup
	values []string
}

// NewSecrets returns Secrets that look up references by a Lookup.
func NewSecrets(lookup property.Lookup) *Secrets { return &Secrets{lookup: lookup} }

// Expand puts the values of references in their place. The error is not one of [Permanent]: a
// secret may be away for a moment, while another is put in its place.
func (s *Secrets) Expand(text string) (string, error) {
	return property.Expand(text, func(name string) (string, bool, error) {
		value, ok, err := s.lookup(name)
		s.keep(value)
		return value, ok, err
	})
}

// keep makes a value one that Hide hides. Of a URL these are its parts, too.
func (s *Secrets) keep(value string) {
	s.values = append(s.values, value)
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		return
	}
	s.keepURL(u)
}

// keepURL makes the parts of a URL that may hold a token values that Hide hides.
func (s *Secrets) keepURL(u *url.URL) {
	s.values = append(s.values, strings.Split(u.Path, "/")...)
	for _, values := range u.Query() {
		s.values = append(s.values, values...)
	}
	if password, ok := u.User.Password(); ok {
		s.values = append(s.values, password)
	}
}

// minSecret is how long a value has to be, for Hide to look for it: a shorter one is no
// secret, and stands in many texts.
const minSecret = 5

// Hide puts "***" in the place of the secrets in a text, also where they are escaped as in a
// URL or in JSON.
func (s *Secrets) Hide(text string) string {
	var list []string
	for _, value := range s.values {
		if len(value) >= minSecret {
			list = append(list, value, url.QueryEscape(value), url.PathEscape(value), inJSON(value, true), inJSON(value, false))
		}
	}
	// The longest come first: one may be the beginning of another.
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, value := range list {
		text = strings.ReplaceAll(text, value, "***")
	}
	return text
}

// inJSON returns a text as it stands in JSON between quotation marks. Some programs escape <, >
// and & there, too.
func inJSON(text string, forHTML bool) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(forHTML)
	if err := encoder.Encode(text); err != nil {
		return text // a string always has a form
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n")
}
