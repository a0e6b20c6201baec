package httpjob

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
)

// zone is a part of a URL, which says how a value is written into it.
type zone int

const (
	inUser zone = iota
	inHost
	inPath
	inQuery
)

// urlTemplate is a URL with what is put into it, and where.
type urlTemplate struct {
	template
	zones []zone
}

// parseURL takes a URL apart. Its errors do not show it: it may hold a secret.
func parseURL(text string, schemes ...string) (urlTemplate, error) {
	t, err := parseTemplate(text)
	if err != nil {
		return urlTemplate{}, err
	}
	allowed := fmt.Errorf("an absolute URL with %s is allowed", strings.Join(schemes, " or "))
	marked := t.marked()
	scheme, rest, _ := strings.Cut(marked, "://")
	if !slices.Contains(schemes, scheme) {
		return urlTemplate{}, allowed
	}
	if strings.Contains(rest, "#") {
		return urlTemplate{}, errors.New("a fragment (#…) is not allowed: it is never sent")
	}
	authority := rest[:indexOrEnd(rest, "/?")]
	start := len(marked) - len(rest)
	end := start + len(authority)
	at := start + strings.LastIndex(authority, "@")
	query := indexOrEnd(marked, "?")
	u := urlTemplate{template: t}
	for i := range len(marked) {
		if marked[i] != mark[0] {
			continue
		}
		switch {
		case i < at:
			u.zones = append(u.zones, inUser)
		case i < end:
			u.zones = append(u.zones, inHost)
		case i < query:
			u.zones = append(u.zones, inPath)
		default:
			u.zones = append(u.zones, inQuery)
		}
	}
	sample, err := url.Parse(strings.ReplaceAll(marked, mark, "1"))
	if err != nil || sample.Hostname() == "" {
		return urlTemplate{}, allowed
	}
	if _, hasPassword := sample.User.Password(); hasPassword && !u.hasSecretUser() {
		return urlTemplate{}, errors.New("its password is secret, so a reference to what the process has is allowed: ${env:NAME} or ${file:/path}")
	}
	return u, nil
}

// hasSecretUser reports whether what stands before the @ comes from the process.
func (u urlTemplate) hasSecretUser() bool {
	for i, name := range u.names {
		if u.zones[i] == inUser && (template{names: []string{name}}).isSecret() {
			return true
		}
	}
	return false
}

// isAnyHost reports whether the host depends on the execution.
func (u urlTemplate) isAnyHost() bool {
	for i, name := range u.names {
		if _, is := placeholder(job.ShardingContext{}, name); is && u.zones[i] == inHost {
			return true
		}
	}
	return false
}

func indexOrEnd(text, chars string) int {
	if i := strings.IndexAny(text, chars); i >= 0 {
		return i
	}
	return len(text)
}

// url fills a URL. Its errors do not show it.
func (f *filler) url(t urlTemplate) (*url.URL, error) {
	text, err := f.fill(t.template, func(i int, name string) (string, error) {
		value, err := f.value(name)
		if err != nil {
			return "", err
		}
		_, isPlaceholder := placeholder(f.sc, name)
		switch {
		case t.zones[i] == inHost && !isHostText(value, !isPlaceholder):
			return "", fmt.Errorf("%s has characters that a host has not: %w", brief.Quote("${"+name+"}"), errUnfit)
		case t.zones[i] == inHost:
			return value, nil
		case t.zones[i] == inPath && (value == "." || value == ".."):
			// No escape keeps servers from taking it for a step in the path.
			return "", fmt.Errorf("%s is . or .., which is not allowed in a path: %w", brief.Quote("${"+name+"}"), errUnfit)
		}
		return escape(value), nil
	})
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return nil, fmt.Errorf("it is no URL with its values: %w", errUnfit)
	}
	u.RawQuery = escapeQuery(u.RawQuery)
	return u, nil
}

// isHostText reports whether a value can stand in a host; one from the process with a port.
func isHostText(value string, withPort bool) bool {
	return !strings.ContainsFunc(value, func(r rune) bool {
		if withPort && strings.ContainsRune(":[]", r) {
			return false
		}
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._", r))
	})
}

// escapeQuery escapes what may not stand in a query at all, and was written so nevertheless.
// Without it a space would end the URL on the wire.
func escapeQuery(query string) string {
	isBad := func(c byte) bool { return c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' }
	var b strings.Builder
	for i := range len(query) {
		if isBad(query[i]) {
			b.WriteString(escape(query[i : i+1]))
		} else {
			b.WriteByte(query[i])
		}
	}
	return b.String()
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
