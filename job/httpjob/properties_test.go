package httpjob_test

import (
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
)

// Each property has a wrong value, which is refused with its name.
func TestWrongProperties(t *testing.T) {
	t.Setenv("HTTPJOB_BREAK", "a\nb")
	requests := newType(t, httpjob.Options{TLS: map[string]*tls.Config{"billing": {}, "audit": {}}})
	for _, tc := range []struct{ name, value, says string }{
		{"http.uri", "", "props: http.uri: it or http.url is required"},
		{"http.uri", "ftp://h/", "props: http.uri: an absolute URL with http or https is allowed"},
		{"http.uri", "/settle", "props: http.uri: an absolute URL with http or https is allowed"},
		{"http.uri", "http://", "props: http.uri: an absolute URL"},
		{"http.uri", "${jobParameter}://h/", "props: http.uri: an absolute URL"},
		{"http.uri", "http://h:port/", "props: http.uri: an absolute URL"},
		{"http.uri", "http://h/${item}", `props: http.uri: reference "${item}": is not known`},
		{"http.uri", "http://h/${shardingitem}", `props: http.uri: reference "${shardingitem}": is not known; the placeholders are jobName, taskId, shardingTotalCount, jobParameter, ` +
			"shardingItem, shardingParameter, instanceId, scheduledTime, source, attempt, token; $${ stands for ${ itself"},
		{"http.uri", "http://h/${json:jobName}", `props: http.uri: reference "${json:jobName}": is not known`},
		{"http.uri", "http://h/${env:HTTPJOB_NONE}", `props: http.uri: reference "${env:HTTPJOB_NONE}": this process has no such variable`},
		{"http.uri", "http://h/${jobName", "props: http.uri: a reference that begins with ${ does not end"},
		{"http.uri", "http://h/#top", "props: http.uri: a fragment"},
		{"http.uri", "http://u:hunter2@h/", "props: http.uri: its password is secret"},
		{"http.uri", "http://u:${jobName}@h/", "props: http.uri: its password is secret"},
		{"http.url", "ftp://h/", "props: http.url: an absolute URL with http or https is allowed"},
		{"http.url", "http://other/", "props: http.url: differs from http.uri"},
		{"http.method", "", "props: http.method: is required"},
		{"http.method", "get", `props: http.method: "get": GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS are allowed`},
		{"http.data", "${item}", `props: http.data: reference "${item}": is not known`},
		{"http.data", "${json:item}", `props: http.data: reference "${item}": is not known`},
		{"http.data", "a\x00b", "props: http.data: it has a zero byte"},
		{"http.data", "${file:/none/such}", `props: http.data: reference "${file:/none/such}": open /none/such`},
		{"http.content.type", "${type}", `props: http.content.type: reference "${type}": is not known`},
		{"http.content.type", "${env:HTTPJOB_BREAK}", `props: http.content.type: "${env:HTTPJOB_BREAK}": control characters are not allowed`},
		{"http.header.X-A", "${a}", `props: http.header.X-A: reference "${a}": is not known`},
		{"http.header.X-A", "${env:HTTPJOB_BREAK}", `props: http.header.X-A: "${env:HTTPJOB_BREAK}": control characters are not allowed`},
		{"http.header.X-A", "a\r\nX-B: c", "props: http.header.X-A: control characters are not allowed"},
		{"http.header.X A", "b", "props: http.header.X A: is no name of a header"},
		{"http.header.x-item", "b", "props: http.header.x-item: stands there twice"},
		{"http.header.Content-Length", "3", "props: http.header.Content-Length: belongs to the connection"},
		{"http.header.content-type", "text/plain", "props: http.header.content-type: is set by http.content.type"},
		{"http.header.ShardingContext", "x", "props: http.header.ShardingContext: is always sent"},
		{"http.header.Proxy-Authorization", "x", "props: http.header.Proxy-Authorization: is set by the user of http.proxy"},
		{"http.header.Authorization", "Bearer hunter2", "props: http.header.Authorization: is secret"},
		{"http.header.Authorization", "Bearer ${jobName}", "props: http.header.Authorization: is secret"},
		{"http.header.cookie", "a=b", "props: http.header.cookie: is secret"},
		{"http.connect.timeout.milliseconds", "0", `props: http.connect.timeout.milliseconds: "0": 1 to 86400000 are allowed`},
		{"http.read.timeout.milliseconds", "-1", `props: http.read.timeout.milliseconds: "-1": 1 to 86400000 are allowed`},
		{"http.answer.timeout.milliseconds", "1s", `props: http.answer.timeout.milliseconds: "1s": 1 to 86400000 are allowed`},
		{"http.success.codes", "200-600", `props: http.success.codes: "200-600": numbers from 100 to 599`},
		{"http.success.codes", "2xx", `props: http.success.codes: "2xx": numbers from 100 to 599`},
		{"http.redirects", "101", `props: http.redirects: "101": 0 to 100 are allowed`},
		{"http.proxy", "proxy:3128", "props: http.proxy: none, environment or a URL is allowed"},
		{"http.proxy", "http://u:hunter2@proxy:3128", "props: http.proxy: none, environment or a URL is allowed: its password is secret"},
		{"http.tls", "biling", `props: http.tls: "biling" is not known, audit, billing are`},
		{"http.retry.attempts", "101", `props: http.retry.attempts: "101": 0 to 100 are allowed`},
		{"http.retry.unsafe", "yes", `props: http.retry.unsafe: "yes": true, false are allowed`},
		{"http.retry.backoff.milliseconds", "0", `props: http.retry.backoff.milliseconds: "0": 1 to 86400000 are allowed`},
		{"http.retry.after.max.milliseconds", "-1", `props: http.retry.after.max.milliseconds: "-1": 0 to 86400000 are allowed`},
		{"http.poll", "1", `props: http.poll: "1": true, false are allowed`},
		{"http.poll.interval.milliseconds", "0", `props: http.poll.interval.milliseconds: "0": 1 to 86400000 are allowed`},
		{"http.poll.timeout.milliseconds", "0", `props: http.poll.timeout.milliseconds: "0": 1 to 1296000000 are allowed`},
		{"http.retries", "1", "props: http.retries: is not known"},
		{"http.header.", "1", "props: http.header.: is not known"},
	} {
		t.Run(tc.name+"="+tc.value, func(t *testing.T) {
			p := get("http://h/").with(props{"http.header.X-Item": "1"}).with(props{tc.name: tc.value})
			_, err := requests.Handler(job.Config{Name: "settle", ShardingTotalCount: 1, Props: p})
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("got %v, want %q in it", err, tc.says)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a password: %v", err)
			}
			if _, ok := errors.AsType[*job.ConfigError](err); !ok {
				t.Errorf("%T is no *job.ConfigError", err)
			}
		})
	}
}

