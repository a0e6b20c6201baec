package page

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// hostile is a name that would break out of a document that does not escape it.
const hostile = `"'</script><b onload=x>&:?#`

type book []connection.Namespace

func (b book) Namespaces() []connection.Namespace { return b }

// people are those who ask, by the user of their requests.
var people = map[string]*access.Principal{
	"admin":  {Name: "admin", Grants: []access.Grant{{Role: access.Admin}}},
	"viewer": {Name: "viewer", Grants: []access.Grant{{Role: access.Viewer, Namespaces: []string{"shop"}}}},
	"nobody": {Name: "nobody"},
}

// newSite returns a server of all pages.
func newSite(t *testing.T, o Options) (*Pages, http.Handler) {
	t.Helper()
	table := &route.Table{Who: func(r *http.Request) (*access.Principal, error) {
		user, _, _ := r.BasicAuth()
		if user == "ended" {
			return nil, access.ErrRefused // as the cookie of a session that is over
		}
		return people[user], nil
	}}
	if o.Connections == nil {
		o.Connections = book{{Name: "shop", Database: "past"}, {Name: hostile}}
	}
	pages, err := Add(table, o)
	if err != nil {
		t.Fatal(err)
	}
	table.Fail = pages.Fail
	return pages, table
}

// get asks for a page; headers are names and values.
func get(site http.Handler, user, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if user != "" {
		r.SetBasicAuth(user, "")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	site.ServeHTTP(w, r)
	return w
}

// factsOf reads the facts of a document, as its modules do.
func factsOf(t *testing.T, document string) (f facts) {
	t.Helper()
	found := regexp.MustCompile(`(?s)<script type="application/json" id="facts">(.*?)</script>`).FindStringSubmatch(document)
	if found == nil {
		t.Fatal("the document has no facts")
	}
	if err := json.Unmarshal([]byte(found[1]), &f); err != nil {
		t.Fatalf("facts: %v", err)
	}
	return f
}

// pathOf returns an address of a site, with values that have to be escaped.
func pathOf(s site) string {
	return regexp.MustCompile(`\{\w+\}`).ReplaceAllLiteralString(s.pattern, url.PathEscape(hostile+"/"))
}

// Each page is a document in the language that is asked for, with its module and its words; what stands in its address
// cannot break out of it.
func TestDocuments(t *testing.T) {
	pages, handler := newSite(t, Options{Users: true, Version: "v1.2.3"})
	for _, s := range sites {
		for _, language := range languages {
			w := get(handler, "admin", pathOf(s), "Accept-Language", language)
			text := w.Body.String()
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
				t.Fatalf("%s: %d %s", s.name, w.Code, w.Header())
			}
			if strings.Contains(text, "<b onload") || strings.Contains(text, "ZgotmplZ") {
				t.Errorf("%s: a name has broken out, or was taken for something else:\n%s", s.name, text)
			}
			if tag := map[string]string{"en": "en", "zh": "zh-CN"}[language]; !strings.Contains(text, `<html lang="`+tag+`">`) {
				t.Errorf("%s is not in %s", s.name, language)
			}
			if module := `src="` + rootOf(httptest.NewRequest(http.MethodGet, pathOf(s), nil)) + "assets/" + pages.assets.hash + "/pages/" + s.name + `.js"`; !strings.Contains(text, module) {
				t.Errorf("%s has not %s", s.name, module)
			}
			f := factsOf(t, text)
			if f.Page != s.name || f.User != "admin" || f.Version != "v1.2.3" || f.Language != language || !f.Users || f.Code != "" {
				t.Errorf("%s: %+v", s.name, f)
			}
			for _, name := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(s.pattern, -1) {
				if f.Params[name[1]] != hostile+"/" {
					t.Errorf("%s: %s is %q", s.name, name[1], f.Params[name[1]])
				}
			}
			title := pages.words[language]["title."+s.name]
			if found := regexp.MustCompile(`<title>(.*?)</title>`).FindStringSubmatch(text); found == nil || !strings.HasPrefix(html.UnescapeString(found[1]), title) {
				t.Errorf("%s: the title is %q, not %q", s.name, found, title)
			}
			if s.name != "users" && strings.Count(text, `aria-current="page"`) > 1 {
				t.Errorf("%s: several entries are marked", s.name)
			}
		}
	}
}

