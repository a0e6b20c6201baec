package access

import (
	"net/http"
	"testing"
)

// What each request costs before its handler: a look at the users file's date, and a hash.
func BenchmarkAuthenticate(b *testing.B) {
	c := open(b, Options{File: usersFile(b)})
	token, _, err := c.AddToken(b.Context(), boss, "ben", "t", []Grant{{Role: Viewer}}, 0)
	if err != nil {
		b.Fatal(err)
	}
	s, err := c.Login(b.Context(), "ben", password, home)
	if err != nil {
		b.Fatal(err)
	}
	for name, r := range map[string]*http.Request{"token": ask("Authorization", "Bearer "+token), "cookie": withCookie(c, s), "basic": basic("ben", password)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Authenticate(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What a log-in costs, nearly all of it the hash.
func BenchmarkLogin(b *testing.B) {
	c := open(b, Options{File: usersFile(b)})
	for b.Loop() {
		clear(c.kept)
		if _, err := c.Login(b.Context(), "ben", password, home); err != nil {
			b.Fatal(err)
		}
	}
}
