//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/command"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/internal/testserver/child"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// What is wrong with the flags of etcd is said before anything is written.
func TestEtcdFlags(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.issue("a", memberTemplate("10.0.0.1"))
	guest, guestKey := a.issue("guest", clientTemplate())
	data := filepath.Join(t.TempDir(), "data")
	const three = "a=https://10.0.0.1:2380,b=https://10.0.0.2:2380,c=https://10.0.0.3:2380"
	good := map[string]string{
		"data": data, "members": three, "name": "a", "listen": "0.0.0.0:2379", "tls-cert": cert, "tls-key": key, "tls-cacert": a.caFile(), "endpoints": "",
	}
	for what, c := range map[string]struct {
		change map[string]string // an empty flag is not given
		want   string
	}{
		"no folder":           {map[string]string{"data": ""}, "--data is missing"},
		"two members":         {map[string]string{"members": "a=https://a:1,b=https://b:1"}, "--members has 2: allowed are 1 and 3, because of two both would have to run"},
		"five members":        {map[string]string{"members": three + ",d=https://d:1,e=https://e:1"}, "--members has 5: allowed are 1 and 3"},
		"no URL":              {map[string]string{"members": "a=10.0.0.1:2380"}, `--members: "a=10.0.0.1:2380": allowed is NAME=https://HOST:PORT`},
		"no name in members":  {map[string]string{"members": "https://a:1"}, "allowed is NAME=https://HOST:PORT"},
		"a path":              {map[string]string{"members": "a=https://a:1/x"}, "allowed is NAME=https://HOST:PORT"},
		"no port":             {map[string]string{"members": "a=https://a"}, "allowed is NAME=https://HOST:PORT"},
		"the same name":       {map[string]string{"members": strings.Replace(three, "b=", "a=", 1)}, `"a=https://10.0.0.2:2380" has the name or the address of another member`},
		"the same address":    {map[string]string{"members": strings.Replace(three, "0.2", "0.1", 1)}, "the address of another member"},
		"two schemes":         {map[string]string{"members": strings.Replace(three, "b=https", "b=http", 1)}, "b has the scheme http, and a has https"},
		"no name":             {map[string]string{"name": ""}, `--name is "": allowed are the names of --members: a, b, c`},
		"another name":        {map[string]string{"name": "d"}, `--name is "d"`},
		"a host to listen on": {map[string]string{"listen": "etcd-a:2379"}, `--listen is "etcd-a:2379": allowed is IP:PORT`},
		"no port to listen":   {map[string]string{"listen": "127.0.0.1"}, `--listen is "127.0.0.1": allowed is IP:PORT`},
		"not to be reached":   {map[string]string{"listen": "127.0.0.1:2379"}, "others have to reach 10.0.0.1:2380: listen on an address of theirs, such as 0.0.0.0:2379"},
		"no key":              {map[string]string{"tls-key": ""}, "--tls-cert and --tls-key: one of them is missing"},
		"no authority":        {map[string]string{"tls-cacert": ""}, "give --tls-cert, --tls-key and --tls-cacert"},
		"authority alone":     {map[string]string{"tls-cert": "", "tls-key": ""}, "--tls-cacert asks for certificates"},
		"clients in clear":    {map[string]string{"members": "", "name": "", "tls-cert": "", "tls-key": "", "tls-cacert": ""}, "--listen 0.0.0.0:2379 can be reached from elsewhere"},
		"members in clear":    {map[string]string{"members": strings.ReplaceAll(three, "https", "http")}, "a is reached without TLS at 10.0.0.1:2380"},
		"no such file":        {map[string]string{"tls-cert": "absent.pem"}, "--tls-cert absent.pem"},
		"no certificate":      {map[string]string{"tls-cacert": key}, "--tls-cacert: " + key + " has no certificate"},
		"for another host":    {map[string]string{"name": "b"}, "the other members will refuse it for b"},
		"of a client":         {map[string]string{"tls-cert": guest, "tls-key": guestKey}, "the other members will refuse it for a"},
		"a store":             {map[string]string{"endpoints": "127.0.0.1:2379"}, "etcd connects to no store: leave --endpoints out"},
	} {
		t.Run(what, func(t *testing.T) {
			args := []string{"etcd"}
			for name, value := range good {
				if other, ok := c.change[name]; ok {
					value = other
				}
				if value != "" {
					args = append(args, "--"+name, value)
				}
			}
			var said bytes.Buffer
			code := command.Run(t.Context(), command.Environment{Out: io.Discard, Err: &said, Lookup: os.LookupEnv}, args...)
			if code != exit.Usage || !strings.Contains(said.String(), c.want) {
				t.Errorf("code %d, %s; want %s", code, &said, c.want)
			}
		})
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("the folder: %v", err)
	}
}

