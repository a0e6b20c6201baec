package yamldoc

import (
	"strings"
	"testing"
)

// Texts as SnakeYAML 1.33 writes them, and as it reads them again.
func TestTextsOfSnakeYAML(t *testing.T) {
	for _, tc := range []struct{ name, written, want string }{
		{"plain", "k: a\n", "a"},
		{"empty", "k: ''\n", ""},
		{"a word of YAML", "k: 'yes'\n", "yes"},
		{"a number", "k: '0'\n", "0"},
		{"a space first", "k: ' a'\n", " a"},
		{"a tab", "k: \"a\\tb\"\n", "a\tb"},
		{"a line feed", "k: |-\n  a\n  b\n", "a\nb"},
		{"a line feed at the end", "k: |\n  a\n", "a\n"},
		{"line feeds at the end", "k: |+\n  a\n\n\n", "a\n\n\n"},
		{"a carriage return", "k: \"a\\r\\nb\"\n", "a\r\nb"},
		{"no-break space", "k: a\u00a0b\n", "a\u00a0b"},
		// SnakeYAML does not read what it has written here, and neither do JVM members.
		{"next line", "k: |-\n  a\u0085  b\n", "a\nb"},
		{"next line among what is quoted", "k: \"a\\tb\\N\"\n", "a\tb\u0085"},
		{"line separator", "k: |-\n  a\u2028  b\n", "a\u2028b"},
		{"paragraph separator", "k: |-\n  a\u2029  b\n", "a\u2029b"},
		{"separator among what is quoted", "k: \"a\\tb\\Lc\\P\"\n", "a\tb\u2028c\u2029"},
		{"emoji", "k: a\U0001f600b\n", "a\U0001f600b"},
		{"control character", "k: !!binary |-\n  YQFi\n", "a\x01b"},
		{"escape and a line feed", "k: !!binary |-\n  YRtiCg==\n", "a\x1bb\n"},
		{"delete", "k: !!binary |-\n  YX9i\n", "a\x7fb"},
		{"no character", "k: !!binary |-\n  Ye+/vmI=\n", "a\ufffeb"},
		{"NUL", "k: !!binary |-\n  AA==\n", "\x00"},
		{"a long line", "k: word word word word word word word word word word word word word word word word\n  word\n", strings.Repeat("word ", 16) + "word"},
		{"a long line that is quoted", "k: \"word\\tword word word word word word word word word word word word word word word\\\n  \\ word\"\n", "word\t" + strings.Repeat("word ", 15) + "word"},
	} {
		values, err := Parse([]byte(tc.written))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got, err := Text(values["k"]); err != nil || got != tc.want {
			t.Errorf("%s: %q, %v, want %q", tc.name, got, err, tc.want)
		}
	}
}

func TestBinary(t *testing.T) {
	for _, tc := range []struct{ written, want, problem string }{
		{"k: !!binary aGVsbG8=\n", "hello", ""},
		{"k: !!binary |\n  aGVs\n  bG8=\n", "hello", ""},
		{"k: !!binary ''\n", "", ""},
		{"k: !!binary aGVsbG8\n", "", "base64"},
		{"k: !!binary /w==\n", "", "UTF-8"},
	} {
		values, err := Parse([]byte(tc.written))
		got := ""
		if err == nil {
			got, err = Text(values["k"])
		}
		if got != tc.want || (err != nil) != (tc.problem != "") || err != nil && !strings.Contains(err.Error(), tc.problem) {
			t.Errorf("%q: %q, %v", tc.written, got, err)
		}
	}
}
