// Package veil hides secrets in configurations of jobs. Ours have none: a property refers to a secret
// (package property). But documents that ElasticJob has written have them in clear text: the password of
// a mail server, the token in the URL of a robot.
//
//	document of the registry ── Document ──▶ what is shown ── a user changes it ── Restore ──▶ document to be written
//
// It is names that tell a secret (email.password, dingtalk.secret, wechat.webhook), and in values the
// password of a URL, and parameters with such names. What a program of one's own has under a name that
// says nothing is shown, as are jobParameter and the parameters of items. References, ${env:NAME}, are shown.
package veil

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// Veil is what stands for a secret.
const Veil = "***"

const words = `passw(?:or)?d|passwd|pwd|passphrase|secret|token|credential|webhook|api[._-]?key|access[._-]?key|private[._-]?key|authorization|cookie`

var (
	secretName = regexp.MustCompile(`(?i)(?:` + words + `)[a-z0-9]*$`)
	// A line with such a name, for a document that cannot be read.
	secretLine = regexp.MustCompile(`(?im)^([^:=\n]*(?:` + words + `)[^:=\n]*[:=]).*$`)
	// user:password@ behind the scheme of a URL.
	secretUser = regexp.MustCompile(`(://[^\s/?#@:]*:)[^\s/?#]*@`)
	// A parameter of a URL, or of a data source.
	secretParameter = regexp.MustCompile(`(?i)([?&;\s][\w.-]*(?:` + words + `|key|sign|signature)=)[^&;\s]+`)
)

const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle

// Value returns the value of a property as it is shown.
func Value(name, value string) string {
	switch {
	case value == "" || strings.Contains(value, "${"):
		return value
	case secretName.MatchString(name):
		return Veil
	}
	value = secretUser.ReplaceAllString(value, "${1}"+Veil+"@")
	return secretParameter.ReplaceAllString(value, "${1}"+Veil)
}

// Keys hides the secrets among the keys of a configuration.
func Keys[M ~map[string]any](keys M) {
	for name, value := range keys {
		switch value := value.(type) {
		case string:
			keys[name] = Value(name, value)
		case map[string]any:
			Keys(value)
		case M:
			Keys(value)
		}
	}
}

// Document returns a document of a configuration as it is shown. One without secrets is the same, byte
// for byte; one that cannot be read loses the lines that may have some.
func Document(text string) string {
	root, err := yamldoc.Root([]byte(text))
	if err != nil {
		return lines(text)
	}
	hidden := false
	each(root, "", "", func(_, name string, n *yaml.Node) {
		if shown := Value(name, n.Value); shown != n.Value {
			n.Tag, n.Value, n.Style = "!!str", shown, n.Style&quoted
			hidden = true
		}
	})
	if !hidden {
		return text
	}
	shown, err := encode(root)
	if err != nil {
		return lines(text)
	}
	return string(shown)
}

func lines(text string) string {
	text = secretLine.ReplaceAllString(text, "${1} "+Veil)
	text = secretUser.ReplaceAllString(text, "${1}"+Veil+"@")
	return secretParameter.ReplaceAllString(text, "${1}"+Veil)
}

// Restore returns a document with the secrets that were hidden when it was shown: a value that is as that
// of stored is shown becomes that of stored.
//
// Errors: a *** that nothing stored belongs to, with its key; aliases beside a secret, by which it would be shown
// elsewhere. A document that cannot be read comes back as it is, for whoever says why.
func Restore(document, stored []byte) ([]byte, error) {
	if !bytes.Contains(document, []byte(Veil)) {
		return document, nil
	}
	root, err := yamldoc.Root(document)
	if err != nil {
		return document, nil
	}
	secrets := map[string]string{} // by path
	if old, err := yamldoc.Root(stored); err == nil {
		each(old, "", "", func(path, name string, n *yaml.Node) {
			if Value(name, n.Value) != n.Value {
				secrets[path] = n.Value
			}
		})
	}
	restored := false
	var wrong []error
	each(root, "", "", func(path, name string, n *yaml.Node) {
		secret, ok := secrets[path]
		switch {
		case ok && n.Value == Value(name, secret):
			n.Tag, n.Value, n.Style = "!!str", secret, n.Style&quoted
			restored = true
		case n.Value == Veil && secretName.MatchString(name):
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

// each visits all values of a document that are single ones, with their path and the name before them.
// All that stands below the name of a secret has that name. What an alias means is visited where it stands
// itself, too, but for what is not a single value: that could take for ever.
func each(n *yaml.Node, path, name string, visit func(path, name string, n *yaml.Node)) {
	switch n.Kind {
	case yaml.ScalarNode:
		visit(path, name, n)
	case yaml.AliasNode:
		if n.Alias.Kind == yaml.ScalarNode {
			visit(path, name, n.Alias)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			below := key
			if secretName.MatchString(name) {
				below = name
			}
			each(n.Content[i+1], strings.TrimPrefix(path+"."+key, "."), below, visit)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			each(item, fmt.Sprintf("%s[%d]", path, i), name, visit)
		}
	}
}

func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAlias)
}

func encode(root *yaml.Node) ([]byte, error) {
	var text bytes.Buffer
	to := yaml.NewEncoder(&text)
	to.SetIndent(2)
	if err := to.Encode(root); err != nil {
		return nil, fmt.Errorf("veil: %w", err)
	}
	return text.Bytes(), nil
}
