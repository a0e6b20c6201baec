package access

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"", "", true},
		{"*", "", true}, {"*", "anything", true},
		{"pay-*", "pay-", true}, {"pay-*", "pay-out", true}, {"pay-*", "xpay-out", false},
		{"*-nightly", "a-nightly", true}, {"*-nightly", "a-nightly2", false},
		{"a*a", "a", false}, {"a*a", "aa", true}, {"a*b*c", "aXbYc", true}, {"a*b*c", "acb", false},
		{"*a*", "bab", true}, {"*ab*ab*", "ab", false}, {"*ab*ab*", "abab", true},
		{"a.c", "abc", false}, {"[a]", "a", false},
		{strings.Repeat("*a", 100), strings.Repeat("a", 99) + "b", false},
	} {
		if got := match(tt.pattern, tt.name); got != tt.want {
			t.Errorf("match(%q, %q) = %v", tt.pattern, tt.name, got)
		}
	}
}

func TestRoleText(t *testing.T) {
	for _, r := range []Role{Viewer, Operator, Admin} {
		var back Role
		text, err := r.MarshalText()
		if err != nil || back.UnmarshalText(text) != nil || back != r {
			t.Errorf("%v: %q, %v, back %v", r, text, err, back)
		}
	}
	var r Role
	for _, bad := range []string{"", "root", "Admin"} {
		if err := r.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is read as %v", bad, r)
		}
	}
}
