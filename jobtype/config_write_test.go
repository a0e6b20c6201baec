package jobtype

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// The encoder writes each word without quotes.
func TestWordsArePlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`[A-Za-z][A-Za-z0-9_.-]{0,12}`),
			rapid.StringMatching(`[yYnN]|[yY][eE][sS]|[nN][oO]|[oO][nN]|[oO][fF][fF]|[tT][rR][uU][eE]|[nN][uU][lL][lL]|[nN][aA][nN]`),
		).Draw(t, "text")
		written, err := yaml.Marshal(text)
		if isPlain := string(written) == text+"\n"; err != nil || isWord(text) && !isPlain || !isWord(text) && isPlain && len(text) > 5 {
			t.Errorf("%q: a word %v, written as %q, %v", text, isWord(text), written, err)
		}
	})
	for _, text := range []string{"", "y", "N", "Yes", "no", "on", "OFF", "true", "false", "null", "jobs\n", "a{bcdef", "1bcdefg", "-bcdefg", "@bcdefg", "`bcdefg", "[bcdefg", "einundzwanzigst\xe9"} {
		if isWord(text) {
			t.Errorf("%q is none", text)
		}
	}
}

// A configuration that is taken for small without being written is small, whatever its texts
// are.
func TestSmallConfigIsSmall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			unit := rapid.SampledFrom([]string{"a", " ", "\x01", "\"", "\\", "é", "\u2028", "\U0001f600", "\xff", "\x00", "\u0085", "\ufeff", "\ufffe", "a: ", "\n"}).Draw(t, name)
			return strings.Repeat(unit, rapid.IntRange(0, MaxConfigSize/len(unit)).Draw(t, name+" times"))
		}
		c := Config{
			Name: "settle", ShardingTotalCount: 1, JobParameter: text("parameter"), Description: text("description"),
			Props: map[string]string{"p" + text("key"): text("value")}, Listeners: []string{text("listener")},
		}.WithDefaults()
		if !c.isSmall() {
			return
		}
		if written, err := (document{}).replacedBy(c).marshal(); err != nil || len(written) > MaxConfigSize {
			t.Fatalf("%d bytes, %v", len(written), err)
		}
	})
}
