package httpjob

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// minSecret is the length from which a value is hidden. A shorter one would be found
// everywhere.
const minSecret = 4

// hide puts stars in the place of what was looked up. Hide a text before it is cut: what is
// left of a secret is not found any more.
func (f *filler) hide(text string) string {
	for _, secret := range f.shapes() {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}

// shapes are the secrets in the forms in which they were sent. The longest come first: one may
// be the beginning of another.
func (f *filler) shapes() []string {
	var list []string
	for _, secret := range f.secrets {
		if len(secret) >= minSecret {
			list = append(list, secret, escape(secret), strings.Trim(asJSON(secret), `"`))
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return list
}

// beyond is how many bytes of a text must be read beyond the part that is kept, so that a
// secret is whole that begins within that part.
func (f *filler) beyond() int {
	list := f.shapes()
	if len(list) == 0 {
		return 0
	}
	return len(list[0])
}

// hideIn is hide for the body of an answer. What is left has at most the length that is kept.
// A body that was not read to its end may end within a secret, so its last bytes are left out.
func (f *filler) hideIn(body []byte, isWhole bool) []byte {
	if len(f.secrets) == 0 || len(body) == 0 {
		return body[:min(len(body), maxKept)]
	}
	text := f.hide(string(body))
	if !isWhole {
		text = text[:max(0, len(text)-f.beyond())]
	}
	return []byte(text[:min(len(text), maxKept)])
}

// hideError returns an error whose text does not show secrets.
func (f *filler) hideError(err error) error {
	if text := f.hide(err.Error()); text != err.Error() {
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

// shown returns a URL without what may be secret in it: its user, its query, and what was
// looked up.
func (f *filler) shown(u *url.URL) string {
	text := u.Scheme + "://" + u.Host + u.EscapedPath()
	if u.RawQuery != "" {
		text += "?…"
	}
	return brief.Cut(f.hide(text), 200)
}