// etcdMember is the process of a member.
type etcdMember struct {
	t             *testing.T
	name, data    string
	listen, peers string // addresses
	members       string
	flags         []string // more of them
	cmd           *exec.Cmd
	isAsked       bool // to end
}

// etcdMembers returns members of this host that do not run yet, each with a folder of its own.
func etcdMembers(t *testing.T, scheme string, names ...string) (all []*etcdMember) {
	t.Helper()
	ports, err := child.FreePorts(2 * len(names))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for i, name := range names {
		m := &etcdMember{t: t, name: name, data: filepath.Join(t.TempDir(), "data"), listen: child.Address(ports[2*i]), peers: child.Address(ports[2*i+1])}
		list = append(list, name+"="+scheme+"://"+m.peers)
		all = append(all, m)
	}
	for _, m := range all {
		m.members = strings.Join(list, ",")
	}
	t.Cleanup(func() {
		for _, m := range all { // all of them first, so that none waits for another
			m.signal()
		}
		for _, m := range all {
			m.stop()
		}
	})
	return all
}

// start starts members, and waits until they serve.
func start(ctx context.Context, t *testing.T, all ...*etcdMember) {
	t.Helper()
	var said []*bufio.Scanner
	for _, m := range all {
		args := []string{"etcd", "--data", m.data, "--members", m.members, "--name", m.name, "--listen", m.listen}
		m.cmd = exec.CommandContext(ctx, "elasticjob", append(args, m.flags...)...)
		m.cmd.Env = append(os.Environ(), "GORACE="+noSleep)
		out, err := m.cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		m.cmd.Stderr = t.Output()
		if err := m.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said = append(said, bufio.NewScanner(out))
	}
	for i, lines := range said {
		if !lines.Scan() || !strings.Contains(lines.Text(), "Member "+all[i].name+" serves clients at http") {
			t.Fatalf("member %s says %s", all[i].name, lines.Text())
		}
	}
}

// signal asks it to end: a second signal would end it at once.
func (m *etcdMember) signal() {
	if m.cmd != nil && !m.isAsked {
		m.isAsked = true
		_ = m.cmd.Process.Signal(syscall.SIGTERM) // it may have ended: see stop
	}
}

// stop stops it as a service manager does.
func (m *etcdMember) stop() {
	m.t.Helper()
	if m.cmd == nil {
		return
	}
	m.signal()
	if err := m.cmd.Wait(); err != nil {
		m.t.Errorf("member %s: %v", m.name, err)
	}
	m.cmd, m.isAsked = nil, false
}

// dialEtcd connects to endpoints.
func dialEtcd(t *testing.T, secure *tls.Config, endpoints ...string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: endpoints, TLS: secure, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // its error is that of a context
	return c
}

