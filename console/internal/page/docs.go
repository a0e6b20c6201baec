package page

import (
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"github.com/elasticjob-go/elasticjob/console/docsite"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// Docs returns the files of the documentation's site, in the look of the console.
func Docs() (map[string][]byte, error) {
	base, err := fs.ReadFile(files, "style/a-base.css")
	frame, err2 := fs.ReadFile(files, "style/b-frame.css")
	sign, err3 := fs.ReadFile(files, "app/sign.svg")
	if err = errors.Join(err, err2, err3); err != nil {
		return nil, err
	}
	site, err := docsite.Project()
	if err != nil {
		return nil, err
	}
	return site.Files(append(base, frame...), sign)
}

// documentation are the files of the site as browsers get them, made when somebody asks for the first time.
var documentation = sync.OnceValues(func() (*assets, error) {
	texts, err := Docs()
	if err != nil {
		return nil, err
	}
	a := &assets{files: map[string]*asset{}}
	return a, a.fill(texts)
})

// addDocs adds the documentation. Its texts are public, and who cannot log in may need them.
func (p *Pages) addDocs(table *route.Table) error {
	var err error
	for _, pattern := range []string{"/docs", "/docs/{file}", "/docs/{folder}/{file}", "/docs/{language}/{folder}/{file}"} {
		err = errors.Join(err, table.Add(route.Route{
			Method: http.MethodGet, Pattern: pattern, Need: route.Need{Scope: route.Open}, Fail: p.Fail, Handler: http.HandlerFunc(p.docs),
		}))
	}
	return err
}

// docs answers GET /docs/…: a page has an address with .html and one without; a folder's begins with its index.
func (p *Pages) docs(w http.ResponseWriter, r *http.Request) {
	site, err := documentation()
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/docs"), "/")
	for _, file := range []string{name, name + ".html"} {
		if f := site.files[file]; f != nil {
			f.write(w, r, "no-cache")
			return
		}
	}
	folder := strings.TrimSuffix(r.URL.Path, "/")
	f := site.files[strings.TrimPrefix(strings.TrimPrefix(folder, "/docs")+"/index.html", "/")]
	switch {
	case f == nil:
		p.Fail(w, r, route.ErrNoRoute)
	case folder == r.URL.Path: // links of the page are relative to its folder
		w.Header().Set("Location", folder[strings.LastIndexByte(folder, '/')+1:]+"/")
		w.WriteHeader(http.StatusMovedPermanently)
	default:
		f.write(w, r, "no-cache")
	}
}
