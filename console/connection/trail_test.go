package connection_test

import (
	"os"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Each change is in the trail, with who has made it and from where; what is refused is not, and no password is.
func TestTrail(t *testing.T) {
	w := newWorld(t)
	w.write(t, "namespaces:\n  a: {kind: etcd, endpoints: ['near:1'], namespace: n, user: u, password: "+hunter+"}\n")
	told, key := 0, withKey(t)
	b := w.book(t, func(o *connection.Options) {
		key(o)
		o.Tell = func(e access.Event) {
			if told++; e.By != "anna (token t)" || e.Time.IsZero() {
				t.Errorf("%+v", e)
			}
		}
	})
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
	if len(lines) != len(want) || told != len(want) {
		t.Fatalf("%d lines, %d told: %s", len(lines), told, text)
	}
	for i := range want {
		if !strings.Contains(lines[i], `"kind":"`+want[i]) {
			t.Errorf("%s has no %s", lines[i], want[i])
		}
	}
}

// A change in a namespace is told with the name that the book has for it.
func TestOnChange(t *testing.T) {
	w := newWorld(t)
	w.write(t, "namespaces:\n  prod: {kind: etcd, endpoints: ['near:1'], namespace: n}\n")
	var told []string
	b := w.book(t, func(o *connection.Options) {
		o.OnChange = func(namespace string, c ops.Change) { told = append(told, namespace+" "+c.By+" "+string(c.Action)) }
	})
	o, err := b.Ops(t.Context(), "prod")
	if err != nil {
		t.Fatal(err)
	}
	if err := o.By("anna").Note(t.Context(), ops.ActionPause, "", "", ""); err != nil || len(told) != 1 || told[0] != "prod anna pause" {
		t.Errorf("%q, %v", told, err)
	}
}
