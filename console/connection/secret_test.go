package connection_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/console/connection"
)

// However something with a secret is printed, logged or marshalled, the secret is not there.
func TestSecretIsNotShown(t *testing.T) {
	n := near("prod")
	n.User, n.Password = "ops", connection.Plain(hunter)
	d := connection.Database{Name: "history", Password: connection.Plain(hunter)}
	keys, err := connection.ParseKeys(connection.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	type hidden struct{ inner connection.Namespace } // fmt cannot call the methods of what is in it
	for _, value := range []any{
		n, &n, d, &d, n.Password, &n.Password, []connection.Namespace{n}, map[string]connection.Secret{"a": n.Password},
		hidden{n}, &hidden{n}, connection.Options{Keys: keys, Given: []connection.Given{{Namespace: n}}},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
			text := fmt.Sprintf(verb, value)
			if strings.Contains(text, hunter) || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", hunter)) {
				t.Errorf("%s of %T shows %s", verb, value, text)
			}
		}
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("a", "b", value)
		slog.New(slog.NewTextHandler(&log, nil)).Info("a", "b", value)
		document, _ := json.Marshal(value) // there are functions in options
		log.Write(document)
		if _, isOptions := value.(connection.Options); !isOptions {
			document, err := yaml.Marshal(value)
			if err != nil {
				t.Error(err)
			}
			log.Write(document)
		}
		if strings.Contains(log.String(), hunter) {
			t.Errorf("%T shows %s", value, &log)
		}
	}
	var back connection.Namespace
	document, err := json.Marshal(n)
	if err != nil || json.Unmarshal(document, &back) != nil || back.Password.Reveal() != connection.Kept().Reveal() {
		t.Errorf("%s, %v: read as %v", document, err, back.Password.Reveal())
	}
	if err := json.Unmarshal([]byte(`{"password":"`+hunter+`"}`), &back); err != nil || back.Password.Reveal() != hunter {
		t.Errorf("%v: read as %v", err, back.Password.Reveal())
	}
	if text := connection.Plain("${env:A}").String(); text != "${env:A}" {
		t.Errorf("a reference is %s", text)
	}
	if text := connection.Plain("${env:A}" + hunter).String(); text != "***" {
		t.Errorf("more than a reference is %s", text)
	}
}

// What a driver quotes of a password is not in an error.
func TestErrorsHideSecrets(t *testing.T) {
	for _, password := range []string{hunter, "a b+c/d%e", "quo\"ted\n", "p@ss:w/rd?x"} {
		w := newWorld(t)
		b := w.book(t, withKey(t))
		n := near("prod")
		n.Endpoints, n.User, n.Password = []string{"nowhere:1"}, "ops", connection.Plain(password)
		if _, err := b.PutNamespace(t.Context(), n, connection.NoVersion); err != nil {
			t.Fatal(err)
		}
		_, err := b.Ops(t.Context(), "prod")
		if err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("%q: %v", password, err)
		}
		if err := b.TestNamespace(t.Context(), n); err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("%q: test: %v", password, err)
		}
		if text := fmt.Sprintf("%+v", b.States()); strings.Contains(text, password) || !strings.Contains(text, "away") {
			t.Errorf("%q: states: %s", password, text)
		}
	}
}