// All that is wrong is told at once.
func TestAllWrongProperties(t *testing.T) {
	_, err := newType(t, httpjob.Options{}).Handler(job.Config{Props: props{"http.method": "FETCH", "http.tls": "a", "http.poll": "x"}})
	for _, says := range []string{"http.method", "http.tls", "this process has none", "http.poll"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q in it", err, says)
		}
	}
}

func TestRightProperties(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HTTPJOB_TOKEN", "hunter2")
	requests := newType(t, httpjob.Options{TLS: map[string]*tls.Config{"billing": nil}})
	for name, p := range map[string]props{
		"least":              {"http.uri": "http://h/", "http.method": "GET"},
		"alias":              {"http.url": "http://h/", "http.method": "GET"},
		"both":               {"http.uri": "http://h/", "http.url": "http://h/", "http.method": "GET"},
		"others' properties": get("http://h/").with(props{"script.command.line": "ls", "streaming.process": "true"}),
		"references": get("https://${env:HTTPJOB_TOKEN}:8080/${file:" + secret + "}?a=${env:HTTPJOB_TOKEN}").with(props{
			"http.header.Authorization": "Bearer ${file:" + secret + "}", "http.data": "${json:env:HTTPJOB_TOKEN}", "http.tls": "billing",
			"http.proxy": "socks5://u:${env:HTTPJOB_TOKEN}@proxy:1080",
		}),
		"port by reference": get("http://h:${env:HTTPJOB_TOKEN}/"),
		"no reference":      get("http://h/$${x}").with(props{"http.data": "$${x}"}),
		"ranges":            get("http://h/").with(props{"http.success.codes": "200, 204,300-304"}),
		"empty":             get("http://h/").with(props{"http.data": "", "http.header.Authorization": "", "http.tls": ""}),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := requests.Handler(job.Config{Name: "settle", ShardingTotalCount: 1, Props: p}); err != nil {
				t.Error(err)
			}
		})
	}
}

// The package comment has the names and the defaults of the table.
func TestDocumentedProperties(t *testing.T) {
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	var start, end int
	for line := range strings.Lines(string(source)) {
		switch {
		case strings.HasPrefix(line, "//\tname "):
			start, end = strings.Index(line, "default"), strings.Index(line, "allowed")
		case strings.HasPrefix(line, "//\thttp.") && start > 0:
			documented[strings.Fields(strings.TrimPrefix(line, "//"))[0]] = strings.TrimSpace(line[start:end])
		}
	}
	for _, row := range httpjob.Table().Rows {
		want := row.Default
		if row.Required {
			want = "required"
		}
		if got, ok := documented[row.Name]; !ok || got != want {
			t.Errorf("%s: the comment has the default %q (%t), the table %q", row.Name, got, ok, want)
		}
		if row.Meaning == "" {
			t.Errorf("%s has no meaning", row.Name)
		}
		delete(documented, row.Name)
	}
	for name := range documented {
		t.Errorf("%s is not in the table", name)
	}
}
