package page

import (
	"net/http"
	"strings"
	"testing"
)

// Anybody can read the documentation: a page with and without .html, its Markdown, and a folder's index by the folder.
func TestDocs(t *testing.T) {
	_, handler := newSite(t, Options{})
	for path, want := range map[string]struct {
		status              int
		contentType, within string
	}{
		"/docs/":                         {200, "text/html; charset=utf-8", "<h1"},
		"/docs/index.html":               {200, "text/html; charset=utf-8", "<h1"},
		"/docs/README.md":                {200, "text/markdown; charset=utf-8", "# "},
		"/docs/llms.txt":                 {200, "text/plain; charset=utf-8", "# ElasticJob"},
		"/docs/site.css":                 {200, "text/css; charset=utf-8", "--ground"},
		"/docs/search.js":                {200, "text/javascript; charset=utf-8", "var docs"},
		"/docs/decisions/":               {200, "text/html; charset=utf-8", `data-root="../"`},
		"/docs/decisions/engine":         {200, "text/html; charset=utf-8", "<h1"},
		"/docs/decisions/engine.html":    {200, "text/html; charset=utf-8", "<h1"},
		"/docs/decisions/engine/":        {404, "", ""},
		"/docs/none":                     {404, "", ""},
		"/docs/decisions/../page.go":     {404, "", ""},
		"/docs/zh/none/none":             {404, "", ""},
		"/docs/decisions/engine.html/no": {404, "", ""},
	} {
		w := get(handler, "", path)
		if w.Code != want.status || want.status == 200 && w.Header().Get("Content-Type") != want.contentType || !strings.Contains(w.Body.String(), want.within) {
			t.Errorf("%s: %d %s", path, w.Code, w.Header())
		}
	}
	for path, to := range map[string]string{"/docs": "docs/", "/docs/decisions": "decisions/"} { // relative: a proxy may show it below any path
		if w := get(handler, "", path); w.Code != http.StatusMovedPermanently || w.Header().Get("Location") != to {
			t.Errorf("%s: %d %s", path, w.Code, w.Header())
		}
	}
	if w := get(handler, "", "/docs/", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("%s", w.Header())
	}
}
