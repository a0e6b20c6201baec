package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/internal/compress"
)

//go:embed app style words frame.html
var files embed.FS

// asset is a file as browsers get it.
type asset struct {
	contentType string
	plain       []byte
	packed      []byte // by gzip
}

// assets are all files by their paths below assets/HASH/.
type assets struct {
	hash  string
	files map[string]*asset
	// graph has, for each module, itself and all modules that it needs.
	graph map[string][]string
}

// importLine is an import of a module; a page is no bundle, so each is on a line of its own.
var importLine = regexp.MustCompile(`(?m)^(?:import|export)\b[^"'\n]*["'](\.[^"']+)["'];?$`)

// newAssets returns the files of a file system with app and style.
func newAssets(all fs.FS) (*assets, error) {
	a := &assets{files: map[string]*asset{}, graph: map[string][]string{}}
	texts := map[string][]byte{}
	if err := fs.WalkDir(all, "app", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".js" && path.Ext(name) != ".svg" {
			return err
		}
		text, err := fs.ReadFile(all, name)
		texts[strings.TrimPrefix(name, "app/")] = withoutComments(text)
		return err
	}); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	styles, err := fs.Glob(all, "style/*.css")
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	parts := map[string][]byte{}
	for _, name := range styles {
		text, err := fs.ReadFile(all, name)
		if err != nil {
			return nil, fmt.Errorf("page: %w", err)
		}
		parts[strings.TrimSuffix(path.Base(name), ".css")] = text
	}
	if err := a.link(texts); err != nil {
		return nil, err
	}
	texts["style.css"] = a.style(parts)
	return a, a.fill(texts)
}

// style joins all styles, in the order of their names. Those of NAME.css count on the pages that have a module NAME.js or
// NAME-….js, and so need not know the names that others use; one without such a module counts everywhere.
func (a *assets) style(parts map[string][]byte) []byte {
	var all bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		var on []string
		for _, s := range append(slices.Clone(sites), site{name: "login"}, site{name: "problem"}) {
			if slices.ContainsFunc(a.graph["pages/"+s.name+".js"], func(module string) bool {
				base := strings.TrimSuffix(path.Base(module), ".js")
				return base == name || strings.HasPrefix(base, name+"-")
			}) {
				on = append(on, `[data-page="`+s.name+`"]`)
			}
		}
		if len(on) == 0 {
			all.Write(parts[name])
			continue
		}
		fmt.Fprintf(&all, ":is(%s) {\n%s}\n", strings.Join(on, ", "), parts[name])
	}
	return all.Bytes()
}

// link finds out which modules each of them needs.
func (a *assets) link(texts map[string][]byte) error {
	imports := map[string][]string{}
	for name, text := range texts {
		if path.Ext(name) != ".js" {
			continue
		}
		for _, found := range importLine.FindAllSubmatch(text, -1) {
			needed := path.Join(path.Dir(name), string(found[1]))
			if texts[needed] == nil {
				return fmt.Errorf("page: %s imports %s, which is not there", name, needed)
			}
			imports[name] = append(imports[name], needed)
		}
	}
	for name := range texts {
		seen := map[string]bool{}
		reach(imports, name, seen)
		a.graph[name] = slices.Sorted(maps.Keys(seen))
	}
	return nil
}

// reach collects a module and those that it needs.
func reach(imports map[string][]string, name string, seen map[string]bool) {
	if seen[name] {
		return
	}
	seen[name] = true
	for _, needed := range imports[name] {
		reach(imports, needed, seen)
	}
}

// types are the content types: those of the system may be others.
var types = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png",
	".html": "text/html; charset=utf-8", ".md": "text/markdown; charset=utf-8", ".txt": "text/plain; charset=utf-8",
}

// fill makes assets of texts.
func (a *assets) fill(texts map[string][]byte) error {
	all := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			return fmt.Errorf("page: %s: %w", name, err)
		}
		if _, err = w.Write(texts[name]); err == nil {
			err = w.Close()
		}
		if err != nil {
			return fmt.Errorf("page: %s: %w", name, err)
		}
		fmt.Fprintf(all, "%s %d\n%s", name, len(texts[name]), texts[name])
		a.files[name] = &asset{contentType: types[path.Ext(name)], plain: texts[name], packed: packed.Bytes()}
	}
	a.hash = hex.EncodeToString(all.Sum(nil))[:16]
	return nil
}

// comment is what stands on lines of its own for people alone.
var comment = regexp.MustCompile(`(?m)^[ \t]*(?://.*|/\*[^*]*\*+(?:[^*/][^*]*\*+)*/)$`)

// withoutComments empties the lines that have nothing but a comment, so that numbers of lines stay.
func withoutComments(text []byte) []byte {
	return comment.ReplaceAllFunc(text, func(c []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(c, []byte("\n"))) })
}

// ServeHTTP answers GET assets/{hash}/…. An address with the hash of another version has nothing: a document and its
// modules belong together.
func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	if folder := r.PathValue("folder"); folder != "" {
		name = folder + "/" + name
	}
	f := a.files[name]
	if f == nil || r.PathValue("hash") != a.hash {
		http.Error(w, "no such file of this version of the console: load the page again", http.StatusNotFound)
		return
	}
	f.write(w, r, "public, max-age=31536000, immutable")
}

// write writes it as an answer that caches may keep as it is said.
func (f *asset) write(w http.ResponseWriter, r *http.Request, keep string) {
	body := f.plain
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", keep)
	h.Set("Vary", "Accept-Encoding")
	if compress.Taken(r.Header.Get("Accept-Encoding")) {
		body = f.packed
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the browser has gone
}
