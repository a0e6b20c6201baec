package yamldoc

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
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

// What is written in the short way is what the YAML writer writes, and nearly all documents are.
func TestPlainIsWritten(t *testing.T) {
	single := func(tag, text string, style yaml.Style) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text, Style: style}
	}
	mapping := func(content ...*yaml.Node) *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Content: content} }
	key := func(text string) *yaml.Node { return single("!!str", text, 0) }
	if !isWrittenPlain(t, mapping(
		key("cron"), key("0/5 * * * * ?"), key("description"), single("!!str", "", yaml.SingleQuotedStyle), key("failover"), single("!!bool", "true", 0),
		key("jobParameter"), single("!!str", "yes", yaml.SingleQuotedStyle), key("maxTimeDiffSeconds"), single("!!int", "-1", 0),
		key("props"), mapping(key("revision"), single("!!str", "3", yaml.SingleQuotedStyle), key("label"), key("结算 支付")),
		key("shardingItemParameters"), key("0=Beijing,1=Shanghai"), key("shardingTotalCount"), single("!!int", "3", 0))) {
		t.Error("the document of a job is not written in the short way")
	}
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "yes", "y", "Off", "nan", "inf", "cron", "null", "true", "1", "-1", "1.5", ".5", "...", "...a", "---", "a #b", "a#b", "a: b", "a:", " a", "a ", "it's", "2026-11-22", "1:20", "0x1f", "<<", "=", "a\nb", "结算", "\ufeffa", strings.Repeat("ab ", 60)}),
		rapid.StringOf(rapid.RuneFrom([]rune("ab01-:#'\"\\ ,[]{}&*!|>%@`?~=<./\té\u2028\u0085界\U0001f600"))))
	value := rapid.Custom(func(r *rapid.T) *yaml.Node {
		return single(rapid.SampledFrom([]string{"!!str", "!!str", "!!str", "!!int", "!!bool", "!!null", ""}).Draw(r, "tag"), text.Draw(r, "text"),
			rapid.SampledFrom([]yaml.Style{0, 0, yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle, yaml.TaggedStyle}).Draw(r, "style"))
	})
	var within func(depth int) *rapid.Generator[*yaml.Node]
	within = func(depth int) *rapid.Generator[*yaml.Node] {
		return rapid.Custom(func(r *rapid.T) *yaml.Node {
			m := mapping()
			for range rapid.IntRange(0, 3).Draw(r, "keys") {
				name := rapid.OneOf(rapid.Just(key("a")), rapid.Just(key("b-1")), value).Draw(r, "key")
				if depth < 2 && rapid.IntRange(0, 3).Draw(r, "nested") == 0 {
					m.Content = append(m.Content, name, within(depth+1).Draw(r, "mapping"))
				} else {
					m.Content = append(m.Content, name, value.Draw(r, "value"))
				}
			}
			return m
		})
	}
	rapid.Check(t, func(r *rapid.T) { isWrittenPlain(r, within(0).Draw(r, "document")) })
}

// The tag of a text that is found in the short way is that of the YAML library.
func TestPlainTag(t *testing.T) {
	check := func(t interface{ Errorf(string, ...any) }, text string) {
		if short, long := PlainTag(text), decodedTag(text); short != long {
			t.Errorf("%q is %s in the short way, and %s otherwise", text, short, long)
		}
	}
	for _, text := range []string{
		"", "-", "--1", "-0", "-7", "-07", "0", "00", "01", "7", "+1", "999999999999999999", "1000000000000000000", "1_000", "1 000", "0x1f", "0o17", "1e3", "1.5", ".5", ".inf", "true", "True", "TRUE", "falsey",
		"yes", "y", "Off", "nan", "inf", "cron", "null", "Null", "~", "<<", "=", "2026-11-22", "2026-11-22 10:00:00", "2026-11-22 10:00:00 +8", "2026 11 22", "1:20", "0/5 * * * * ?", " 1", "1 ", " ", "true ", ".inf ", "- a", "é b",
	} {
		check(t, text)
	}
	rapid.Check(t, func(r *rapid.T) {
		check(r, rapid.StringOf(rapid.RuneFrom([]rune("0123456789 -+.:_eExoTZtrufalsn~<=\té"))).Draw(r, "text"))
	})
}

// isWrittenPlain reports whether a document is written in the short way.
func isWrittenPlain(t interface{ Errorf(string, ...any) }, document *yaml.Node) bool {
	short, ok := appendPlain(nil, document, "")
	if !ok {
		return false
	}
	if long, err := dump(document); err != nil || string(short) != string(long) {
		t.Errorf("written as\n%s\nin the short way, and as\n%s\notherwise, %v", short, long, err)
	}
	return true
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
