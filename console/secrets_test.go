package console

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// planted are secrets, by where they are planted.
type planted map[string]string

// in returns where the secrets come from that a text has.
func (p planted) in(text string) (found []string) {
	for from, secret := range p {
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			if strings.Contains(text, form) {
				found = append(found, from)
				break
			}
		}
	}
	slices.Sort(found)
	return found
}

// vault is a town full of secrets.
type vault struct {
	*town
	planted planted
}

func newVault(t *testing.T) *vault {
	t.Helper()
	v := &vault{planted: planted{
		"password of a user": password, "password of a store": "planted-zookeeper-a81c", "password of a database": "planted-postgres-5b0e",
		"client secret": clientSecret, "password in a request": "planted-in-body-9c41", "value in a query": "planted-in-query-1d2e",
		"value of a header": "planted-in-header-6e6f",
	}}
	for name, value := range props {
		v.planted["property "+name] = value
	}
	keys, err := connection.ParseKeys(connection.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	v.town = newTown(t, func(_ *Options, b *connection.Options) { b.Keys = keys })
	session, err := v.control.Login(t.Context(), "anna", password, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	v.planted["token"], v.planted["session"] = v.token, session.Value()
	book := v.o.Connections
	must(t, ignore(book.PutNamespace(t.Context(), connection.Namespace{
		Name: "sealed-store", Kind: "zookeeper", Endpoints: []string{"127.0.0.1:1"}, Path: "x", User: "ops", Password: connection.Plain(v.planted["password of a store"]),
	}, connection.NoVersion)))
	must(t, ignore(book.PutDatabase(t.Context(), connection.Database{
		Name: "sealed-database", Driver: "postgres", Address: "127.0.0.1:1", Schema: "jobs", User: "ops", Password: connection.Plain(v.planted["password of a database"]),
	}, connection.NoVersion)))
	users, err := os.ReadFile(v.usersFile)
	if err != nil {
		t.Fatal(err)
	}
	for name, pattern := range map[string]string{"hash of a password": `\$argon2id\$\S+`, "hash of a token": `hash: (\S+)`} {
		found := regexp.MustCompile(pattern).FindStringSubmatch(string(users))
		if found == nil {
			t.Fatalf("no %s in\n%s", name, users)
		}
		v.planted[name] = found[len(found)-1]
	}
	return v
}

// requests returns requests of a route: a good one, and bad ones with secrets in them.
func (v *vault) requests(r route.Route) []*http.Request {
	good := request(r, r.Method)
	bad := httptest.NewRequest(r.Method, good.URL.Path+"?password="+v.planted["value in a query"], strings.NewReader(
		`{"name":"n1","jobName":"`+orders+`","username":"u","password":"`+v.planted["password in a request"]+`","digest":"u:`+v.planted["password in a request"]+
			`","zkAddressList":"127.0.0.1:1","namespace":"n","driver":"org.postgresql.Driver","url":"jdbc:postgresql://h/d?password=`+v.planted["password in a request"]+`"}`))
	bad.Header.Set("Content-Type", "application/json")
	bad.Header.Set("X-Api-Key", v.planted["value of a header"])
	broken := httptest.NewRequest(r.Method, good.URL.Path, strings.NewReader(`{"name": `+v.planted["password in a request"]))
	broken.Header.Set("Content-Type", "application/json")
	form := httptest.NewRequest(r.Method, good.URL.Path, strings.NewReader("password="+v.planted["password in a request"]))
	form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	later := request(r, r.Method) // as ElasticJob's later UI asks
	later.Header.Set(access.TokenHeader, v.planted["session"])
	return []*http.Request{good, bad, broken, form, later}
}

// No answer ever has a secret, nor has the log.
func TestSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVault(t)
		routes := v.table.Routes()
		rank := func(r route.Route) int {
			return slices.Index([]string{"GET", "PUT", "PATCH", "POST", "DELETE"}, r.Method)
		}
		slices.SortStableFunc(routes, func(a, b route.Route) int { return rank(a) - rank(b) })
		answered := 0
		for _, r := range routes {
			for i, asked := range v.requests(r) {
				if i > 0 && r.Need.Scope == route.Open {
					continue
				}
				if asked.Header.Get(access.TokenHeader) == "" {
					asked.Header.Set("Authorization", "Bearer "+v.token)
				}
				got := v.ask(nil, asked)
				if got.Code < 300 {
					answered++
				}
				text := got.Body.String()
				for name, values := range got.Header() {
					if name != "Set-Cookie" {
						text += "\n" + name + ": " + strings.Join(values, "\n")
					}
				}
				if found := v.planted.in(text); found != nil {
					t.Errorf("%s, request %d: %q is in the answer: %d\n%s", nameOf(r), i, found, got.Code, text)
				}
			}
		}
		if found := v.planted.in(v.log.String()); found != nil {
			t.Errorf("%q is in the log:\n%s", found, v.log)
		}
		if answered < len(routes)/2 {
			t.Errorf("only %d of %d routes have answered", answered, len(routes))
		}
	})
}

