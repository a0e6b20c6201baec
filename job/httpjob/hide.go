package httpjob

import (
	"net/url"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// hideIn hides secrets in the body of an answer. What is left has at most the length that is kept.
// A body that was not read to its end may end within a secret, so its last bytes are left out.
func (f *filler) hideIn(body []byte, isWhole bool) []byte {
	text := f.Hide(string(body))
	if !isWhole {
		text = text[:max(0, len(text)-f.Longest())]
	}
	return []byte(text[:min(len(text), maxKept)])
}

// shown returns a URL without what may be secret in it: its user, its query, and what was
// looked up.
func (f *filler) shown(u *url.URL) string {
	text := u.Scheme + "://" + u.Host + u.EscapedPath()
	if u.RawQuery != "" {
		text += "?…"
	}
	return brief.Cut(f.Hide(text), 200)
}
