package alert

import (
	"cmp"
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

// Hide puts "***" in the place of the secrets in a text.
func (s *Secrets) Hide(text string) string {
	// The longest come first: one may be the beginning of another.
	longest := func(a, b string) int { return cmp.Compare(len(b), len(a)) }
	for _, value := range slices.SortedFunc(slices.Values(s.values), longest) {
		if len(value) >= minSecret {
			text = strings.ReplaceAll(text, value, "***")
		}
	}
	return text
}
