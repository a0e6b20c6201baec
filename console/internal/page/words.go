package page

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// languages are those of the pages: the first one is for who asks for none of them.
var languages = []string{"en", "zh"}

// words are the texts of a language, by FILE.NAME.
type words map[string]string

// dictionary has the words of each language.
type dictionary map[string]words

// newDictionary reads words/LANGUAGE/FILE.json.
func newDictionary(all fs.FS) (dictionary, error) {
	d := dictionary{}
	for _, language := range languages {
		d[language] = words{}
		names, err := fs.Glob(all, "words/"+language+"/*.json")
		if err != nil {
			return nil, fmt.Errorf("page: %w", err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(all, name)
			if err != nil {
				return nil, fmt.Errorf("page: %w", err)
			}
			var in map[string]string
			if err := json.Unmarshal(text, &in); err != nil {
				return nil, fmt.Errorf("page: %s: %w", name, err)
			}
			for key, word := range in {
				d[language][strings.TrimSuffix(path.Base(name), ".json")+"."+key] = word
			}
		}
	}
	return d, nil
}

// used is where a module names a word, or the file of words of the API.
var used = regexp.MustCompile("\\b(?:w|terms?|has)\\(\\s*[\"'`]([a-z]+)[.\"'`]")

// filesNamed returns, for each module, the files of words that it names.
func filesNamed(a *assets) map[string][]string {
	named := map[string][]string{}
	for module, f := range a.files {
		for _, found := range used.FindAllSubmatch(f.plain, -1) {
			named[module] = append(named[module], string(found[1]))
		}
	}
	return named
}

// ofPage returns the words of the files that a page's module names, or one of those that it needs.
func (d dictionary) ofPage(language string, modules []string, named map[string][]string) words {
	of := map[string]bool{}
	for _, module := range modules {
		for _, file := range named[module] {
			of[file] = true
		}
	}
	out := words{}
	for key, word := range d[language] {
		if file, _, _ := strings.Cut(key, "."); of[file] {
			out[key] = word
		}
	}
	return out
}

// languageOf returns the language of a request: that of the cookie, or the one that the browser likes best.
func languageOf(r *http.Request) string {
	if c, err := r.Cookie("elasticjob-language"); err == nil && slices.Contains(languages, c.Value) {
		return c.Value
	}
	best, quality := languages[0], 0.0
	for part := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") {
		tag, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
		q := 1.0
		if v, ok := strings.CutPrefix(strings.TrimSpace(weight), "q="); ok {
			q, _ = strconv.ParseFloat(v, 64) // 0, not wanted, if it is no number
		}
		if slices.Contains(languages, primary) && q > quality {
			best, quality = primary, q
		}
	}
	return best
}

// chosen returns what somebody has chosen of some values; else empty, and the browser's or the system's counts.
func chosen(r *http.Request, name string, values ...string) string {
	if c, err := r.Cookie("elasticjob-" + name); err == nil && slices.Contains(values, c.Value) {
		return c.Value
	}
	return ""
}
