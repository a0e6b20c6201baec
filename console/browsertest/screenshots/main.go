// Command screenshots takes pictures of the pages of the console, as the demo shows them: bright and dark, in a wide
// window and on a phone, in English and Chinese.
//
//	go run ./console/browsertest/screenshots -out pictures
//
// A picture is OUT/PAGE-WIDTH-THEME-LANGUAGE.png. docs/images/timeline.png is cut out of job-1280-light-en.png, with a full
// timeline: -warm 13m -only job-1280-light-en. It ends with an error if a page does, too: see browser.Tab.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

func main() {
	out := flag.String("out", "screenshots", "`folder` of the pictures")
	only := flag.String("only", "", "take pictures that have this `text` in their name, such as job-1280-light-en")
	warm := flag.Duration("warm", time.Minute, "how long the demo runs before, so that there is something to see")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *out, *only, *warm)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

// atOnce is how many tabs are open at the same time.
const atOnce = 4

func run(ctx context.Context, out, only string, warm time.Duration) (err error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	d, err := startDemo(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if !sleep.For(ctx, warm) {
		return context.Cause(ctx)
	}
	chromium := browser.New()
	defer chromium.Close()
	sites, err := found(ctx, d)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	looks := looks()
	errs := make([]error, len(looks))
	room := make(chan struct{}, atOnce)
	for i, l := range looks {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			errs[i] = onStage(func(s *stage) {
				tab := chromium.Tab(s, d.url)
				tab.Expect("GET /: 401") // the log-in, in place of the page
				l.take(tab, []site{{name: "login", path: "/"}}, out, only)
				logIn(tab, d)
				l.take(tab, sites, out, only)
			})
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// logIn logs in by the form of the log-in, in English.
func logIn(tab *browser.Tab, d *demo) {
	tab.Emulate(1280, 900, false, "en")
	tab.Open("/")
	tab.Fill("Name", d.user)
	tab.Fill("Password", d.password)
	tab.Click("button", "Log in")
	tab.WaitFor("document.querySelector('#logout') && document.readyState === 'complete'")
}

// look is how pages are looked at.
type look struct {
	width    int
	isDark   bool
	language string
}

func looks() []look {
	var all []look
	for _, width := range []int{1280, 360} {
		for _, isDark := range []bool{false, true} {
			for _, language := range []string{"en", "zh"} {
				all = append(all, look{width, isDark, language})
			}
		}
	}
	return all
}

// tallest bounds the height of a picture, for lists that are long.
const tallest = 4000

// take takes pictures of all sites, or of those that have a text in their name.
func (l look) take(tab *browser.Tab, sites []site, out, only string) {
	theme := "light"
	if l.isDark {
		theme = "dark"
	}
	for _, at := range sites {
		name := at.name + "-" + strconv.Itoa(l.width) + "-" + theme + "-" + l.language + ".png"
		if !strings.Contains(name, only) {
			continue
		}
		tab.Emulate(l.width, 900, l.isDark, l.language)
		tab.Open(at.path)
		tab.WaitFor(isStill)
		if at.act != "" {
			tab.Eval(at.act, new(any))
			tab.WaitFor(isStill)
		}
		var height int
		tab.Eval("document.documentElement.scrollHeight", &height)
		tab.Emulate(l.width, min(max(height, 900), tallest), l.isDark, l.language)
		tab.WaitFor(isStill)
		tab.Screenshot(filepath.Join(out, name))
	}
}

// isStill holds when a page waits for nothing, and has asked for nothing during half a second. Some ask for ever, so it
// holds after 15 s, too.
const isStill = `(async () => {
	const asked = () => performance.getEntriesByType("resource").length;
	for (let i = 0, before = -1; i < 30 && (before !== asked() || document.querySelector("#page[aria-busy], .waiting")); i++) {
		before = asked();
		await new Promise((done) => setTimeout(done, 500));
	}
	return true;
})()`
