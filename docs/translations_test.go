package docs

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/mdpage"
)

var renew = flag.Bool("renew", false, "record in the translations that they are of their originals as these are now")

// The last line of a page in Chinese names its original, with the hash that this had when it was translated. Both have
// as many headings, and the same blocks but for comments.
func TestTranslations(t *testing.T) {
	for _, page := range selected(t) {
		name, isChinese := strings.CutPrefix(page.Name, "docs/zh/")
		if !isChinese {
			continue
		}
		if name != "README.md" { // of the root
			name = "docs/" + name
		}
		original, err := mdpage.Read(root, name)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("<!-- of %s sha256:%.6x -->\n", name, sha256.Sum256([]byte(original.Text)))
		switch body, _, _ := strings.Cut(page.Text, "\n<!-- of "); {
		case strings.HasSuffix(page.Text, "\n"+want):
		case *renew:
			if err := os.WriteFile(filepath.Join(root, page.Name), []byte(body+"\n"+want), 0o600); err != nil {
				t.Error(err)
			}
		default:
			t.Errorf("%s is older than %s. Translate what has changed, then: go test ./docs -run TestTranslations -page %s -renew\nIts last line is then: %s",
				page.Name, name, page.Name, want)
		}
		if got, want := len(page.Anchors()), len(original.Anchors()); got != want {
			t.Errorf("%s has %d headings, %s has %d", page.Name, got, name, want)
		}
		if got, want := blocksOf(page), blocksOf(original); got != want {
			t.Errorf("%s has other blocks than %s:\n%s\nwant\n%s", page.Name, name, got, want)
		}
	}
}

// blocksOf returns the fenced blocks of a page without comments.
func blocksOf(page mdpage.Page) (all string) {
	for _, block := range page.Blocks() {
		all += block.Language + "\n" + regexp.MustCompile(`(?m)[ \t]*(#|//) .*$`).ReplaceAllString(block.Text, "") + "\n"
	}
	return all
}
