package connection_test

import (
	"os"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
)

// Each change is in the trail, with who has made it and from where; what is refused is not, and no password is.
func TestTrail(t *testing.T) {
	w := newWorld(t)
	w.write(t, "namespaces:\n  a: {kind: etcd, endpoints: ['near:1'], namespace: n, user: u, password: "+hunter+"}\n")
	b := w.book(t, withKey(t))
	ctx := access.With(t.Context(), &access.Principal{Name: "anna (token t)", User: "anna", Address: "10.0.0.7"})
	d := inPostgres()
	d.Password = connection.Plain(hunter)
	for _, change := range []func() error{
		func() error { _, err := b.PutDatabase(ctx, d, connection.NoVersion); return err },
		func() error { _, err := b.Reseal(ctx); return err },
		func() error { return b.RemoveDatabase(ctx, "history", connection.AnyVersion) },
		func() error { return b.RemoveNamespace(ctx, "a", connection.AnyVersion) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.RemoveDatabase(ctx, "history", connection.AnyVersion); err == nil {
		t.Error("removed twice")
	}
	text, err := os.ReadFile(w.file + ".log")
	if err != nil || strings.Contains(string(text), hunter) {
		t.Errorf("%s, %v", text, err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	want := []string{`database put","by":"anna (token t)","address":"10.0.0.7","detail":"history: postgres`, `passwords resealed","by":"anna (token t)","address":"10.0.0.7","detail":"1"`, `database removed","by":"anna (token t)","address":"10.0.0.7","detail":"history"`, `namespace removed","by":"anna (token t)","address":"10.0.0.7","detail":"a"`}
	if len(lines) != len(want) {
		t.Fatalf("%d lines: %s", len(lines), text)
	}
	for i := range want {
		if !strings.Contains(lines[i], `"kind":"`+want[i]) {
			t.Errorf("%s has no %s", lines[i], want[i])
		}
	}
}