// Three members with TLS go on when one of them is away, even the leader. It catches up when it is back, and so does one
// that takes its place with an empty folder. Who has a certificate of a client is a client, and no member; who has none is neither.
func TestEtcdThreeMembers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), patience) // it outlives the test, which stops members at its end
	t.Cleanup(cancel)
	a := newAuthority(t)
	all := etcdMembers(t, "https", "a", "b", "c")
	for _, m := range all {
		cert, key := a.issue(m.name, memberTemplate("127.0.0.1"))
		m.flags = []string{"--tls-cert", cert, "--tls-key", key, "--tls-cacert", a.caFile()}
	}
	cert, key := a.issue("worker", clientTemplate())
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	worker, anybody := &tls.Config{RootCAs: a.pool(), Certificates: []tls.Certificate{pair}}, &tls.Config{RootCAs: a.pool()}

	start(ctx, t, all...)
	c := dialEtcd(t, worker, all[0].listen, all[1].listen, all[2].listen)
	if _, err := c.Put(ctx, "k", "1"); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		secure        *tls.Config
		address, path string
		want          string
	}{
		"a member at another one": {&tls.Config{RootCAs: a.pool(), Certificates: []tls.Certificate{load(t, all[1])}}, all[0].peers, "/members", all[2].peers},
		"a worker at a member":    {worker, all[0].peers, "/members", "remote error: tls"},
		"anybody at a member":     {anybody, all[0].peers, "/members", "remote error: tls"},
		"a worker":                {worker, all[0].listen, "/health", `"health":"true"`},
		"the clock of a worker":   {worker, all[0].listen, "/version", "\nDate: "}, // workers compare theirs with it
		"anybody":                 {anybody, all[0].listen, "/health", "remote error: tls"},
	} {
		if got := ask(c.secure, c.address, c.path); !strings.Contains(got, c.want) {
			t.Errorf("%s gets %s, want %s", what, got, c.want)
		}
	}

	i := leaderOf(ctx, t, c, all)
	all[i].stop()
	rest := dialEtcd(t, worker, all[(i+1)%3].listen, all[(i+2)%3].listen)
	if _, err := rest.Put(ctx, "k", "2"); err != nil {
		t.Fatal(err)
	}
	start(ctx, t, all[i])
	if answer, err := dialEtcd(t, worker, all[i].listen).Get(ctx, "k"); err != nil || string(answer.Kvs[0].Value) != "2" {
		t.Errorf("the member that was away has %v, %v", answer, err)
	}

	all[i].stop()
	list, err := rest.MemberList(ctx)
	if err != nil {
		t.Fatal(err)
	}
	untilDone := func(already error, do func() error) { // etcd changes members only when the others have been connected for some seconds
		t.Helper()
		for err := do(); err != nil && !errors.Is(err, already); err = do() {
			if !sleep.For(ctx, 100*time.Millisecond) {
				t.Fatal(err)
			}
		}
	}
	for _, m := range list.Members {
		if m.Name == all[i].name {
			untilDone(rpctypes.ErrMemberNotFound, func() error { _, err := rest.MemberRemove(ctx, m.ID); return err })
		}
	}
	untilDone(rpctypes.ErrPeerURLExist, func() error { _, err := rest.MemberAdd(ctx, []string{"https://" + all[i].peers}); return err })
	all[i].data = filepath.Join(t.TempDir(), "new")
	all[i].flags = append(all[i].flags, "--join")
	start(ctx, t, all[i])
	if answer, err := dialEtcd(t, worker, all[i].listen).Get(ctx, "k"); err != nil || string(answer.Kvs[0].Value) != "2" {
		t.Errorf("the member that has joined has %v, %v", answer, err)
	}
}

// leaderOf returns which member leads.
func leaderOf(ctx context.Context, t *testing.T, c *clientv3.Client, all []*etcdMember) int {
	t.Helper()
	for i, m := range all {
		s, err := c.Status(ctx, m.listen)
		if err != nil {
			t.Fatal(err)
		}
		if s.Leader == s.Header.MemberId {
			return i
		}
	}
	t.Fatal("nobody leads")
	return 0
}

// load loads a member's certificate.
func load(t *testing.T, m *etcdMember) tls.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(m.flags[1], m.flags[3])
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// ask returns a page, or why there is none.
func ask(secure *tls.Config, address, path string) string {
	c, err := tls.Dial("tcp", address, secure)
	if err != nil {
		return err.Error()
	}
	_, asked := fmt.Fprintf(c, "GET %s HTTP/1.0\r\n\r\n", path)
	answer, err := io.ReadAll(c) // a server refuses the certificate only here
	return fmt.Sprintf("%s%v", answer, errors.Join(asked, err, c.Close()))
}

