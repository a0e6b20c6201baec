package connection

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func texts(chars string, most int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune(chars)), 1, most, -1)
}

// What is written is read again, whatever the texts in it look like to YAML.
func TestFileRoundTrip(t *testing.T) {
	name := texts("abcXYZ019", 12)
	odd := rapid.StringOfN(rapid.SampledFrom([]rune("ab0:#{}[]&*!|>'\"%@`~? -,.\\é世=yesnoNULL")), 1, 30, -1)
	rapid.Check(t, func(t *rapid.T) {
		d := document{Namespaces: map[string]entry[Namespace]{}, Databases: map[string]entry[Database]{}}
		for range rapid.IntRange(0, 4).Draw(t, "databases") {
			e := entry[Database]{Item: Database{
				Driver: rapid.SampledFrom([]Driver{MySQL, Postgres}).Draw(t, "driver"), Address: name.Draw(t, "host") + ":1",
				Schema: odd.Draw(t, "schema"), User: odd.Draw(t, "user"),
			}}
			if rapid.Bool().Draw(t, "secret") {
				e.Stored = stored(odd.Draw(t, "password"))
			}
			d.Databases[name.Draw(t, "name")] = e
		}
		for range rapid.IntRange(0, 4).Draw(t, "namespaces") {
			e := entry[Namespace]{Item: Namespace{
				Kind: rapid.SampledFrom([]Kind{Etcd, ZooKeeper}).Draw(t, "kind"), Path: name.Draw(t, "path"),
				Endpoints: rapid.SliceOfN(rapid.Map(name, func(s string) string { return s + ":2379" }), 1, 3).Draw(t, "endpoints"),
			}}
			if rapid.Bool().Draw(t, "secret") {
				e.Item.User, e.Stored = name.Draw(t, "user"), stored(odd.Draw(t, "password"))
			}
			if rapid.Bool().Draw(t, "tls") {
				e.Item.TLS = &TLS{ServerName: rapid.SampledFrom([]string{"", "etcd"}).Draw(t, "server")}
			}
			d.Namespaces[name.Draw(t, "name")] = e
		}
		content, err := d.format()
		if err != nil {
			t.Fatal(err)
		}
		back, err := parse(content)
		if err != nil || !reflect.DeepEqual(back, d) {
			t.Fatalf("%v: got\n%+v, want\n%+v, from\n%s", err, back, d, content)
		}
		for name, e := range d.Namespaces {
			if versionOf(e) != versionOf(back.Namespaces[name]) {
				t.Error("another version")
			}
		}
	})
}

func TestParseRefuses(t *testing.T) {
	const good = "namespaces:\n  a: {kind: etcd, endpoints: ['h:1'], namespace: n}\n"
	if _, err := parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]string{
		strings.Replace(good, "kind", "knd", 1):                         "knd",
		strings.Replace(good, "etcd", "redis", 1):                       "allowed are etcd and zookeeper",
		strings.Replace(good, "a:", "'a b':", 1):                        "name",
		strings.Replace(good, "h:1", "u:hunter2@h:1", 1):                "an @ in it",
		strings.Replace(good, "h:1", "h", 1):                            "host:port",
		strings.Replace(good, "n}", "n, user: u}", 1):                   "user and password",
		strings.Replace(good, "n}", "n, password: hunter2}", 1):         "user and password",
		strings.Replace(good, "n}", "n, grants: x}", 1):                 "grants",
		strings.Replace(good, "n}", "n, tls: {cacert: ca.pem}}", 1):     "from the root on",
		strings.Replace(good, "n}", "n, tls: {cert: /c}}", 1):           "cert and key",
		strings.Replace(good, "['h:1']", "[]", 1):                       "endpoints",
		"namespaces:\n  a:\n":                                           "kind",
		"namespaces: hunter2":                                           "line 1",
		good + "---\n" + good:                                           "one document is allowed",
		"databases:\n  d: {driver: oracle, address: 'h:1'}\n":           "sqlite, mysql and postgres",
		"databases:\n  d: {driver: sqlite, address: '/a?_pragma=b'}\n":  "path of a file",
		"databases:\n  d: {driver: sqlite, address: 'file:///a'}\n":     "path of a file",
		"databases:\n  d: {driver: sqlite, address: '/a', user: u}\n":   "has no database",
		"databases:\n  d: {driver: postgres, address: '/run/socket'}\n": "host:port",
		"databases:\n  d: {driver: mysql, address: 'h:1'}\n":            "a database and a user",
	} {
		_, err := parse([]byte(content))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want something with %q", content, err, want)
		}
	}
	var many strings.Builder
	many.WriteString("namespaces:\n")
	for i := range MaxEntries + 1 {
		many.WriteString("  a" + strings.Repeat("x", i%90) + string(rune('a'+i/90)) + ": {kind: etcd, endpoints: ['h:1'], namespace: n}\n")
	}
	if _, err := parse([]byte(many.String())); !errors.Is(err, ErrMany) {
		t.Errorf("too many: %v", err)
	}
}
