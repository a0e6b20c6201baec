package page

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// A document has all texts that the modules of its page name.
func TestWordsOfPages(t *testing.T) {
	pages, _ := newSite(t, Options{})
	literal := regexp.MustCompile("[\"'`]([a-z]+\\.[A-Za-z][\\w-]*)[\"'`]")
	for module := range pages.assets.graph {
		if !strings.HasPrefix(module, "pages/") {
			continue
		}
		for _, m := range pages.assets.graph[module] {
			for _, found := range literal.FindAllSubmatch(pages.assets.files[m].plain, -1) {
				key := string(found[1])
				if _, isWord := pages.words[languages[0]][key]; !isWord {
					continue
				}
				for _, language := range languages {
					if pages.known[language][module] == nil || pages.known[language][module][key] == "" {
						t.Errorf("%s in %s has not the text %s, which %s names", module, language, key, m)
					}
				}
			}
		}
	}
}

// Texts are Chinese in Chinese, with its punctuation, but for names that are the same in all languages, and nowhere else.
func TestLanguages(t *testing.T) {
	d, err := newDictionary(files)
	if err != nil {
		t.Fatal(err)
	}
	isHan := func(r rune) bool { return unicode.Is(unicode.Han, r) }
	names := regexp.MustCompile(`\{[^}]*\}|etcd|ZooKeeper|SQLite|MySQL|PostgreSQL|JVM|API|TLS|HTTP|URL|YAML|JSON|CSV|Quartz|Go|host:port|cron|ms|ID|p\d+|\d+ (?:min|h|d|s)|[^\p{L}]`)
	for key, text := range d["en"] {
		if strings.ContainsFunc(text, isHan) {
			t.Errorf("en: %s: %s", key, text)
		}
	}
	quoted, half := regexp.MustCompile(`“[^”]*”`), regexp.MustCompile(`\p{Han}[,;:?!.()]|[,;:?!()]\p{Han}`)
	for key, text := range d["zh"] {
		if found := half.FindString(quoted.ReplaceAllString(text, "")); found != "" {
			t.Errorf("zh: %s has punctuation of half width, %s: %s", key, found, text)
		}
		if !strings.ContainsFunc(text, isHan) && names.ReplaceAllString(text, "") != "" {
			t.Errorf("zh: %s is not translated: %s", key, text)
		}
	}
}

// No module and no style has a text of its own: it would be the same in all languages.
func TestTextsAreWords(t *testing.T) {
	sentence := regexp.MustCompile("[\"`>]([A-Z][a-z]+(?: [a-z]+)+)[^\"`]*[\"`<]")
	comments := regexp.MustCompile(`(?s)/\*.*?\*/|(?m)(^|\s)//.*$`)
	err := fs.WalkDir(files, "app", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Ext(name) != ".js" {
			return err
		}
		text, err := fs.ReadFile(files, name)
		code := comments.ReplaceAllString(string(text), "")
		for _, found := range sentence.FindAllString(code, -1) {
			t.Errorf("%s has a text of its own: %s", name, found)
		}
		if strings.ContainsFunc(code, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			t.Errorf("%s has Chinese text", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
