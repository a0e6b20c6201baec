package browsertest

import (
	"database/sql"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/crowd"
)

// A page of many jobs that is loaded again is told what has changed since it was left.
func TestReloadOfTheList(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	var reg coord.Registry
	url := newSite(t, func(r coord.Registry, _ *sql.DB) error {
		reg = r
		_, err := crowd.Plant(t.Context(), reg, 1000)
		return err
	})
	tab := chromium.Tab(t, url)
	tab.Open("/namespaces/test/jobs")
	tab.See("1,000 jobs")
	for i, change := range []coord.Op{
		coord.Put(string(crowd.Name(0))+"/config", []byte("cron: 0 0 0 1 1 ?\njobName: billing.settlement-00000\nshardingTotalCount: 1\ndescription: changed meanwhile\n")),
		coord.DeleteTree(string(crowd.Name(1))),
	} {
		tab.Open("/about")
		_, err := reg.Commit(t.Context(), change)
		fatal(t, err)
		tab.Open("/namespaces/test/jobs")
		tab.See("changed meanwhile")
		tab.See(fmt.Sprintf("%s jobs", []string{"1,000", "999"}[i]))
	}
	if told := tab.Received("/watch"); told > 30_000 { // all jobs are 17,000
		t.Errorf("three pages are told %d bytes", told)
	}
}

// A page of a job with many items is told those that have changed.
func TestTickOfManyItems(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	const items = 1000
	var reg coord.Registry
	url := newSite(t, func(r coord.Registry, _ *sql.DB) error {
		reg = r
		return crowd.PlantLarge(t.Context(), reg, items)
	})
	tab := chromium.Tab(t, url)
	tab.Open("/namespaces/test/jobs/" + string(crowd.Large) + "?items=RUNNING")
	says := func(text string) {
		tab.WaitFor(fmt.Sprintf("document.querySelector('#items [role=status]')?.textContent === %q", text))
	}
	says("0 of 1,000 items")
	tab.See("Live")
	commits := crowd.Tick(time.Now().Truncate(time.Second), items, 25) // 10 of them are 250 items
	for i, commit := range commits {
		_, err := reg.Commit(t.Context(), commit...)
		fatal(t, err)
		switch running := 25 * min(i+1, len(commits)-i-1); {
		case running == items:
			says("1,000 items")
		case running%250 == 0:
			says(fmt.Sprintf("%d of 1,000 items", running))
		}
	}
	if told := tab.Received("/watch"); told > 200_000 { // 1.6 MB if each change told all
		t.Errorf("a tick is told in %d bytes", told)
	}
}

// A page whose line is dead, without anything that says so, knows that when nothing comes any more; and comes back by another line.
func TestDeadLine(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	url := newSite(t, func(reg coord.Registry, _ *sql.DB) error {
		_, err := crowd.Plant(t.Context(), reg, 10)
		return err
	})
	line := newLine(t, strings.TrimPrefix(url, "http://"))
	tab := chromium.Tab(t, "http://"+line.Addr().String())
	tab.Open("/namespaces/test/jobs")
	tab.See("10 jobs")
	tab.See("Live")
	line.die()
	tab.See("No connection since ")
	tab.WaitFor(inGrey)
	line.heal()
	tab.See("Live")
	tab.WaitFor("!" + inGrey)
}

// line is a network between a browser and a console.
type line struct {
	net.Listener
	running sync.WaitGroup

	mu     sync.Mutex
	isDead bool
	deaths int
	conns  []net.Conn
}

func newLine(t *testing.T, to string) *line {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal(t, err)
	l := &line{Listener: listener}
	l.running.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return // the test has ended
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				t.Error(err)
				near.Close()
				return
			}
			life := l.begin(near, far)
			l.running.Go(func() { l.carry(far, near, life) })
			l.running.Go(func() { l.carry(near, far, life) })
		}
	})
	t.Cleanup(func() {
		fatal(t, listener.Close())
		l.heal()
		l.running.Wait()
	})
	return l
}

// begin returns in which life of the line a connection is made: -1 if it is dead.
func (l *line) begin(conns ...net.Conn) (life int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, conns...)
	if l.isDead {
		return -1
	}
	return l.deaths
}

// carry carries bytes one way, and the end. What is sent after the line has died, by a connection from before that, is lost.
func (l *line) carry(to, from net.Conn, life int) {
	part := make([]byte, 64<<10)
	for {
		n, err := from.Read(part)
		l.mu.Lock()
		isLost := life != l.deaths
		l.mu.Unlock()
		switch {
		case isLost && err == nil:
		case isLost:
			return
		case err != nil:
			to.Close()
			return
		default:
			_, _ = to.Write(part[:n]) // if it has ended, so does the other way
		}
	}
}

// die has the line lose all that is sent from now on, without telling anybody.
func (l *line) die() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isDead = true
	l.deaths++
}

// heal lets new connections through, and ends those that there were.
func (l *line) heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isDead = false
	for _, c := range l.conns {
		c.Close()
	}
	l.conns = nil
}
