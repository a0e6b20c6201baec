package oidc

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestUserName(t *testing.T) {
	for _, tt := range []struct{ document, claim, want string }{
		{`{"email":"a@b","email_verified":true}`, "email", "oidc:a@b"},
		{`{"email":"a@b","email_verified":"true"}`, "email", "oidc:a@b"},
		{`{"email":"a@b","email_verified":false}`, "email", ""},
		{`{"email":"a@b","email_verified":1}`, "email", ""},
		{`{"email":"a@b","email_verified":null}`, "email", ""},
		{`{"email":"a@b"}`, "email", ""},
		{`{"name":"Anna Müller"}`, "name", "oidc:Anna Müller"},
		{`{"name":""}`, "name", ""},
		{`{"name":null}`, "name", ""},
		{`{"name":7}`, "name", ""},
		{`{"name":" a"}`, "name", ""},
		{`{"name":"a\u0000"}`, "name", ""},
		{`{"name":"a\u202eb"}`, "name", ""},
		{`{"name":"a\u200bb"}`, "name", ""},
		{`{"name":"a\ufffdb"}`, "name", "oidc:a\ufffdb"},
		{`{"name":"` + strings.Repeat("x", 195) + `"}`, "name", Prefix + strings.Repeat("x", 195)},
		{`{"name":"` + strings.Repeat("x", 196) + `"}`, "name", ""},
		{`{"name":"a (token b)"}`, "name", ""},
		{`{}`, "name", ""},
	} {
		var c claims
		if err := json.Unmarshal([]byte(tt.document), &c); err != nil {
			t.Fatal(err)
		}
		got, err := userName(c, tt.claim)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s of %s = %q, %v, want %q", tt.claim, tt.document, got, err, tt.want)
		}
	}
}

func TestUserGroups(t *testing.T) {
	for _, tt := range []struct {
		document string
		want     []string
		bad      bool
	}{
		{`{"groups":["a","b"]}`, []string{"a", "b"}, false},
		{`{"groups":"a b"}`, []string{"a b"}, false},
		{`{"groups":[]}`, nil, false},
		{`{"groups":null}`, nil, false},
		{`{}`, nil, false},
		{`{"groups":[1]}`, nil, true},
		{`{"groups":{"a":"b"}}`, nil, true},
	} {
		var c claims
		if err := json.Unmarshal([]byte(tt.document), &c); err != nil {
			t.Fatal(err)
		}
		got, err := userGroups(c, "groups")
		if !slices.Equal(got, tt.want) || (err != nil) != tt.bad {
			t.Errorf("%s: %q, %v, want %q", tt.document, got, err, tt.want)
		}
	}
}
