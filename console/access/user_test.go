package access

import (
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"
)

// Whatever is changed in whatever order: who was refused has changed nothing, an admin stays, and what is written can
// be read.
func TestUsersChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := &Users{Users: map[string]*User{"a": {Grants: []Grant{everything}}}}
		user := rapid.SampledFrom([]string{"a", "b", "c", "d!"})
		token := rapid.SampledFrom([]string{"t", "u", "-"})
		document := func() string {
			text, err := yaml.Marshal(u)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		written := document()
		step := func(do func() error) {
			before, err := written, do()
			if written = document(); err != nil && written != before {
				t.Fatalf("%v, and yet it was changed from\n%s\nto\n%s", err, before, written)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				name, grants := user.Draw(t, "name"), someGrants.Draw(t, "grants")
				step(func() error { return u.Add(name, "", grants) })
			},
			"remove":  func(t *rapid.T) { name := user.Draw(t, "name"); step(func() error { return u.Remove(name) }) },
			"disable": func(t *rapid.T) { name := user.Draw(t, "name"); step(func() error { return u.Disable(name, true) }) },
			"enable":  func(t *rapid.T) { name := user.Draw(t, "name"); step(func() error { return u.Disable(name, false) }) },
			"end":     func(t *rapid.T) { name := user.Draw(t, "name"); step(func() error { return u.EndSessions(name) }) },
			"no password": func(t *rapid.T) {
				name := user.Draw(t, "name")
				step(func() error { return u.SetPassword(name, "short") })
			},
			"grant": func(t *rapid.T) {
				name, grants := user.Draw(t, "name"), someGrants.Draw(t, "grants")
				step(func() error { return u.SetGrants(name, grants) })
			},
			"token": func(t *rapid.T) {
				name, of, life := token.Draw(t, "token"), user.Draw(t, "name"), rapid.SampledFrom([]time.Duration{0, Never, time.Hour, -2}).Draw(t, "life")
				step(func() error { _, err := u.AddToken(of, name, nil, life); return err })
			},
			"revoke": func(t *rapid.T) {
				name, of := token.Draw(t, "token"), user.Draw(t, "name")
				step(func() error { return u.RevokeToken(of, name) })
			},
			"": func(t *rapid.T) {
				if !u.hasAdmin() {
					t.Fatalf("nobody is left:\n%s", written)
				}
				read, err := decodeUsers([]byte(written))
				if err != nil {
					t.Fatalf("%v\n%s", err, written)
				}
				if again, err := yaml.Marshal(read); err != nil || string(again) != written {
					t.Fatalf("%v: it is read as\n%s\nand was\n%s", err, again, document())
				}
			},
		})
	})
}
