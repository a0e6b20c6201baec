package httpjob_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
)

// text draws texts with what means something in URLs, headers and JSON.
func text() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringOf(rapid.SampledFrom([]rune("ab/\\?#&=%+;:@.$ {}[]\"'<>\r\n\t\x00\x7f界é"))),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
}

// Whatever a value is, it stays in its place in a URL, and is the same there.
func TestValuesInURLs(t *testing.T) {
	t.Setenv("HTTPJOB_PASSWORD", "pass:word@/")
	rapid.Check(t, func(t *rapid.T) {
		value := text().Draw(t, "value")
		filled, err := httpjob.FillURL("http://${jobParameter}:pw${env:HTTPJOB_PASSWORD}@h.example:8080/a/${jobParameter}/b?x=1&p=${jobParameter}&y=2 3é", job.ShardingContext{JobParameter: value})
		if value == "." || value == ".." {
			if err == nil {
				t.Fatalf("%q is in the path of %s", value, filled)
			}
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", value, err)
		}
		if strings.ContainsFunc(filled, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("%q cannot be sent", filled)
		}
		u, err := url.Parse(filled)
		if err != nil {
			t.Fatal(err)
		}
		segments := strings.Split(u.EscapedPath(), "/")
		if len(segments) != 4 || u.Host != "h.example:8080" || u.User.Username() != value {
			t.Fatalf("%q leads to %q", value, filled)
		}
		if got, err := url.PathUnescape(segments[2]); err != nil || got != value {
			t.Fatalf("the path has %q, %v, want %q", got, err, value)
		}
		query, err := url.ParseQuery(u.RawQuery)
		if err != nil || len(query) != 3 || query.Get("p") != value || query.Get("y") != "2 3é" || u.Fragment != "" {
			t.Fatalf("the query has %v, %v, want %q", query, err, value)
		}
	})
}

// A value in a host is one of its labels, or refused.
func TestValuesInHosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := text().Draw(t, "value")
		filled, err := httpjob.FillURL("http://a${jobParameter}.example.com:80/", job.ShardingContext{JobParameter: value})
		if err != nil {
			return
		}
		if u, err := url.Parse(filled); err != nil || u.Host != "a"+value+".example.com:80" || u.Path != "/" || u.User != nil {
			t.Fatalf("%q leads to %q", value, filled)
		}
	})
}

func TestValuesInHeaders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := text().Draw(t, "value")
		filled, err := httpjob.FillHeader("a ${jobParameter} b", job.ShardingContext{JobParameter: value})
		breaks := strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
		if (err != nil) != breaks || err == nil && filled != "a "+value+" b" {
			t.Fatalf("%q: got %q, %v", value, filled, err)
		}
	})
}

func TestValuesInBodies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := text().Draw(t, "value")
		sc := job.ShardingContext{JobParameter: value}
		filled, err := httpjob.FillBody(`{"a":${json:jobParameter},"b":1}`, sc)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			A string
			B int
		}
		if err := json.Unmarshal([]byte(filled), &got); err != nil || got.B != 1 || utf8.ValidString(value) && got.A != value {
			t.Fatalf("%q: got %q, %v", value, filled, err)
		}
		form, err := httpjob.FillBody("a=${url:jobParameter}&b=1", sc)
		if err != nil {
			t.Fatal(err)
		}
		if values, err := url.ParseQuery(form); err != nil || len(values) != 2 || values.Get("a") != value {
			t.Fatalf("%q: got %q, %v", value, form, err)
		}
		if raw, err := httpjob.FillBody("<${jobParameter}>", sc); err != nil || raw != "<"+value+">" {
			t.Fatalf("%q: got %q, %v", value, raw, err)
		}
	})
}
