package access

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseGrant(t *testing.T) {
	for text, want := range map[string]Grant{
		"viewer":                 {Role: Viewer},
		"operator:prod*:pay-*":   {Role: Operator, Namespaces: []string{"prod*"}, Jobs: []string{"pay-*"}},
		"admin:*:a,b":            {Role: Admin, Jobs: []string{"a", "b"}},
		"admin:x,y":              {Role: Admin, Namespaces: []string{"x", "y"}},
		"viewer:x:group:job,b:c": {Role: Viewer, Namespaces: []string{"x"}, Jobs: []string{"group:job", "b:c"}},
	} {
		got, err := ParseGrant(text)
		if err != nil || got.String() != want.String() || !slices.Equal(got.Namespaces, want.Namespaces) || !slices.Equal(got.Jobs, want.Jobs) || got.Role != want.Role {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if got.String() != text {
			t.Errorf("%s is written as %s", text, got)
		}
	}
	for _, bad := range []string{"", "root", "viewer:a,,b", ":a", "viewer:", "viewer::", "viewer::a", "viewer:a:", "viewer:" + strings.Repeat("x", 256)} {
		if got, err := ParseGrant(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
}

// Names and patterns are short, of few letters, so that they often fit.
var (
	aName    = rapid.StringMatching(`[ab]{0,4}`)
	aPattern = rapid.StringMatching(`[ab*]{1,5}`)
	aGrant   = rapid.Custom(func(t *rapid.T) Grant {
		return Grant{
			Role:       Role(rapid.IntRange(int(Viewer), int(Admin)).Draw(t, "role")),
			Namespaces: rapid.SliceOfN(aPattern, 0, 2).Draw(t, "namespaces"),
			Jobs:       rapid.SliceOfN(aPattern, 0, 2).Draw(t, "jobs"),
		}
	})
	someGrants = rapid.SliceOfN(aGrant, 0, 3)
)

// fits is match as a regular expression says it.
func fits(pattern, name string) bool {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$").MatchString(name)
}

func TestMatchAsRegexp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern, name := aPattern.Draw(t, "pattern"), rapid.StringMatching(`[ab]{0,8}`).Draw(t, "name")
		if got, want := match(pattern, name), fits(pattern, name); got != want {
			t.Fatalf("match(%q, %q) = %v", pattern, name, got)
		}
	})
}

// allows is May as one would write it down.
func allows(grants []Grant, role Role, namespace, job string) bool {
	some := func(patterns []string, name string) bool {
		return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return fits(p, name) })
	}
	return slices.ContainsFunc(grants, func(g Grant) bool { return g.Role >= role && some(g.Namespaces, namespace) && some(g.Jobs, job) })
}

// What a token may do is what both may, its user and it; and who may more at once may each part of that.
func TestTokenNeverMayMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		user := &Principal{Grants: someGrants.Draw(t, "user")}
		token := &Principal{Grants: user.Grants, Within: rapid.SliceOfN(aGrant, 1, 3).Draw(t, "token")}
		role := Role(rapid.IntRange(int(Viewer), int(Admin)).Draw(t, "needed"))
		namespace, job := aName.Draw(t, "namespace"), aName.Draw(t, "job")
		if got, want := user.May(role, namespace, job), allows(user.Grants, role, namespace, job); got != want {
			t.Fatalf("user: May is %v, the reference says %v", got, want)
		}
		if got, want := token.May(role, namespace, job), allows(user.Grants, role, namespace, job) && allows(token.Within, role, namespace, job); got != want {
			t.Fatalf("token: May is %v, the reference says %v", got, want)
		}
		for _, p := range []*Principal{user, token} {
			some, one, all, everywhere := p.MaySome(role, namespace), p.May(role, namespace, job), p.MayAll(role, namespace), p.MayEverywhere(role)
			if everywhere && !all || all && !one || one && !some {
				t.Fatalf("some %v, one %v, all %v, everywhere %v", some, one, all, everywhere)
			}
		}
		if token.MaySome(role, namespace) && !user.MaySome(role, namespace) || token.MayAll(role, namespace) && !user.MayAll(role, namespace) || token.MayEverywhere(role) && !user.MayEverywhere(role) {
			t.Fatal("the token may more than its user")
		}
	})
}

// Who covers a grant may do all that it allows.
func TestCovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Principal{Grants: someGrants.Draw(t, "own")}
		if rapid.Bool().Draw(t, "is a token") {
			p.Within = rapid.SliceOfN(aGrant, 1, 3).Draw(t, "within")
		}
		g := aGrant.Draw(t, "given")
		other := &Principal{Grants: []Grant{g}}
		namespace, job := aName.Draw(t, "namespace"), aName.Draw(t, "job")
		if !p.Covers(g) {
			return
		}
		for role := Viewer; role <= Admin; role++ {
			if other.May(role, namespace, job) && !p.May(role, namespace, job) || other.MayAll(role, namespace) && !p.MayAll(role, namespace) || other.MayEverywhere(role) && !p.MayEverywhere(role) {
				t.Fatalf("who is given it may be %v for %s and %s, who gives it not", role, namespace, job)
			}
		}
	})
}

// A pattern that is covered covers no more, by all names of some letters; and one that is not has a name that shows it.
func TestIncludeIsExact(t *testing.T) {
	var names []string
	var add func(string, int)
	add = func(begin string, rest int) {
		names = append(names, begin)
		if rest > 0 {
			for _, letter := range []string{"a", "b", "c"} { // c is in no pattern
				add(begin+letter, rest-1)
			}
		}
	}
	add("", 6)
	rapid.Check(t, func(t *rapid.T) {
		outer, inner := aPattern.Draw(t, "outer"), rapid.StringMatching(`[ab*]{1,4}`).Draw(t, "inner")
		want := !slices.ContainsFunc(names, func(name string) bool { return match(inner, name) && !match(outer, name) })
		if got := include([]string{outer}, []string{inner}); got != want {
			t.Fatalf("%q in %q: %v", inner, outer, got)
		}
	})
}
