// Package veil hides secrets in configurations of jobs. Ours have none: a property refers to a secret
// (package property). But documents that ElasticJob has written have them in clear text: the password of
// a mail server, the token in the URL of a robot.
//
//	document of the registry ── Document ──▶ what is shown ── a user changes it ── Restore ──▶ document to be written
//
// It is names that tell a secret (email.password, dingtalk.secret, wechat.webhook), and in values the
// password of a URL or a data source, parameters with such names, and the paths of messengers' robots. A secret that is
// put back as *** goes where it went before: [Restore]. What a program of one's own has under a name that
// says nothing is shown, as are jobParameter and the parameters of items. Values that are references and
// nothing else, ${env:NAME}, are shown.
package veil

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// Veil is what stands for a secret.
const Veil = "***"

const words = `passw(?:or)?d|passwd|pwd|passphrase|secret|token|credential|webhook|api[._-]?key|access[._-]?key|private[._-]?key|authorization|cookie`

var (
	// With what distinguishes one from another: password.old, token_2, tls_key_pem.
	secretName = regexp.MustCompile(`(?i)(?:(?:` + words + `)[a-z0-9]*(?:[._-](?:old|new|prev|previous|next|current|backup|bak|pem|[0-9]+))*|[._-]pem)$`)
	// A line with such a name, for a document that cannot be read.
	secretLine = regexp.MustCompile(`(?im)^([^:=\n]*(?:` + words + `)[^:=\n]*[:=]).*$`)
	// user:password@ behind the scheme of a URL.
	secretUser = regexp.MustCompile(`(://[^\s/?#@:]*:)[^\s/?#]*@`)
	// user:password@ of a data source of MySQL: user:password@tcp(host:3306)/database.
	secretSource = regexp.MustCompile(`(^|[\s"'=,;])([^\s:@/?#"'=,;]+:)[^\s]*@([a-z0-9]*\()`)
	// A token that stands for the user: https://token@host.
	secretOnly = regexp.MustCompile(`(?i)(https?://)[^\s/?#@:]+@`)
	// The path of a robot of a messenger is its secret.
	secretPath = regexp.MustCompile(`(?i)(//(?:hooks\.slack(?:-gov)?\.com/|discord(?:app)?\.com/api/webhooks/|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/|api\.telegram\.org/bot|[\w.-]+\.webhook\.office\.com/))[^\s"'?#]+`)
	// A parameter of a URL, or of a data source.
	secretParameter = regexp.MustCompile(`(?i)([?&;\s][\w.-]*(?:` + words + `|key|sign|signature)=)[^&;\s]+`)
	// The same in the parentheses of a JDBC URL of MySQL: jdbc:mysql://(host=h,password=p)/d, address=(password=p).
	secretInParentheses = regexp.MustCompile(`(?i)([(,]\s*[\w.-]*(?:` + words + `)=)[^,()\s]+`)
	// jdbc:oracle:thin:user/password@//h/d.
	secretOracle = regexp.MustCompile(`(?i)(jdbc:oracle:\w+:[^\s/@]*/)[^\s@]*@`)
	// A member of JSON, in a document that cannot be read.
	secretMember = regexp.MustCompile(`(?i)("[^"\n]*(?:` + words + `)[a-z0-9]*"\s*:\s*)(?:"(?:[^"\\\n]|\\.)*"?|[^",}\]\s][^,}\]\n]*)`)
	// References, and nothing beside them.
	references = regexp.MustCompile(`^(?:\$\{[a-z]+:[^{}]*\})+$`)
)

// maxWrong bounds how many faults of a document are told.
const maxWrong = 10

const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle

// Value returns the value of a property as it is shown.
func Value(name, value string) string { return shown(secretName.MatchString(name), value) }

func shown(isSecret bool, value string) string {
	switch {
	case value == "" || references.MatchString(value):
		return value
	case isSecret:
		return Veil
	}
	return within(value)
}

// within hides the secrets that stand within a value: those of URLs.
func within(value string) string {
	value = secretUser.ReplaceAllString(value, "${1}"+Veil+"@")
	value = secretSource.ReplaceAllString(value, "${1}${2}"+Veil+"@${3}")
	value = secretOnly.ReplaceAllString(value, "${1}"+Veil+"@")
	value = secretPath.ReplaceAllString(value, "${1}"+Veil)
	value = secretOracle.ReplaceAllString(value, "${1}"+Veil+"@")
	value = secretInParentheses.ReplaceAllString(value, "${1}"+Veil)
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
		return Text(text)
	}
	hidden := false
	each(root, &place{}, func(at *place, n *yaml.Node) {
		if text := shown(at.isSecret, n.Value); text != n.Value {
			n.Tag, n.Value, n.Style = "!!str", text, n.Style&quoted
			hidden = true
		}
	})
	if !hidden {
		return text
	}
	document, err := encode(root)
	if err != nil {
		return Text(text)
	}
	return string(document)
}

// Text returns a text that is no document as it is shown: what is wrong with one may quote it.
func Text(text string) string {
	text = secretMember.ReplaceAllString(text, `${1}"`+Veil+`"`)
	text = secretLine.ReplaceAllString(text, "${1} "+Veil)
	return within(text)
}

// place is where a value stands in a document. All that stands below the name of a secret has that name.
type place struct {
	up       *place
	step     string // a key, or the number of an item
	length   int    // of the path, in bytes
	isSecret bool
}

// maxPath bounds the path of a secret that can be restored, in bytes: what looks for secrets takes no longer than
// to read the document, whatever its keys are.
const maxPath = 1000

func (p *place) below(key string) *place {
	return &place{p, "." + key, p.length + 1 + len(key), p.isSecret || secretName.MatchString(key)}
}

func (p *place) item(i int) *place {
	step := fmt.Sprintf("[%d]", i)
	return &place{p, step, p.length + len(step), p.isSecret}
}

// path is empty if it is longer than maxPath.
func (p *place) path() string {
	if p.length > maxPath {
		return ""
	}
	path := make([]byte, p.length)
	for end := p.length; p.up != nil; p = p.up {
		end -= copy(path[end-len(p.step):], p.step)
	}
	return strings.TrimPrefix(string(path), ".")
}

// each visits all values of a document that are single ones. What an alias means is visited where it stands
// itself, too, but for what is not a single value: that could take for ever.
func each(n *yaml.Node, at *place, visit func(at *place, n *yaml.Node)) {
	switch n.Kind {
	case yaml.ScalarNode:
		visit(at, n)
	case yaml.AliasNode:
		if n.Alias.Kind == yaml.ScalarNode {
			visit(at, n.Alias)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			each(n.Content[i+1], at.below(n.Content[i].Value), visit)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			each(item, at.item(i), visit)
		}
	}
}

func encode(root *yaml.Node) ([]byte, error) {
	text, err := yamldoc.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("veil: %w", err)
	}
	return text, nil
}
