package page

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// Browsers keep assets for a year, so an address has one content for ever: that of another version is not there.
func TestAssets(t *testing.T) {
	pages, handler := newSite(t, Options{})
	types := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
	for name, f := range pages.assets.files {
		address := "/assets/" + pages.assets.hash + "/" + name
		plain := get(handler, "", address)
		h := plain.Header()
		if plain.Code != http.StatusOK || !bytes.Equal(plain.Body.Bytes(), f.plain) || h.Get("Content-Encoding") != "" {
			t.Errorf("%s: %d, %d bytes, %s", name, plain.Code, plain.Body.Len(), h)
		}
		if h.Get("Content-Type") != types[path.Ext(name)] || h.Get("Cache-Control") != "public, max-age=31536000, immutable" || h.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %s", name, h)
		}
		packed := get(handler, "", address, "Accept-Encoding", "br, gzip")
		if packed.Header().Get("Content-Encoding") != "gzip" || !bytes.Equal(unpacked(t, packed.Body), f.plain) {
			t.Errorf("%s is not the same when it is compressed", name)
		}
	}
	for _, missing := range []string{"/assets/0123456789abcdef/style.css", "/assets/" + pages.assets.hash + "/frame.html", "/assets/" + pages.assets.hash + "/pages/none.js"} {
		if w := get(handler, "", missing); w.Code != http.StatusNotFound || w.Header().Get("Cache-Control") != "" {
			t.Errorf("%s: %d %s", missing, w.Code, w.Header())
		}
	}
	if icon := get(handler, "", "/favicon.ico"); icon.Code != http.StatusOK || icon.Header().Get("Content-Type") != types[".svg"] {
		t.Errorf("the icon: %d %s", icon.Code, icon.Header())
	}
}

func unpacked(t *testing.T, r io.Reader) []byte {
	t.Helper()
	z, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Whatever changes gets other addresses; the same has the same ones in all processes.
func TestHashOfAssets(t *testing.T) {
	hash := func(files map[string]string) string {
		all := fstest.MapFS{}
		for name, text := range files {
			all[name] = &fstest.MapFile{Data: []byte(text)}
		}
		a, err := newAssets(all)
		if err != nil {
			t.Fatal(err)
		}
		return a.hash
	}
	first := map[string]string{"app/a.js": "one();", "style/a.css": "a {}"}
	seen := map[string]bool{hash(first): true}
	if !seen[hash(first)] {
		t.Error("the same files have another hash")
	}
	for _, other := range []map[string]string{
		{"app/a.js": "two();", "style/a.css": "a {}"}, {"app/b.js": "one();", "style/a.css": "a {}"}, {"app/a.js": "one();", "style/a.css": "b {}"}, {"app/a.js": "one();"},
	} {
		if h := hash(other); seen[h] {
			t.Errorf("%v has the hash of another", other)
		} else {
			seen[h] = true
		}
	}
}

func TestImportOfWhatIsNotThere(t *testing.T) {
	_, err := newAssets(fstest.MapFS{"app/pages/a.js": {Data: []byte("import {x} from \"../none.js\";\n")}})
	if err == nil || !strings.Contains(err.Error(), "pages/a.js imports none.js") {
		t.Errorf("an import of nothing: %v", err)
	}
}

// A page is soon there also by telephone: its document, its modules and the style have less than 100 KB together.
func TestWeight(t *testing.T) {
	const most = 100 << 10
	pages, handler := newSite(t, Options{Passwords: true, Users: true})
	for _, language := range languages {
		for _, s := range append(sites, site{name: "login", pattern: "/"}, site{name: "problem", pattern: "/nothing"}) {
			user := "admin"
			if s.name == "login" {
				user = ""
			}
			document := get(handler, user, strings.ReplaceAll(pathOf(s), "%", ""), "Accept-Encoding", "gzip", "Accept-Language", language)
			size := document.Body.Len() + len(pages.assets.files["style.css"].packed) + len(pages.assets.files["sign.svg"].packed)
			modules := pages.assets.graph["pages/"+s.name+".js"]
			for _, module := range modules {
				size += len(pages.assets.files[module].packed)
			}
			t.Logf("%-12s %s %3d KB, %d modules", s.name, language, size>>10, len(modules))
			if size > most {
				t.Errorf("page %s in %s has %d bytes; allowed are %d", s.name, language, size, most)
			}
		}
	}
}

// What a browser loads beside a document is told in it: each module is imported in the way that is found, and none
// later, from elsewhere, or by a text that is run.
func TestModules(t *testing.T) {
	a, err := newAssets(files)
	if err != nil {
		t.Fatal(err)
	}
	imports := regexp.MustCompile(`(?m)\bfrom\s*["'][./]|^\s*import\s*["']|\bimport\(`)
	types := regexp.MustCompile(`(?s)/\*\*.*?\*/`)
	elsewhere := regexp.MustCompile(`https?://[\w.]+|\beval\(|new Function\(|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write|style=`)
	for name, f := range a.files {
		text := types.ReplaceAllString(string(f.plain), "")
		if strings.HasSuffix(name, ".js") && len(imports.FindAllString(text, -1)) != len(importLine.FindAllString(text, -1)) {
			t.Errorf("%s has an import that is on several lines, or dynamic", name)
		}
		for _, found := range elsewhere.FindAllString(text, -1) {
			if found != "http://www.w3.org" && found != "https://example.com" { // names of SVG's elements; what people may write
				t.Errorf("%s has %s", name, found)
			}
		}
		if strings.HasSuffix(name, ".css") && regexp.MustCompile(`url\(|@import`).MatchString(text) {
			t.Errorf("%s loads something", name)
		}
	}
	for module := range a.graph {
		if strings.HasPrefix(module, "pages/") && !hasSite(strings.TrimSuffix(path.Base(module), ".js")) {
			t.Errorf("no page has module %s", module)
		}
	}
}

func hasSite(name string) bool {
	for _, s := range sites {
		if s.name == name {
			return true
		}
	}
	return name == "login" || name == "problem"
}