// One member becomes three by a snapshot. They have its jobs, go on far above its revision, and show nobody what was
// before. A snapshot takes the place of a file only when it is whole, and a folder has one user at a time.
func TestEtcdRestore(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), patience) // it outlives the test, which stops members at its end
	t.Cleanup(cancel)
	elasticjob := func(code exit.Code, want string, args ...string) {
		t.Helper()
		var said bytes.Buffer
		got := command.Run(ctx, command.Environment{Out: &said, Err: &said, Lookup: func(string) (string, bool) { return "", false }, Patience: patience}, args...)
		if got != code || !strings.Contains(said.String(), want) {
			t.Errorf("%q: code %d, %s; want %d, %s", args, got, &said, code, want)
		}
	}
	one := etcdMembers(t, "http", "one")[0]
	start(ctx, t, one)
	elasticjob(exit.Conflict, one.data+": another process uses it", "etcd", "--data", one.data)
	folder := t.TempDir()
	file, store := filepath.Join(folder, "backup.db"), "etcd://127.0.0.1:1,"+one.listen+"/shop" // nobody is at the first address
	elasticjob(exit.Done, "", "create", "settle", "--set", "shardingTotalCount=1", "--set", "cron=0 0 3 * * ?", "--set", "implementation=x", "--store", "etcd://"+one.listen+"/shop")
	elasticjob(exit.Done, "of "+one.listen+", with revision ", "etcd", "snapshot", file, "--store", store)
	before, err := dialEtcd(t, nil, one.listen).Get(ctx, "k")
	if err != nil {
		t.Fatal(err)
	}
	one.stop()
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	elasticjob(exit.Unreachable, "connection refused", "etcd", "snapshot", file, "--store", store)
	guarded, err := etcdserver.Run(t.Context(), etcdserver.Config{Auth: &etcdserver.Auth{User: "all", Password: "root"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(guarded.Stop)
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("root"), 0o600); err != nil {
		t.Fatal(err)
	}
	for user, code := range map[string]exit.Code{"root": exit.Done, "all": exit.Denied} {
		other := filepath.Join(t.TempDir(), "backup.db")
		elasticjob(code, "", "etcd", "snapshot", other, "--store", "etcd://"+user+"@"+strings.TrimPrefix(guarded.Endpoints()[0], "http://")+"/shop", "--password-file", password)
	}
	elasticjob(exit.Usage, "snapshots are of etcd", "etcd", "snapshot", file, "--store", "zookeeper://127.0.0.1:1/shop")
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, whole) {
		t.Errorf("the snapshot has changed: %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("beside the snapshot are %v, %v", left, err)
	}

	elasticjob(exit.Usage, "--data is missing", "etcd", "restore", file)
	elasticjob(exit.Conflict, one.data+" has data of a member already", "etcd", "restore", file, "--data", one.data)
	for what, text := range map[string][]byte{
		"are no whole snapshot": whole[:len(whole)-100],
		"it is damaged":         append([]byte{whole[0] + 1}, whole[1:]...),
	} {
		damaged, data := filepath.Join(folder, "damaged.db"), filepath.Join(folder, "data")
		if err := os.WriteFile(damaged, text, 0o600); err != nil {
			t.Fatal(err)
		}
		elasticjob(exit.Failed, what, "etcd", "restore", damaged, "--data", data)
		elasticjob(exit.Failed, "absent.db", "etcd", "restore", filepath.Join(folder, "absent.db"), "--data", data)
	}
	three := etcdMembers(t, "http", "a", "b", "c")
	for _, m := range three {
		elasticjob(exit.Done, "Restored", "etcd", "restore", file, "--data", m.data, "--members", m.members, "--name", m.name)
	}
	start(ctx, t, three...)
	elasticjob(exit.Done, "settle", "jobs", "--store", "etcd://"+three[1].listen+"/shop")
	c := dialEtcd(t, nil, three[2].listen)
	after, err := c.Get(ctx, "k")
	if err != nil {
		t.Fatal(err)
	}
	if b, a := before.Header, after.Header; a.Revision < b.Revision+1_000_000_000 || a.ClusterId == b.ClusterId {
		t.Errorf("before the restore %v, after it %v", b, a)
	}
	if _, err := c.Get(ctx, "k", clientv3.WithRev(before.Header.Revision)); err == nil {
		t.Error("what was before the restore can still be read")
	}
}
