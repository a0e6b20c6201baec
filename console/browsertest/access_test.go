package browsertest

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/console/client"
	"github.com/elasticjob-go/elasticjob/job"
)

// clientOf returns a client of the API.
func clientOf(t *testing.T, o client.Options) *client.Client {
	t.Helper()
	o.HTTP = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // nothing is left of it
	c, err := client.New(town.Start(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func asUser(t *testing.T, name string) *client.Client {
	t.Helper()
	return clientOf(t, client.Options{Name: name, Password: world.Password})
}

// addUser adds a user of a test's own.
func addUser(t *testing.T, name string, grants ...access.Grant) {
	t.Helper()
	browser.Require(t)
	if _, _, err := asUser(t, world.Admin).AddUser(t.Context(), client.NewUser{Name: name, Password: world.Password, Grants: grants}); err != nil {
		t.Fatal(err)
	}
	removeUser(t, name)
}

// removeUser removes a user at the end of a test, if he is still there.
func removeUser(t *testing.T, name string) {
	t.Helper()
	admin := asUser(t, world.Admin)
	t.Cleanup(func() {
		if err := admin.RemoveUser(context.Background(), name); err != nil && !errors.Is(err, access.ErrNoUser) {
			t.Error(err)
		}
	})
}

// grantsOf returns the grants that a user has.
func grantsOf(t *testing.T, name string) []access.Grant {
	t.Helper()
	u, _, err := asUser(t, world.Admin).GetUser(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return u.Grants
}

var quickJobs = access.Grant{Role: access.Viewer, Namespaces: []string{world.Namespace}, Jobs: []string{"quick*"}}

// A token is shown once, can do what it is given and no more than its user, and nothing when it is revoked.
func TestToken(t *testing.T) {
	t.Parallel()
	const user = "tokens-tom"
	addUser(t, user, quickJobs)
	tab := enter(t, user, "/account")
	tab.See("Viewer jobs quick* in " + world.Namespace)
	tab.See("There is no token yet.")

	tab.Click("button", "New token")
	tab.Fill("Name", "deploy")
	tab.Choose("Counts for", "7 days")
	tab.Click("checkbox", "It may do less than its user")
	tab.Fill("Namespaces", "*")
	tab.Fill("Jobs", "*")
	tab.Expect("POST /api/v1/me/tokens: 422")
	tab.Click("button", "Make it")
	tab.See("you have not got this yourself")
	audit(t, tab, "a token that is refused")
	tab.Fill("Namespaces", world.Namespace)
	tab.Fill("Jobs", "quick-1")
	tab.Click("button", "Make it")
	tab.See("This is the only time that the token is shown.")
	by := clientOf(t, client.Options{Token: tab.Text("#token")})
	me, err := by.GetMe(t.Context())
	want := []access.Grant{{Role: access.Viewer, Namespaces: []string{world.Namespace}, Jobs: []string{"quick-1"}}}
	if err != nil || me.Name != user+" (token deploy)" || !reflect.DeepEqual(me.Within, want) {
		t.Errorf("the token is of %+v, %v", me, err)
	}

	tab.Click("button", "I have copied it")
	tab.NotSee("This is the only time that the token is shown.")
	tab.See("Viewer jobs quick-1 in " + world.Namespace)
	tab.Click("button", "Revoke token deploy")
	tab.Click("button", "Revoke")
	tab.See("There is no token yet.")
	if _, err := by.GetMe(t.Context()); !errors.Is(err, client.ErrNotLoggedIn) {
		t.Errorf("the token that was revoked: %v", err)
	}
}

// A new password needs the old one, and ends the sessions that there are.
func TestChangePassword(t *testing.T) {
	t.Parallel()
	const user, next = "password-pat", "some quite other words"
	addUser(t, user, quickJobs)
	tab := enter(t, user, "/account")
	other := enter(t, user, "/account")
	tab.Click("button", "Change password")
	tab.Fill("Password until now", "this is another one")
	tab.Fill("New password", next)
	tab.Fill("New password again", next+"!")
	tab.See("This is not the same.")
	tab.Fill("New password again", next)
	tab.Expect("PUT /api/v1/me/password: 422")
	tab.Click("button", "Set the password")
	tab.See("this is not your password")
	tab.Fill("Password until now", world.Password)
	tab.Expect("GET /account: 401")
	tab.Click("button", "Set the password")
	tab.WaitFor("document.querySelector('.login #password')")
	other.Expect("GET /account: 401")
	other.Allow("GET /api/v1/me") // as it asks from time to time
	other.Open("/account")
	other.WaitFor("document.querySelector('.login #password')")

	tab.Fill("Name", user)
	tab.Fill("Password", next)
	tab.Click("button", "Log in")
	tab.WaitFor("document.querySelector('#logout')")
	at(t, tab, "/account")
}

// Who ends a session of his elsewhere is logged out there. He logs in over the page, and what was typed in it is saved; whoever
// else logs in gets a page of his own.
func TestEndSession(t *testing.T) {
	t.Parallel()
	const user = "sessions-sue"
	addUser(t, user, access.Grant{Role: access.Admin, Namespaces: []string{"*"}, Jobs: []string{"*"}})
	there, j := configure(t, user, "settings", job.Config{Name: "session-ends", Cron: "0 0 3 * * ?", ShardingTotalCount: 1})
	there.Fill("Description", "typed before")
	there.See("1 setting is changed")
	here := enter(t, user, "/account")
	there.Allow(": 401")
	here.Click("button", "End the session at 127.0.0.1")
	here.See("End the session at 127.0.0.1 done.")
	here.See("this one")

	there.See("Your session has ended")
	audit(t, there, "a session that has ended")
	there.Press("Escape")
	there.Fill("Password", "not the password")
	there.Click("button", "Log in")
	there.See("Name or password is wrong.")
	there.Fill("Password", world.Password)
	there.Click("button", "Log in")
	there.NotSee("Your session has ended")
	there.Click("button", "Review and save")
	there.Click("button", "Save")
	there.See("The configuration is saved.")
	if c, _ := configOf(t, j); c.Description != "typed before" {
		t.Errorf("the configuration is %+v", c)
	}

	there.WaitFor(`fetch("/api/v1/login", {method: "POST", headers: {"Content-Type": "application/json"}, body: '{"name": "` + world.Viewer + `", "password": "` + world.Password + `"}'}).then((r) => r.ok)`)
	there.ComeBack()
	there.WaitFor(`document.querySelector(".who a").textContent === "` + world.Viewer + `"`)
}

// An admin adds a user, gives and takes rights, disables and removes him; what he sees he gets.
func TestUsers(t *testing.T) {
	t.Parallel()
	const user = "users-ulf"
	tab := enter(t, world.Admin, "/users")
	removeUser(t, user)
	tab.See(world.Operator)
	tab.Click("button", "Add a user")
	tab.Fill("Name", user)
	tab.Fill("Password", "short")
	tab.Choose("Role", "Operator")
	tab.Fill("Namespaces", "shop, test*")
	tab.Fill("Jobs", "op-*")
	tab.See("No namespace that you see here is called test*:")
	tab.Expect("POST /api/v1/users: 422")
	tab.Click("button", "Add")
	tab.See("allowed are 12 to 256")
	tab.Fill("Password", world.Password)
	tab.Click("button", "Add")
	tab.WaitFor("document.querySelector('#heading').textContent === '" + user + "' && document.querySelector('.grant')")
	want := []access.Grant{{Role: access.Operator, Namespaces: []string{"shop", "test*"}, Jobs: []string{"op-*"}}}
	if got := grantsOf(t, user); !reflect.DeepEqual(got, want) {
		t.Errorf("he has got %v", got)
	}

	tab.Fill("Jobs", "")
	tab.See("Needed: * alone stands for all.")
	tab.Expect("PUT /api/v1/users/" + user + ": 422")
	tab.Click("button", "Save") // an empty field grants nothing
	tab.See("body.grants[0].jobs")
	tab.Fill("Jobs", world.Quick)
	tab.Click("button", "Which jobs are these now?")
	tab.WaitFor("/^" + world.Namespace + ": 1 of \\d+ jobs: " + world.Quick + "$/.test(document.querySelector('.grant-preview li')?.innerText)")
	audit(t, tab, "jobs of a right")
	tab.Fill("Jobs", "*")
	tab.WaitFor("!document.querySelector('.grant-preview').open")
	refuses(t, tab, "Save")
	tab.Click("button", "Save")
	tab.NotSee("Undo")
	want[0].Jobs = []string{"*"}
	if got := grantsOf(t, user); !reflect.DeepEqual(got, want) {
		t.Errorf("he has %v now", got)
	}

	tab.Click("button", "Disable")
	tab.See("neither password nor tokens work")
	tab.WaitFor("document.querySelector('dialog button.danger').textContent === 'Disable'")
	tab.Press("Escape")
	tab.NotSee("neither password nor tokens work")
	if _, err := asUser(t, user).GetMe(t.Context()); err != nil {
		t.Errorf("nothing was asked for, and yet: %v", err)
	}
	tab.Click("button", "Disable")
	tab.WaitFor("document.querySelector('dialog button.danger').click() ?? true")
	tab.See("disabled")
	tab.Click("button", "Enable")
	tab.See("Enable " + user + " done.")
	if _, err := asUser(t, user).GetMe(t.Context()); err != nil {
		t.Errorf("who is enabled: %v", err)
	}

	tab.Emulate(360, 640, true, "zh-CN")
	tab.Open("/users?user=" + user)
	tab.See("添加权限")
	audit(t, tab, "a user")
	tab.Click("button", "移除")
	tab.WaitFor("document.querySelector('dialog button.danger').click() ?? true")
	tab.WaitFor("location.search === '' && document.querySelector('#page table')")
	if _, _, err := asUser(t, world.Admin).GetUser(t.Context(), user); !errors.Is(err, access.ErrNoUser) {
		t.Errorf("who was removed: %v", err)
	}
}

// Who saves rights that somebody else has changed meanwhile sees these first, and decides.
func TestRightsConflict(t *testing.T) {
	t.Parallel()
	const user = "conflict-cora"
	addUser(t, user, quickJobs)
	tab := enter(t, world.Admin, "/users?user="+user)
	tab.Fill("Jobs", "mine-*")
	theirs := access.Grant{Role: access.Operator, Namespaces: []string{"*"}, Jobs: []string{"theirs-*"}}
	if _, _, err := asUser(t, world.Admin).SetUser(t.Context(), user, client.UserRights{Grants: []access.Grant{theirs}}, client.Any); err != nil {
		t.Fatal(err)
	}
	tab.Expect("PUT /api/v1/users/" + user + ": 412")
	tab.Click("button", "Save")
	tab.See("Operator jobs theirs-* in every namespace")
	if got := grantsOf(t, user); !reflect.DeepEqual(got, []access.Grant{theirs}) {
		t.Errorf("before anything was decided: %v", got)
	}
	audit(t, tab, "a conflict")
	tab.Click("button", "Save mine in its place")
	tab.NotSee("theirs-*")
	if got := grantsOf(t, user); len(got) != 1 || !reflect.DeepEqual(got[0].Jobs, []string{"mine-*"}) {
		t.Errorf("after mine was saved: %v", got)
	}
}

// A namespace is tried before it is saved; who changes what somebody else has changed sees that first.
func TestConnections(t *testing.T) {
	t.Parallel()
	const name = "connections-new"
	tab := enter(t, world.Admin, "/connections")
	admin := asUser(t, world.Admin)
	given, _, err := admin.GetNamespaceConnection(t.Context(), world.Empty)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := admin.RemoveNamespaceConnection(context.Background(), name, client.Any); err != nil && !errors.Is(err, client.ErrNoNamespace) {
			t.Error(err)
		}
	})
	tab.Click("button", "Add a namespace")
	tab.Fill("Name", name)
	tab.Fill("Servers", "nowhere")
	tab.Fill("Namespace in the store", "some/jobs")
	tab.Click("button", "Test")
	tab.See("Something of this is not allowed.")
	tab.Fill("Servers", given.Endpoints[0])
	tab.Click("button", "Test")
	tab.See("It answers, in ")
	tab.Choose("History", "history")
	tab.See("Namespace " + world.Namespace + " has this database, too.")
	refuses(t, tab, "Save")
	tab.Click("button", "Save")
	tab.See("Add a namespace done.")
	tab.See("some/jobs")
	got, etag, err := admin.GetNamespaceConnection(t.Context(), name)
	if err != nil || got.Namespace != "some/jobs" || got.Database != "history" || len(got.Endpoints) != 1 {
		t.Errorf("saved is %+v, %v", got, err)
	}

	tab.Click("button", "Actions: "+name)
	tab.Click("button", "Edit")
	tab.Fill("Namespace in the store", "mine")
	theirs := client.NamespaceConnectionBody{Kind: client.NamespaceConnectionBodyKind(got.Kind), Endpoints: got.Endpoints, Namespace: "theirs"}
	if _, _, err := admin.PutNamespaceConnection(t.Context(), name, theirs, etag); err != nil {
		t.Fatal(err)
	}
	tab.Expect("PUT /api/v1/connections/namespaces/" + name + ": 412")
	tab.Click("button", "Save")
	tab.See("namespace: theirs")
	tab.Click("button", "Save")
	tab.See("Connection " + name + " done.")
	if got, _, err = admin.GetNamespaceConnection(t.Context(), name); err != nil || got.Namespace != "mine" {
		t.Errorf("saved is %+v, %v", got, err)
	}

	tab.Click("button", "Actions: "+name)
	tab.Click("button", "Remove")
	tab.See("Its jobs go on.")
	tab.WaitFor("document.querySelector('dialog button.danger').click() ?? true")
	tab.See("Remove connection " + name + " done.")
	if _, _, err := admin.GetNamespaceConnection(t.Context(), name); !errors.Is(err, client.ErrNoNamespace) {
		t.Errorf("after the removal: %v", err)
	}
}

// Whose log-ins have failed too often is told how long to wait, and can go on then.
func TestLogInHasToWait(t *testing.T) {
	t.Parallel()
	tab := visit(t, "/")
	tab.Eval(`void (() => {
		const begun = Date.now();
		window.passed = 0;
		Date.now = () => begun + window.passed;
		window.fetch = async () => new Response('{"code": "limited", "status": 429, "detail": "later"}',
			{status: 429, headers: {"Content-Type": "application/problem+json", "Retry-After": "120"}});
	})()`, new(any))
	tab.Fill("Name", world.Viewer)
	tab.Fill("Password", "not the password")
	tab.Click("button", "Log in")
	tab.See("Try again in 2 min.")
	tab.WaitFor("document.querySelector('.login button').ariaDisabled === 'true'")
	tab.WaitFor("window.passed = 120001")
	tab.NotSee("Try again in")
	tab.WaitFor("document.querySelector('.login button').ariaDisabled !== 'true'")
}
