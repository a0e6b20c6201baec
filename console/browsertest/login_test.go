package browsertest

import (
	"fmt"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
)

// Who logs in comes to what he wanted to see.
func TestLogIn(t *testing.T) {
	t.Parallel()
	for _, user := range []string{world.Admin, world.Operator, world.Viewer} {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			const about = "/about?from=here"
			tab := visit(t, about)
			logIn(tab, user)
			at(t, tab, about)
			tab.See("Logged in as " + user)
		})
	}
}

func TestLogInWithAWrongPassword(t *testing.T) {
	t.Parallel()
	tab := visit(t, "/")
	tab.Expect("POST /api/v1/login: 401")
	tab.Fill("Name", world.Viewer)
	tab.Fill("Password", "not the password")
	tab.Press("Enter")
	tab.See("Name or password is wrong.")
	logIn(tab, world.Viewer)
	tab.NotSee("Name or password is wrong.")
}

func TestLogOut(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Viewer, "/about")
	tab.Expect("GET /: 401")
	tab.Expect("GET /about: 401")
	tab.Click("button", "Log out")
	tab.WaitFor("document.querySelector('#password')")
	at(t, tab, "/")
	tab.Open("/about")
	tab.WaitFor("document.querySelector('#password')")
}

// A page that one may not see says so, and no other page leads there.
func TestPagesForAdmins(t *testing.T) {
	t.Parallel()
	for user, mayAll := range map[string]bool{world.Admin: true, world.Viewer: false} {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			tab := enter(t, user, "/about")
			if !mayAll {
				tab.NotSee("Connections")
				tab.Expect("GET /users: 403")
				tab.Open("/users")
				tab.See("An admin of the console can give you the right.")
				return
			}
			tab.Click("link", "Users")
			tab.WaitFor("location.pathname === '/users'")
			tab.See("Users and tokens")
		})
	}
}

// People choose how pages look, and in which language they are.
func TestLooks(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Viewer, "/about")
	tab.Choose("Theme", "Dark")
	tab.WaitFor("getComputedStyle(document.body).colorScheme === 'dark'")
	tab.Choose("Language", "中文")
	tab.WaitFor("document.documentElement.lang === 'zh-CN' && document.readyState === 'complete'")
	tab.WaitFor("getComputedStyle(document.body).colorScheme === 'dark'") // as before
	tab.Click("button", "退出登录")
	tab.Expect("GET /: 401")
	tab.WaitFor("document.querySelector('#password')")
}

// Everybody can use the log-in, and the frame of all pages.
func TestFrameForEverybody(t *testing.T) {
	t.Parallel()
	for language, menu := range map[string]string{"en-US": "Menu", "zh-CN": "菜单"} {
		for _, dark := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s dark %t", language, dark), func(t *testing.T) {
				t.Parallel()
				tab := visit(t, "/about")
				tab.Emulate(1280, 800, dark, language)
				tab.Open("/about")
				audit(t, tab, "the log-in")

				tab.SetCookies(world.LogIn(t, town.Start(t), world.Admin))
				tab.Open("/about")
				audit(t, tab, "the frame")

				tab.Emulate(360, 640, dark, language)
				tab.Open("/about")
				tab.Click("button", menu)
				tab.WaitFor("document.querySelector('#menu').open")
				audit(t, tab, "the frame on a phone")
			})
		}
	}
}