// What was read of a configuration can be written back: the secrets that are hidden there stay.
func TestHiddenSecretsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		town := newTown(t)
		root := somebody("root", access.Grant{Role: access.Admin})
		path := strings.NewReplacer("{namespace}", ours, "{job}", orders).Replace(jobPath) + "/settings"
		got := town.ask(root, httptest.NewRequest(http.MethodGet, path, nil))
		var read struct {
			Document string         `json:"document"`
			Config   map[string]any `json:"config"`
		}
		must(t, json.Unmarshal(got.Body.Bytes(), &read))
		for kind, body := range map[string]any{"document": read.Document, "config": read.Config} {
			text, err := json.Marshal(map[string]any{kind: body})
			must(t, err)
			asked := httptest.NewRequest(http.MethodPut, path, strings.NewReader(strings.ReplaceAll(string(text), "2099", "2098")))
			asked.Header.Set("Content-Type", "application/json")
			asked.Header.Set("If-Match", "*")
			if got := town.ask(root, asked); got.Code != http.StatusOK {
				t.Errorf("%s: %d %s", kind, got.Code, got.Body)
			}
			node, err := town.registries[ours].Get(t.Context(), orders+"/config")
			must(t, err)
			for name, secret := range props {
				if !strings.Contains(string(node.Value), secret) || !strings.Contains(string(node.Value), "2098") {
					t.Errorf("%s: %s is lost:\n%s", kind, name, node.Value)
				}
			}
		}
	})
}

// Who sees a secret as *** does not learn by a plan that he has guessed it, and cannot have it sent to a host of his own.
func TestHiddenSecretsStayHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		town := newTown(t)
		root := somebody("root", access.Grant{Role: access.Admin})
		path := strings.NewReplacer("{namespace}", ours, "{job}", orders).Replace(jobPath)
		send := func(method, path, document string) *httptest.ResponseRecorder {
			text, err := json.Marshal(map[string]any{"document": document})
			must(t, err)
			asked := httptest.NewRequest(method, path, strings.NewReader(string(text)))
			asked.Header.Set("Content-Type", "application/json")
			asked.Header.Set("If-Match", "*")
			return town.ask(root, asked)
		}
		var read struct {
			Document string `json:"document"`
		}
		must(t, json.Unmarshal(town.ask(root, httptest.NewRequest(http.MethodGet, path+"/settings", nil)).Body.Bytes(), &read))
		for _, name := range []string{"email.password", "wechat.webhook"} {
			plan := func(secret string) string {
				document := strings.Replace(read.Document, name+": '***'", name+": '"+secret+"'", 1)
				if document == read.Document && secret != "***" {
					t.Fatalf("%s is not in:\n%s", name, document)
				}
				got := send(http.MethodPost, path+"/plan", document)
				if got.Code != http.StatusOK {
					t.Fatalf("%d %s", got.Code, got.Body)
				}
				return got.Body.String()
			}
			same, right, wrong := plan("***"), plan(props[name]), plan("https://wrong/"+props[name][1:])
			if right != wrong || right == same {
				t.Errorf("%s: a right guess is told by\n%s\na wrong one\n%s\nnone\n%s", name, right, wrong, same)
			}
		}
		got := send(http.MethodPut, path+"/settings", strings.Replace(read.Document, "email.password:", "email.host: sink\n  email.password:", 1))
		if got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.Body.String(), "props.email.host is another: give the secret itself") {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	})
}
