package guard

import "net/http"

// policy is what a page of the console may load and do: all from the console itself, no script inside of
// the page, and nobody puts it into a frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// setHeaders sets what all answers have. A handler may replace Cache-Control.
func (g *Guard) setHeaders(a *answer, r *http.Request) {
	h := a.Header()
	h.Set("X-Request-Id", a.id)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer a form's origin would be null
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if r.TLS != nil || g.o.Secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}
