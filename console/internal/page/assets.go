package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/internal/api"
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
	for _, name := range styles {
		text, err := fs.ReadFile(all, name)
		if err != nil {
			return nil, fmt.Errorf("page: %w", err)
		}
		texts["style.css"] = append(texts["style.css"], text...)
	}
	return a, a.fill(texts)
}

// fill makes assets of texts.
func (a *assets) fill(texts map[string][]byte) error {
	names := make([]string, 0, len(texts))
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	all := sha256.New()
	for _, name := range names {
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
		a.files[name] = &asset{contentType: mime.TypeByExtension(path.Ext(name)), plain: texts[name], packed: packed.Bytes()}
		a.graph[name] = nil
	}
	a.hash = hex.EncodeToString(all.Sum(nil))[:16]
	for _, name := range names {
		if path.Ext(name) != ".js" {
			continue
		}
		seen := map[string]bool{}
		if err := a.reach(name, seen); err != nil {
			return err
		}
		for module := range seen {
			a.graph[name] = append(a.graph[name], module)
		}
		slices.Sort(a.graph[name])
	}
	return nil
}

// reach collects a module and those that it needs.
func (a *assets) reach(name string, seen map[string]bool) error {
	if seen[name] {
		return nil
	}
	seen[name] = true
	for _, found := range importLine.FindAllSubmatch(a.files[name].plain, -1) {
		needed := path.Join(path.Dir(name), string(found[1]))
		if a.files[needed] == nil {
			return fmt.Errorf("page: %s imports %s, which is not there", name, needed)
		}
		if err := a.reach(needed, seen); err != nil {
			return err
		}
	}
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
	body := f.plain
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	if api.TakesGzip(r.Header.Get("Accept-Encoding")) {
		body = f.packed
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the browser has gone
}
