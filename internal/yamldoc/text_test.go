package yamldoc

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
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
		{"byte order mark", "k: a\ufeffb\n", "a\ufeffb"},
		{"byte order mark first", "k: \ufeffa\n", "\ufeffa"},
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

// Byte order marks in texts are read wherever they stand in a document.
func TestByteOrderMarks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"a", byteOrderMark, "\ue000", "\ue001", "界", "e000", "\U0001f600"})
		var document strings.Builder
		if rapid.Bool().Draw(t, "begins with a mark") {
			document.WriteString(byteOrderMark)
		}
		want := map[string]string{}
		for i := range rapid.IntRange(1, 60).Draw(t, "keys") {
			text := "x" + strings.Repeat(strings.Join(rapid.SliceOfN(unit, 0, 12).Draw(t, "text"), ""), rapid.IntRange(1, 4).Draw(t, "times"))
			key := fmt.Sprintf("k%d", i)
			want[key] = text
			switch rapid.IntRange(0, 4).Draw(t, "style") {
			case 0:
				fmt.Fprintf(&document, "%s: %s\n", key, text)
			case 1:
				fmt.Fprintf(&document, "%s: '%s'\n", key, text)
			case 2:
				fmt.Fprintf(&document, "%s: |-\n  %s\n", key, text)
			case 3:
				fmt.Fprintf(&document, "%s: \"%s\"\n", key, strings.NewReplacer("\ue000", `\uE000`, "\ue001", `\U0000e001`).Replace(text))
			case 4:
				fmt.Fprintf(&document, "%s: !!binary |-\n  %s\n", key, base64.StdEncoding.EncodeToString([]byte(text)))
			}
		}
		values, err := Parse([]byte(document.String()))
		if err != nil || len(values) != len(want) {
			t.Fatalf("%q: %d values, %v", document.String(), len(values), err)
		}
		for key, text := range want {
			if got, err := Text(values[key]); err != nil || got != text {
				t.Errorf("%q: %s: %q, %v", document.String(), key, got, err)
			}
		}
	})
	// Nothing can stand in its place: the document is read as it is.
	var all strings.Builder
	all.WriteString("k: a" + byteOrderMark + "b\nother: ")
	for r := firstPrivate; r <= lastPrivate; r++ {
		all.WriteRune(r)
	}
	values, err := Parse([]byte(all.String()))
	if err != nil || values["k"].Value != "a"+byteOrderMark+"b" {
		t.Errorf("%v, %v", values["k"], err)
	}
}
