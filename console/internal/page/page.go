package page

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/api"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// Connections are the namespaces of a console: a *connection.Book.
type Connections interface {
	Namespaces() []connection.Namespace
}

// Options say what the pages are about.
type Options struct {
	Connections Connections
	// Passwords is whether there is a log-in by name and password.
	Passwords bool
	// Provider is where a log-in at a provider begins, as a path; empty if there is none.
	Provider string
	// Users is whether the console has users, tokens and sessions of its own.
	Users bool
	// Version is that of the program; who is logged in sees it.
	Version string
}

// Pages are all pages.
type Pages struct {
	Options
	*content
}

// content is what pages are made of. Nobody changes it.
type content struct {
	assets *assets
	words  dictionary
	frame  *template.Template
	known  map[string]map[string]words // by language and module
}

// Add adds all pages to a table.
//
// Errors: one that says what of a page is wrong.
func Add(table *route.Table, o Options) (*Pages, error) {
	p, err := newPages(o)
	if err != nil {
		return nil, err
	}
	asset := http.Handler(p.assets)
	for _, pattern := range []string{"/assets/{hash}/{file}", "/assets/{hash}/{folder}/{file}"} {
		err = errors.Join(err, table.Add(route.Route{Method: http.MethodGet, Pattern: pattern, Need: route.Need{Scope: route.Open}, Handler: asset}))
	}
	icon := http.HandlerFunc(p.icon)
	err = errors.Join(err, table.Add(route.Route{Method: http.MethodGet, Pattern: "/favicon.ico", Need: route.Need{Scope: route.Open}, Handler: icon}))
	err = errors.Join(err, p.addDocs(table))
	for _, s := range sites {
		if s.name == "users" && !o.Users {
			continue
		}
		err = errors.Join(err, table.Add(route.Route{
			Method: http.MethodGet, Pattern: s.pattern, Need: s.need, Fail: p.Fail,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.show(w, r, s, http.StatusOK, nil) }),
		}))
	}
	return p, err
}

// Wanted reports whether who asks looks for a page: a browser does, and a program does not say so.
func Wanted(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html") && !strings.HasPrefix(r.URL.Path, "/api/")
}

func newPages(o Options) (*Pages, error) {
	c, err := embedded()
	if err != nil {
		return nil, err
	}
	return &Pages{o, c}, nil
}

// embedded returns the content that is in the program. It is made once, as all consoles of a program have the same.
var embedded = sync.OnceValues(func() (*content, error) {
	p := &content{known: map[string]map[string]words{}}
	var err error
	if p.assets, err = newAssets(files); err != nil {
		return nil, err
	}
	if p.words, err = newDictionary(files); err != nil {
		return nil, err
	}
	if p.frame, err = template.ParseFS(files, "frame.html"); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	named := filesNamed(p.assets)
	for _, language := range languages {
		p.known[language] = map[string]words{}
		for module, modules := range p.assets.graph {
			if strings.HasPrefix(module, "pages/") {
				p.known[language][module] = p.words.ofPage(language, modules, named)
			}
		}
	}
	return p, nil
})

// icon is the console's sign, for browsers that ask for it where it always was.
func (p *Pages) icon(w http.ResponseWriter, r *http.Request) {
	p.assets.files["sign.svg"].write(w, r, "public, max-age=86400") // no hash stands in this address
}

// Fail shows why there is no page: the log-in to who is not logged in, or no longer, or what is wrong.
func (p *Pages) Fail(w http.ResponseWriter, r *http.Request, err error) {
	problem := api.ProblemOf(err)
	if problem.Status == http.StatusUnauthorized {
		p.show(w, r, site{name: "login"}, problem.Status, nil)
		return
	}
	p.show(w, r, site{name: "problem"}, problem.Status, problem)
}

// Refuse shows why a provider's log-in has failed, with the ways to log in.
func (p *Pages) Refuse(w http.ResponseWriter, r *http.Request, status int, reason string) {
	p.show(w, r, site{name: "login"}, status, &api.Problem{Code: "not-logged-in", Detail: reason})
}