// All that a document refers to stays below the path at which a proxy may show the console, and assets are there.
func TestLinksBelowAPrefix(t *testing.T) {
	_, handler := newSite(t, Options{Users: true, Passwords: true, Provider: "/api/v1/oidc/login"})
	reference := regexp.MustCompile(`(?:href|src|value)="([^"]*)"`)
	for _, s := range sites {
		for _, user := range []string{"admin", ""} {
			path := pathOf(s)
			text := get(handler, user, path).Body.String()
			base, err := url.Parse("https://proxy.example/below/here" + path)
			if err != nil {
				t.Fatal(err)
			}
			links := []string{factsOf(t, text).Root, factsOf(t, text).Provider}
			for _, found := range reference.FindAllStringSubmatch(text, -1) {
				links = append(links, html.UnescapeString(found[1]))
			}
			for _, link := range links {
				to, err := base.Parse(link)
				if err != nil || to.Host != base.Host || !strings.HasPrefix(to.Path, "/below/here/") {
					t.Errorf("%s: %q leads to %v, %v", path, link, to, err)
					continue
				}
				if below := strings.TrimPrefix(to.Path, "/below/here"); strings.HasPrefix(below, "/assets/") && strings.Contains(below, ".") {
					if w := get(handler, "", below); w.Code != http.StatusOK {
						t.Errorf("%s: %s: %d", path, below, w.Code)
					}
				}
			}
			if strings.Contains(text, "://") {
				t.Errorf("%s names another host", path)
			}
		}
	}
}

// The language is that of the cookie, or the one that the browser likes best; the theme is that of the cookie.
func TestLooks(t *testing.T) {
	_, handler := newSite(t, Options{})
	for _, c := range []struct{ accept, cookie, language, theme string }{
		{"", "", "en", ""},
		{"zh-CN,zh;q=0.9,en;q=0.8", "", "zh", ""},
		{"fr, zh-TW;q=0.3, en;q=0.2", "", "zh", ""},
		{"zh;q=0.2, en;q=0.9", "", "en", ""},
		{"zh;q=none, fr", "", "en", ""},
		{"zh", "elasticjob-language=en; elasticjob-theme=dark", "en", "dark"},
		{"en", "elasticjob-language=zh; elasticjob-theme=light", "zh", "light"},
		{"zh", `elasticjob-language=x"><b>; elasticjob-theme=x"><b>`, "zh", ""},
	} {
		w := get(handler, "admin", "/about", "Accept-Language", c.accept, "Cookie", c.cookie)
		f := factsOf(t, w.Body.String())
		if f.Language != c.language || f.Theme != c.theme {
			t.Errorf("%+v: %s %s", c, f.Language, f.Theme)
		}
		if has := strings.Contains(w.Body.String(), `data-theme="`+c.theme+`"`); has != (c.theme != "") {
			t.Errorf("%+v: data-theme is there: %t", c, has)
		}
		if vary := w.Header().Values("Vary"); !slices.Contains(vary, "Accept-Language, Cookie") {
			t.Errorf("Vary is %q", vary)
		}
	}
}

