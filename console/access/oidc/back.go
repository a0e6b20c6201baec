package oidc

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode"
)

const maxBack = 1024 // bytes: it is in a cookie, and browsers keep 4096 of those

// backPath returns a path to go back to after a log-in: that of the console, home, if it is not said.
//
// Browsers read "//host", "/\host" and "/<tab>/host" as another host, and %2e%2e as the directory above. From "/a//.."
// and "/a%2f/.." they go elsewhere than path.Clean does, so a path is refused that it would change.
func backPath(text, home string) (string, error) {
	if text == "" {
		return home, nil
	}
	refuse := func(why string) (string, error) {
		return "", fmt.Errorf("parameter return: it %s; allowed is a path that begins with %s", why, home)
	}
	switch {
	case len(text) > maxBack:
		return refuse(fmt.Sprintf("has %d bytes of at most %d", len(text), maxBack))
	case !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//"):
		return refuse("is no path")
	case strings.ContainsFunc(text, func(r rune) bool { return r == '\\' || r == unicode.ReplacementChar || !unicode.IsPrint(r) }):
		return refuse("has characters that paths do not have")
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil {
		return refuse("is no path")
	}
	clean := strings.TrimSuffix(path.Clean(u.Path), "/") + "/"
	switch {
	case clean != strings.TrimSuffix(u.Path, "/")+"/":
		return refuse("has parts that are empty, . or ..")
	case !strings.HasPrefix(clean, home):
		return refuse("is outside of the console")
	}
	return text, nil
}
