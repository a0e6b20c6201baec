package oidc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// claims are what a provider says of a user, in one document.
type claims map[string]json.RawMessage

func (c claims) has(claim string) bool {
	raw, ok := c[claim]
	return ok && string(raw) != "null"
}

// text returns a claim that is a text; empty if it is none.
func (c claims) text(claim string) string {
	var text string
	_ = json.Unmarshal(c[claim], &text) // empty is the answer
	return text
}

// pick returns the first document with a claim; the last if there is none.
func pick(documents []claims, claim string) claims {
	for _, c := range documents {
		if c.has(claim) {
			return c
		}
	}
	return documents[len(documents)-1]
}

// Prefix is what names of users begin with.
const Prefix = "oidc:"

// maxName is how many bytes a name may have, as everywhere in the console.
const maxName = 200 - len(Prefix)

// userName returns the name of a user, by a claim.
func userName(c claims, claim string) (string, error) {
	var name string
	if err := json.Unmarshal(c[claim], &name); err != nil {
		return "", fmt.Errorf("claim %s: it is missing, or no text", claim)
	}
	if claim == "email" && !verified(c) {
		return "", fmt.Errorf("claim email: the provider has not verified %s", brief.Quote(name))
	}
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || name != strings.TrimSpace(name) ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == '(' || r == ')' }) { // (token …) stands behind names
		return "", fmt.Errorf("claim %s: %s; allowed are 1 to %d bytes that can be printed, without parentheses", claim, brief.Quote(name), maxName)
	}
	return Prefix + name, nil
}

// verified reports whether the e-mail address belongs to the user. AWS Cognito writes a text.
func verified(c claims) bool {
	raw := string(c["email_verified"])
	return raw == "true" || raw == `"true"`
}

// userGroups returns the groups of a user, by a claim.
func userGroups(c claims, claim string) ([]string, error) {
	if !c.has(claim) {
		return nil, nil
	}
	var groups []string
	if json.Unmarshal(c[claim], &groups) == nil {
		return groups, nil
	}
	var group string
	if err := json.Unmarshal(c[claim], &group); err != nil {
		return nil, fmt.Errorf("claim %s: it is no list of texts", claim)
	}
	return []string{group}, nil
}

// grantsOf returns the grants of all groups, each once.
func grantsOf(groups []string, byGroup map[string][]access.Grant) []access.Grant {
	var all []access.Grant
	groups = slices.Clone(groups)
	slices.Sort(groups)
	for _, group := range slices.Compact(groups) {
		all = append(all, byGroup[group]...)
	}
	return all
}