// Who is not logged in gets the log-in at the address that he wanted, and learns nothing: it is the same for what there is
// and what there is not.
func TestLogInInPlaceOfPages(t *testing.T) {
	_, handler := newSite(t, Options{Passwords: true, Provider: "/api/v1/oidc/login", Users: true, Version: "v1.2.3"})
	for _, s := range sites {
		for _, user := range []string{"", "ended"} {
			w := get(handler, user, pathOf(s))
			f := factsOf(t, w.Body.String())
			if w.Code != http.StatusUnauthorized || f.Page != "login" || f.User != "" || f.Version != "" || f.Grants != nil || f.Databases != nil || !f.Passwords {
				t.Errorf("%s: %d %+v", s.name, w.Code, f)
			}
			if strings.Contains(w.Body.String(), "shop") || strings.Contains(w.Body.String(), "v1.2.3") {
				t.Errorf("%s tells a stranger what there is", s.name)
			}
			if w.Header().Get("Location") != "" {
				t.Errorf("%s leads away", s.name)
			}
		}
	}
	if there, missing := get(handler, "", "/namespaces/shop"), get(handler, "", "/namespaces/none"); strings.ReplaceAll(there.Body.String(), "shop", "none") != missing.Body.String() {
		t.Error("a stranger can tell which namespaces there are")
	}
}

// Who may not see a page is told so; what may be is not offered to him anywhere.
func TestNoRight(t *testing.T) {
	_, handler := newSite(t, Options{Users: true})
	for _, c := range []struct {
		user, path string
		status     int
		code       string
	}{
		{"viewer", "/users", 403, "denied"},
		{"viewer", "/connections", 403, "denied"},
		{"viewer", "/namespaces/other/jobs", 403, "denied"},
		{"nobody", "/namespaces/shop", 403, "denied"},
		{"viewer", "/nothing/here", 404, "no-route"},
		{"viewer", "/namespaces/shop/nothing", 404, "no-route"},
	} {
		w := get(handler, c.user, c.path)
		if f := factsOf(t, w.Body.String()); w.Code != c.status || f.Page != "problem" || f.Code != c.code {
			t.Errorf("%s, %s: %d %+v", c.user, c.path, w.Code, f)
		}
	}
	text := get(handler, "viewer", "/about").Body.String()
	for link, want := range map[string]bool{"./namespaces/shop/jobs": true, "./about": true, "./users": false, "./connections": false} {
		if strings.Contains(text, `href="`+link+`"`) != want {
			t.Errorf("%s is offered to a viewer: %t", link, !want)
		}
	}
	if strings.Contains(text, "onload") {
		t.Error("a viewer sees a namespace of which he may see nothing")
	}
}

// A console without users of its own has no page for them.
func TestNoUsers(t *testing.T) {
	_, handler := newSite(t, Options{})
	if w := get(handler, "admin", "/users"); w.Code != http.StatusNotFound {
		t.Errorf("users: %d", w.Code)
	}
	if text := get(handler, "admin", "/about").Body.String(); strings.Contains(text, `href="./users"`) {
		t.Error("users are offered")
	}
}

// Only who may ask a browser's questions gets pages where there is no route.
func TestWanted(t *testing.T) {
	for _, c := range []struct {
		method, path, accept string
		want                 bool
	}{
		{"GET", "/nothing", "text/html,*/*", true},
		{"HEAD", "/nothing", "text/html", true},
		{"POST", "/nothing", "text/html", false},
		{"GET", "/nothing", "application/json", false},
		{"GET", "/api/nothing", "text/html", false},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Header.Set("Accept", c.accept)
		if got := Wanted(r); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// HEAD is answered as GET is, for those who watch whether pages are there.
func TestHead(t *testing.T) {
	_, handler := newSite(t, Options{})
	r := httptest.NewRequest(http.MethodHead, "/about", nil)
	r.SetBasicAuth("admin", "")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("HEAD: %d %s", w.Code, w.Header())
	}
}

// Whom a provider does not let in learns why, and can try again: its words cannot break out of the document.
func TestRefuse(t *testing.T) {
	pages, _ := newSite(t, Options{Provider: "/api/v1/oidc/login"})
	w := httptest.NewRecorder()
	pages.Refuse(w, httptest.NewRequest(http.MethodGet, "/api/v1/oidc/callback?error=x", nil), http.StatusForbidden, hostile)
	if f := factsOf(t, w.Body.String()); w.Code != http.StatusForbidden || f.Page != "login" || f.Reason != hostile || f.Provider != "../../../api/v1/oidc/login" {
		t.Errorf("%d %+v", w.Code, f)
	}
}
