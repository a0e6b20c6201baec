package zk_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
)

func identity(t testing.TB, digest string) zk.Identity {
	t.Helper()
	i, err := zk.DigestIdentity(digest)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestACLsAreReadAsTheyAreWritten(t *testing.T) {
	some := []zk.Identity{zk.Everybody(), identity(t, "a:1"), identity(t, "b:x:y"), {Scheme: "ip", ID: "10.0.0.0/8"}, {Scheme: "x509", ID: "CN=jobs"}, {Scheme: "ip", ID: "fe80::1"}}
	rapid.Check(t, func(t *rapid.T) {
		var acl zk.ACL
		for range rapid.IntRange(1, 5).Draw(t, "entries") {
			acl = append(acl, zk.Entry{Identity: rapid.SampledFrom(some).Draw(t, "identity"), Permissions: zk.Permissions(rapid.IntRange(1, int(zk.All)).Draw(t, "permissions"))})
		}
		if got, err := zk.ParseACL(acl.String()); err != nil || !slices.Equal(got, acl) {
			t.Fatalf("%v: %v, %v", acl, got, err)
		}
	})
	// As ZooKeeper's own DigestAuthenticationProvider writes it.
	if got := (zk.Entry{Identity: identity(t, "super:test"), Permissions: zk.All}).String(); got != "digest:super:D/InIHSb7yEEbrWz8b9l71RjZJU=:cdrwa" {
		t.Errorf("got %s", got)
	}
}

func TestBadACLs(t *testing.T) {
	for _, text := range []string{
		"", ",", "world", "world:anyone", "world:anyone:", "world:anyone:x", "world:anyone:r,", "world:anna:r", "auth::cdrwa", "auth:me:r",
		"digest:reader:r", "digest:reader:secret:r", "digest::D/InIHSb7yEEbrWz8b9l71RjZJU=:r", "digest:super:D/InIHSb7yEEbrWz8b9l71RjZJU=", ":x:r", "ip::r", "ip:a b:r",
	} {
		if acl, err := zk.ParseACL(text); !errors.Is(err, coord.ErrInvalidConfig) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, %v", text, acl, err)
		}
	}
}

// Nodes have the creator's users, those of OtherDigests too, and whom it grants something; also
// after the connection was replaced.
func TestGrantsAndOtherUsers(t *testing.T) {
	link := newLink(t, sharedServer(t))
	a, b, reader := identity(t, "a:1"), identity(t, "b:2"), identity(t, "reader:3")
	r := dial(t, zk.Config{Servers: []string{link.Addr()}, Digest: "a:1", OtherDigests: []string{"b:2"}, Grants: zk.ACL{{Identity: reader, Permissions: zk.Read}}})
	commit(t, r, coord.Create("a/b", []byte("v")), coord.CreateEphemeral("e", nil))
	alone := dial(t, zk.Config{Digest: "b:2"})
	commit(t, alone, coord.Create("b", nil))
	link.Cut()
	link.Heal()
	if _, err := r.Get(t.Context(), "b"); err != nil { // on the next connection
		t.Error(err)
	}
	commit(t, r, coord.Create("a/c", nil), coord.Set("b", nil))
	reads := dial(t, zk.Config{Digest: "reader:3"})
	if n, err := reads.Get(t.Context(), "a/b"); err != nil || string(n.Value) != "v" {
		t.Errorf("a reader's read: %+v, %v", n, err)
	}
	_, err := reads.Commit(t.Context(), coord.Set("a/b", nil))
	wantErr(t, err, coord.ErrDenied, "a/b")

	owner := session(t, r).ID()
	seen := map[string]zk.Guarded{}
	for g, err := range r.ACLs(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if parent, ok := seen[coord.Parent(g.Path)]; g.Path != "" && (!ok || parent.Owner != 0) {
			t.Errorf("%s comes before its parent", g.Path)
		}
		seen[g.Path] = g
		want := map[zk.Identity]zk.Permissions{a: zk.All, b: zk.All, reader: zk.Read}
		if g.Path == "b" {
			want[a], want[reader] = 0, 0
		}
		for who, may := range want {
			if g.ACL.Of(who) != may {
				t.Errorf("%q: %v may %v, want %v", g.Path, who, g.ACL.Of(who), may)
			}
		}
	}
	if len(seen) != 6 || seen["e"].Owner != owner || seen["a/b"].Owner != 0 {
		t.Errorf("seen %+v", seen)
	}
	// Who has not Admin sees no hashes, and is told so.
	for g, err := range reads.ACLs(t.Context(), "a/b") {
		if err != nil || g.Path != "a/b" || !errors.Is(g.Denied, coord.ErrDenied) {
			t.Errorf("a reader sees %+v, %v", g, err)
		}
	}
	denied := 0
	for g, err := range dial(t, zk.Config{Digest: "reader:3"}).ACLs(t.Context(), "b") {
		if err != nil || g.Denied == nil || g.ACL != nil {
			t.Errorf("a stranger sees %+v, %v", g, err)
		}
		denied++
	}
	if denied != 1 {
		t.Errorf("a stranger sees %d nodes", denied)
	}

	at := seen["a/b"]
	err = r.SetACL(t.Context(), "a/b", zk.ACL{{Identity: a, Permissions: zk.All}}, at.Version)
	if err != nil {
		t.Error(err)
	}
	_, err = alone.Get(t.Context(), "a/b")
	wantErr(t, err, coord.ErrDenied, "a/b")
	wantErr(t, r.SetACL(t.Context(), "a/b", at.ACL, at.Version), coord.ErrVersion, "a/b")
	wantErr(t, r.SetACL(t.Context(), "none", at.ACL, 0), coord.ErrNoNode, "none")
	wantErr(t, alone.SetACL(t.Context(), "a/b", at.ACL, at.Version+1), coord.ErrDenied, "a/b")
	for _, bad := range []zk.ACL{nil, {{Identity: a}}} {
		err := r.SetACL(t.Context(), "a/b", bad, at.Version+1)
		wantErr(t, err, coord.ErrInvalidConfig, "a/b")
		if errors.Is(err, coord.ErrUnavailable) {
			t.Errorf("it was sent: %v", err)
		}
	}
	wantErr(t, r.SetACL(t.Context(), "a//b", at.ACL, 0), coord.ErrInvalidPath)
	for _, err := range r.ACLs(t.Context(), "a//b") {
		wantErr(t, err, coord.ErrInvalidPath)
	}
	for range r.ACLs(t.Context(), "none") {
		t.Error("a node that is not there has a list")
	}
}
