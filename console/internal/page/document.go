package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/api"
	"github.com/elasticjob-go/elasticjob/console/internal/compress"
)

// facts are what a page has to know before it asks anything.
type facts struct {
	Page       string            `json:"page"`
	Root       string            `json:"root"`
	Language   string            `json:"language"`
	Theme      string            `json:"theme,omitempty"`
	Zone       string            `json:"zone,omitempty"` // that times are told in: job or utc; empty for the browser's
	Params     map[string]string `json:"params"`
	Production bool              `json:"production,omitempty"` // the namespace has the mark
	User       string            `json:"user,omitempty"`
	Grants     []api.GrantInfo   `json:"grants,omitempty"`
	Within     []api.GrantInfo   `json:"within,omitempty"`
	Databases  map[string]bool   `json:"databases,omitempty"` // namespaces, and whether they have a history
	Passwords  bool              `json:"passwords"`
	Provider   string            `json:"provider,omitempty"`
	Users      bool              `json:"users"`
	Version    string            `json:"version,omitempty"`
	Code       string            `json:"code,omitempty"`   // why there is no page
	Reason     string            `json:"reason,omitempty"` // why a provider's log-in has failed
}

// link is one of the navigation.
type link struct {
	Name, Href, Text string
	Current          bool
}

// document is what frame.html shows.
type document struct {
	Page, Language, Theme, Zone, Root, Title, Heading, Module, Base string
	Preload                                                         []string
	Facts, Words                                                    template.JS
	User, Namespace                                                 string
	MayLogOut, Production                                           bool
	Namespaces, Links, Console                                      []link
	w                                                               words
}

// W returns a text of the language.
func (d document) W(key string) string { return d.w[key] }

// show writes the document of a page.
func (p *Pages) show(w http.ResponseWriter, r *http.Request, s site, status int, why *api.Problem) {
	language := languageOf(r)
	module := "pages/" + s.name + ".js"
	f := facts{
		Page: s.name, Root: rootOf(r), Language: language, Theme: chosen(r, "theme", "light", "dark"), Zone: chosen(r, "zone", "job", "utc"), Params: map[string]string{}, Passwords: p.Passwords,
		Users: p.Users,
	}
	if why != nil {
		f.Code = why.Code
	}
	if s.name == "login" && why != nil {
		f.Reason = why.Detail
	}
	if p.Provider != "" {
		f.Provider = f.Root + strings.TrimPrefix(p.Provider, "/")
	}
	for _, name := range []string{"namespace", "job", "execution", "calendar"} {
		if value := r.PathValue(name); value != "" {
			f.Params[name] = value
		}
	}
	d := document{
		Page: s.name, Language: language, Theme: f.Theme, Zone: f.Zone, Root: f.Root, Module: module, Base: f.Root + "assets/" + p.assets.hash + "/",
		Preload: p.assets.graph[module],
		Heading: p.words[language]["title."+s.name], w: p.words[language], Namespace: f.Params["namespace"],
	}
	d.Title = d.Heading
	if about := map[string]string{"job": f.Params["job"], "calendar": f.Params["calendar"]}[s.name]; about != "" {
		d.Heading = about
	}
	for _, name := range []string{"calendar", "job", "namespace"} {
		if value := f.Params[name]; value != "" {
			d.Title += " · " + value
		}
	}
	if who := access.From(r.Context()); who != nil && s.name != "login" {
		f.User, f.Grants, f.Within, f.Version, f.Databases = who.Name, api.GrantInfos(who.Grants), api.GrantInfos(who.Within), p.Version, map[string]bool{}
		d.User, d.MayLogOut = who.Name, p.Users
		p.addLinks(&d, &f, who, s)
	}
	var err error
	if d.Facts, err = script(f); err == nil {
		d.Words, err = script(p.known[language][module])
	}
	var text bytes.Buffer
	if err == nil {
		err = p.frame.Execute(&text, d)
	}
	if err != nil {
		api.Fail(w, r, fmt.Errorf("page %s: %w", s.name, err))
		return
	}
	compress.Answer(w, r, func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Add("Vary", "Accept-Language, Cookie")
		w.WriteHeader(status)
		_, _ = io.Copy(w, &text) // the browser has gone
	})
}

// addLinks adds the navigation, as far as somebody may go.
func (p *Pages) addLinks(d *document, f *facts, who *access.Principal, s site) {
	production := map[string]bool{}
	for _, n := range p.Connections.Namespaces() {
		if !who.MaySome(access.Viewer, n.Name) {
			continue
		}
		f.Databases[n.Name], production[n.Name] = n.Database != "", n.Production
		d.Namespaces = append(d.Namespaces, link{Name: n.Name, Href: namespaceLink(d.Root, n.Name, ""), Text: n.Name, Current: n.Name == d.Namespace})
	}
	if d.Namespace == "" && len(d.Namespaces) == 1 {
		d.Namespace = d.Namespaces[0].Name
	}
	d.Production = production[d.Namespace]
	f.Production = d.Production
	if d.Namespace != "" {
		for _, name := range inNavigation {
			below := name
			if name == "overview" {
				below = ""
			}
			d.Links = append(d.Links, link{Name: name, Href: namespaceLink(d.Root, d.Namespace, below), Text: d.w["nav."+name], Current: name == s.marks()})
		}
	}
	d.Console = append(d.Console, link{Name: "failed", Href: d.Root + "failed", Text: d.w["nav.failed"], Current: s.name == "failed"})
	if who.MayEverywhere(access.Admin) {
		for _, name := range ofConsole {
			if name == "users" && !p.Users {
				continue
			}
			d.Console = append(d.Console, link{Name: name, Href: d.Root + name, Text: d.w["nav."+name], Current: name == s.marks()})
		}
	}
	d.Console = append(d.Console, link{Name: "docs", Href: d.Root + "docs/", Text: d.w["nav.docs"]})
	d.Console = append(d.Console, link{Name: "about", Href: d.Root + "about", Text: d.w["nav.about"], Current: s.name == "about"})
}

// namespaceLink returns the link to a page of a namespace; below is empty for the overview.
func namespaceLink(root, namespace, below string) string {
	href := root + "namespaces/" + url.PathEscape(namespace)
	if below != "" {
		href += "/" + below
	}
	return href
}

// rootOf returns the way from the address of a request to the root of the console: the browser may know it below another path.
func rootOf(r *http.Request) string {
	depth := strings.Count(r.URL.EscapedPath(), "/") - 1
	if depth <= 0 {
		return "./"
	}
	return strings.Repeat("../", depth)
}

// script returns JSON that can stand in a document: json.Marshal escapes what could end a script.
func script(v any) (template.JS, error) {
	text, err := json.Marshal(v)
	return template.JS(text), err
}
