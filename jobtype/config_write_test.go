package jobtype

import (
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"
)

// What the encoder quotes of Go's texts, because YAML 1.1 or 1.2 reads something else, is quoted here.
func TestTextsThatNeedQuotes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`[A-Za-z0-9:_.+-]{0,8}`),
			rapid.StringMatching(`[0-9+-][0-9_]{0,3}:[0-9:]{1,4}(\.[0-9_]{0,3})?`),
			rapid.SampledFrom([]string{"y", "N", "Yes", "no", "on", "OFF", "true", "False", "null", "~", "=", "<<", "0x1f", "0o7", "0b1", "1e3", ".inf", ".NaN", "2001-01-01", "- a", "a: b", "a #b", "", " a"}),
			rapid.String().Filter(utf8.ValidString),
		).Draw(t, "text")
		byEncoder, err := yaml.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		byUs, err := yaml.Marshal(scalar("!!str", text))
		if err != nil || string(byEncoder) != text+"\n" && string(byUs) == text+"\n" {
			t.Errorf("%q: written as %q, %v", text, byUs, err)
		}
	})
	for _, text := range []string{"settle", "0=Beijing,1=Shanghai", "0/5 * * * * ?", "AVG_ALLOCATION", "GMT+08:00", "com.example.Job"} {
		if !isPlain(text) {
			t.Errorf("%q needs no quotes", text)
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
		if written, err := (document{}).write(c); err != nil || len(written) > MaxConfigSize {
			t.Fatalf("%d bytes, %v", len(written), err)
		}
	})
}

// Keys that only ElasticJob has go if that is asked for; others stay.
func TestEncodeWithout(t *testing.T) {
	const base = "cron: 0 * * * * ?\njobName: j\nshardingTotalCount: 1\n"
	for _, tc := range []struct{ name, more, without, want string }{
		{"none", "future: 1\n", "", "future: 1\n"},
		{"one that is not there", "future: 1\n", "past", "future: 1\n"},
		{"an unknown key", "future: 1\n", "future", ""},
		{"what extensions add", "jobExtraConfigurations: []\n", "jobExtraConfigurations", ""},
		{"the pool", "jobExecutorThreadPoolSizeProviderType: CPU\n", "jobExecutorThreadPoolSizeProviderType", ""},
		{"the pool of 3.0.4", "jobExecutorServiceHandlerType: SINGLE_THREAD\n", "jobExecutorServiceHandlerType", "executor.threads: '1'\n"},
		{"a key of a field", "label: gpu\n", "label", "label: gpu\n"},
	} {
		c, err := DecodeConfig([]byte(base + tc.more))
		if err != nil {
			t.Fatal(err)
		}
		document, err := c.Encode([]byte(base+tc.more), tc.without)
		key, _, _ := strings.Cut(tc.more, ":")
		if text := string(document); err != nil || !strings.Contains(text, tc.want) || strings.Contains(text, key) != strings.HasPrefix(tc.want, key) {
			t.Errorf("%s: %v\n%s", tc.name, err, document)
		}
		if again, err := DecodeConfig(document); err != nil || !again.Equal(c) {
			t.Errorf("%s: %+v, %v; want %+v", tc.name, again, err, c)
		}
	}
}
