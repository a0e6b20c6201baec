package yamldoc

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is read in the short way is what the YAML reader reads.
func TestPlain(t *testing.T) {
	for _, text := range []string{
		"cron: 0/5 * * * * ?\ndescription: ''\nfailover: true\nmaxTimeDiffSeconds: -1\nshardingItemParameters: 0=Beijing,1=Shanghai\n",
		"jobName: \"a b\"\nprops:\n    revision: \"3\"\n    retry.attempts: \"2\"\nshardingTotalCount: 3",
		"tick: 2026-11-22T12:30:45.123Z\nout: OK\nend: 2026-11-22\ntoken: 0123\nerr: 'no disk: /var is full'\n",
		"null: null\ntrue: nUll\nyes: .inf\nno: 0x1f\ny: 1e3\n",
		"description: 结算 支付 ä\n",
		"props:\n  a: b\n",
	} {
		if !agrees(t, text) {
			t.Errorf("%q: not read in the short way", text)
		}
	}
}

// Whatever a document has, the short way agrees with the YAML reader or does not read it.
func TestPlainNeverDiffers(t *testing.T) {
	for _, text := range []string{
		"", "a", "a:", "a: ", "a:\n", "a:\nb: c\n", "a: b\na: c\n", "a: b\n  c\n", "a:\n  b\n", "a:\n- b\n", "a: b: c\n", "a: b #c\n", "a: |\n  b\n", "a: [b]\n", "a: &b c\n",
		"a: 'it''s'\n", "a: \"\\n\"\n", "a: - b\n", "a: -\n", "a: --- b\n", "a: b\n...\n", "---\na: b\n", "a: b \n", "a: b\r\n", "a:\tb\n", "a: \tb\n", "a:\n  b: c\n   d: e\n", "a:\n  b: c\n d: e\n",
		"a:\n  b:\n    c: d\n", "a:\n  b: c\n  b: d\n", "\ufeffa: b\n", "a: \u2028b\n", "a: b\u0085c\n", "a: \xff\n", "a: '\n'\n", "a: b\n\n", "\na: b\n", "a: b\n# c\n", "  a: b\n", "a: ?\n", "a: b:\n",
		"a: 'b' c\n", "a: \"b\"c\n", "a: ''''\n", "a: \U0001f600\n",
	} {
		agrees(t, text)
	}
	line := rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat(" ", rapid.SampledFrom([]int{0, 0, 0, 2, 4}).Draw(t, "indent")) + rapid.SampledFrom([]string{"a", "b", "null", "a-b", "-", "1", "é"}).Draw(t, "key") +
			rapid.SampledFrom([]string{": ", ":", ": ", ":  ", " : "}).Draw(t, "colon") + rapid.StringOf(rapid.RuneFrom([]rune("ab01-:#'\"\\ ,[]{}&*!|>%@`?~=<./\té\u2028界"))).Draw(t, "value")
	})
	rapid.Check(t, func(r *rapid.T) {
		agrees(r, strings.Join(rapid.SliceOfN(line, 1, 5).Draw(r, "lines"), "\n"))
	})
}

// agrees reports whether a document is read in the short way.
func agrees(t interface{ Errorf(string, ...any) }, text string) bool {
	short, ok := plain([]byte(text))
	if !ok {
		return false
	}
	root, err := Root([]byte(text))
	if err != nil {
		t.Errorf("%q: read in the short way only: %v", text, err)
		return true
	}
	long, err := Mapping(root)
	if err != nil || !reflect.DeepEqual(short, long) {
		t.Errorf("%q: read otherwise in the short way: %v", text, err)
		for key := range short {
			t.Errorf("%s: %+v, want %+v", key, short[key], long[key])
		}
	}
	return true
}
