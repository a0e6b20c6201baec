package oidc

import (
	"net/url"
	"strings"
	"testing"
)

func TestBackPath(t *testing.T) {
	for _, tt := range []struct{ text, home, want string }{
		{"", "/", "/"},
		{"", "/jobs/", "/jobs/"},
		{"/a?b=//c#d", "/", "/a?b=//c#d"},
		{"/", "/", "/"},
		{"/a/../b", "/", ""},
		{"/jobs", "/jobs/", "/jobs"},
		{"/jobs/ä%20b", "/jobs/", "/jobs/ä%20b"},
		{"/jobsx", "/jobs/", ""},
		{"/jobs/..", "/jobs/", ""},
		{"/%2e/jobs", "/jobs/", ""},
		{"/a//../jobs", "/jobs/", ""},
		{"/a%2f../jobs", "/jobs/", ""},
		{"//evil", "/", ""},
		{"/\\evil", "/", ""},
		{"/\t/evil", "/", ""},
		{"https:evil", "/", ""},
		{"evil", "/", ""},
		{"/%zz", "/", ""},
		{"/\xff", "/", ""},
	} {
		got, err := backPath(tt.text, tt.home)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q below %s = %q, %v, want %q", tt.text, tt.home, got, err, tt.want)
		}
	}
}

// Whatever path comes out, a browser stays on the host, and below home.
func FuzzBackPath(f *testing.F) {
	for _, seed := range []string{"/jobs/a", "//a", "/\\a", "/jobs/%2e%2e/%2e%2e//a", "/jobs/..;/a", "/jobs/%5c..", "/jobs/?a=//b", "/jobs/%09/a"} {
		f.Add(seed)
	}
	base, err := url.Parse("https://console.example/x")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := backPath(text, "/jobs/")
		if err != nil {
			return
		}
		// As a browser does it: tabs and line ends go, \ is /.
		path = strings.ReplaceAll(strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(path), `\`, "/")
		u, err := base.Parse(path)
		if err != nil || u.Scheme != "https" || u.Host != "console.example" || u.Path != "/jobs" && !strings.HasPrefix(u.Path, "/jobs/") {
			t.Errorf("%q leads to %v (%v)", text, u, err)
		}
	})
}
