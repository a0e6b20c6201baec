package target

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Place is the namespace that a command works on, as people are told of it before anything else: whoever has several
// contexts may think of another one.
type Place struct {
	// Context is the name of the context that counts; empty if flags or the environment name a store.
	Context string
	// Production is whether a context that leads there is marked so: then each change has the namespace typed.
	Production bool
	// Store and Namespace are where that is, without secrets.
	Store, Namespace string
}

// Place returns where settings lead; context is the name of those that count. It reads no password and no file.
func (s Settings) Place(context string) (Place, error) {
	t, err := s.WithoutSecrets().Target()
	if err != nil {
		return Place{}, err
	}
	t.User, t.TLS = cmp.Or(s.User, t.User), t.TLS || s.CACert != "" || s.Cert != "" || s.Key != ""
	return Place{Context: context, Production: s.Production, Store: t.address(), Namespace: t.Namespace}, nil
}

// String is one line: context dev, store etcd://127.0.0.1:2379, namespace shop.
func (p Place) String() string {
	text := fmt.Sprintf("store %s, namespace %s", p.Store, p.Namespace)
	mark := ""
	if p.Production {
		mark = " (production)"
	}
	if p.Context == "" {
		return text + mark
	}
	return fmt.Sprintf("context %s%s, %s", p.Context, mark, text)
}

// Prompt is the end of a question whether something is to be done there.
func (p Place) Prompt() string {
	if p.Production {
		return "? Type the namespace to go on: "
	}
	return "? [y/N] "
}

// Accepts reports whether an answer to that is a yes.
func (p Place) Accepts(answer string) bool {
	if p.Production {
		return answer == p.Namespace
	}
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes"
}

// Flag is --yes as it answers that.
func (p Place) Flag() string {
	if p.Production {
		return "--yes=" + p.Namespace
	}
	return "--yes"
}

// Yes is the flag --yes: that no question is to be asked, of any namespace or of the one that it names. The zero value
// says neither.
type Yes struct {
	isGiven   bool
	namespace string // empty for any
}

// Settle reports whether the flag answers a question about a place.
//
// It returns an error if the flag names another namespace, or none and that of a production context is meant.
func (y Yes) Settle(p Place) (bool, error) {
	switch {
	case y.namespace != "" && p == Place{}:
		return false, fmt.Errorf("--yes=%s: nothing of a namespace is changed here; allowed is --yes", y.namespace)
	case y.namespace != "" && y.namespace != p.Namespace:
		return false, fmt.Errorf("--yes=%s: that is another namespace; allowed is --yes=%s", y.namespace, p.Namespace)
	case p.Production && y.isGiven && y.namespace == "":
		return false, fmt.Errorf("--yes alone is not enough in a production context; allowed is %s", p.Flag())
	}
	return y.isGiven, nil
}

// Check returns what Settle refuses, with the place.
func (y Yes) Check(p Place) error {
	if _, err := y.Settle(p); err != nil {
		return fmt.Errorf("%v: %w", p, err)
	}
	return nil
}

// Set reads what stands behind --yes=; without that it is true. A namespace of the name true or false cannot be named.
func (y *Yes) Set(text string) error {
	if text == "" {
		return errors.New("it names no namespace; allowed are --yes and --yes=NAMESPACE")
	}
	*y = Yes{isGiven: text != "false"}
	if y.isGiven && text != "true" {
		y.namespace = text
	}
	return nil
}

// String writes it as Set reads it.
func (y *Yes) String() string { return cmp.Or(y.namespace, strconv.FormatBool(y.isGiven)) }

// Type is what help takes it for: a flag that needs no value.
func (y *Yes) Type() string { return "bool" }
