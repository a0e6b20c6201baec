package veil

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// Restore returns a document with the secrets that were hidden when it was shown: a value that is as that
// of stored is shown becomes that of stored.
//
// Errors: a *** that nothing stored belongs to, with its key; one whose destination has changed, which is a host, a URL,
// a user, or encryption, with the same name up to the last dot, or up to one before that (webhook.url of
// webhook.header.Authorization): whoever cannot see a password cannot have it sent elsewhere; aliases beside a secret,
// by which it would be shown elsewhere. A document that cannot be read comes back as it is, for whoever says why.
func Restore(document, stored []byte) ([]byte, error) {
	if !bytes.Contains(document, []byte(Veil)) {
		return document, nil
	}
	root, err := yamldoc.Root(document)
	if err != nil {
		return document, nil
	}
	secrets := secretsOf(stored)
	moved := movedFrom(stored, root)
	restored := false
	var wrong []error
	each(root, &place{}, func(at *place, n *yaml.Node) {
		if !strings.Contains(n.Value, Veil) {
			return
		}
		path := at.path()
		secret, ok := secrets[path]
		switch {
		case ok && n.Value == shown(at.isSecret, secret):
			if to := moved.of(path); to != "" && len(wrong) < maxWrong {
				wrong = append(wrong, fmt.Errorf("%s: %s stands for a secret that is stored, and %s is another: give the secret itself", brief.Text(path), Veil, brief.Text(to)))
			}
			n.Tag, n.Value, n.Style = "!!str", secret, n.Style&quoted
			restored = true
		case n.Value == Veil && at.isSecret && len(wrong) < maxWrong:
			wrong = append(wrong, fmt.Errorf("%s: %s stands for a secret that is stored, and none is", brief.Text(path), Veil))
		}
	})
	if len(wrong) > 0 || !restored {
		return document, errors.Join(wrong...)
	}
	if hasAlias(root) {
		return document, fmt.Errorf("%s stands for a secret that is stored: no alias is allowed beside it", Veil)
	}
	return encode(root)
}

// Disguise returns a document in which each secret that is as stored is another one, which is shown in the same way:
// whoever may not see a secret, and compares a document with what is stored, does not learn that he has guessed it.
// A document that cannot be read comes back as it is.
//
// Errors: aliases, by which a secret is compared that stands elsewhere.
func Disguise(document, stored []byte) ([]byte, error) {
	secrets := secretsOf(stored)
	if len(secrets) == 0 {
		return document, nil
	}
	root, err := yamldoc.Root(document)
	if err != nil {
		return document, nil
	}
	if hasAlias(root) { // whether or not there is a guess: an error must not tell
		return document, errors.New("a document with secrets that are stored cannot be compared if it has an alias")
	}
	disguised := false
	each(root, &place{}, func(at *place, n *yaml.Node) {
		secret, ok := secrets[at.path()]
		if !ok || decoded(n) != secret {
			return
		}
		other := secret + "x"
		if hidden := shown(at.isSecret, secret); hidden != Veil {
			other = strings.ReplaceAll(hidden, Veil, "x"+Veil)
		}
		n.Tag, n.Value, n.Style = "!!str", other, n.Style&quoted
		disguised = true
	})
	if !disguised {
		return document, nil
	}
	return encode(root)
}

// decoded is what a single value means; the value as it stands if that is no text.
func decoded(n *yaml.Node) string {
	var text string
	if err := n.Decode(&text); err != nil { // it is refused later
		return n.Value
	}
	return text
}

// secretsOf returns the secrets of a document, by their paths: none of one that cannot be read.
func secretsOf(document []byte) map[string]string {
	secrets := map[string]string{}
	root, err := yamldoc.Root(document)
	if err != nil {
		return secrets
	}
	each(root, &place{}, func(at *place, n *yaml.Node) {
		if shown(at.isSecret, n.Value) != n.Value {
			secrets[at.path()] = decoded(n)
		}
	})
	delete(secrets, "") // those whose path is too long
	return secrets
}

// destination is the name of what decides where a secret is sent, and how.
var destination = regexp.MustCompile(`(?i:host|ur[il]|addr|address|server|endpoint|broker|proxy|domain|user|account|ssl|tls|verify)(?i:e?s|name)?$|(?:(?i:(?:^|[._-])port)|[a-z]Port)s?$`)

// group is what the names have in common that belong together: email of email.password.
func group(path string) string { return path[:strings.LastIndexByte(path, '.')+1] }

// moved has for each group a destination that a document does not have as the stored one has it.
type moved map[string]string

// of returns a destination of a secret that has changed: in its own group, or in one around that, as far as these have
// a name of their own. What all properties have in common is no group.
func (m moved) of(path string) string {
	for of := group(path); ; {
		if to := m[of]; to != "" {
			return to
		}
		of = group(strings.TrimSuffix(of, "."))
		if strings.Count(of, ".") < 2 {
			return ""
		}
	}
}

func movedFrom(stored []byte, root *yaml.Node) moved {
	before, after := map[string]string{}, map[string]string{}
	if old, err := yamldoc.Root(stored); err == nil {
		destinations(old, before)
	}
	destinations(root, after)
	moved := moved{}
	tell := func(path string) {
		if first := moved[group(path)]; first == "" || path < first {
			moved[group(path)] = path
		}
	}
	for path, value := range before {
		if now, ok := after[path]; !ok || now != value {
			tell(path)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			tell(path)
		}
	}
	return moved
}

func destinations(root *yaml.Node, to map[string]string) {
	each(root, &place{}, func(at *place, n *yaml.Node) {
		if path := at.path(); destination.MatchString(path) {
			to[path] = shown(at.isSecret, n.Value)
		}
	})
}

func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAlias)
}
