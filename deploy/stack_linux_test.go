package deploy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"

	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// What "docker compose up" starts: etcd in this process, workers and console as containers. Each service has a loopback
// address of its own, by its name, so that ports and arguments are those of compose.yaml.
func TestStack(t *testing.T) {
	p := project(t)
	hosts := "127.0.0.1 localhost\n"
	addresses := map[string]string{}
	for i, name := range p.ServiceNames() {
		addresses[name] = fmt.Sprintf("127.%d.%d.%d", 64+os.Getpid()>>8&127, os.Getpid()&255, 2+i)
		hosts += addresses[name] + " " + name + "\n"
	}
	startEtcd(t, p.Services["etcd"], addresses["etcd"])
	shared := newNamed()
	start := func(name string) *running {
		s := p.Services[name]
		box := container{image: anImage(t), volumes: volumes(t, s, shared), hosts: hosts}
		var args []string
		for _, arg := range s.Command {
			args = append(args, strings.ReplaceAll(arg, "0.0.0.0", addresses[name]))
		}
		return begin(t, name, box.command(t, args...), time.Duration(*s.StopGracePeriod))
	}
	console := start("console")
	password := console.await(t, `^ +password +(\S+)`)
	console.await(t, "console: serving")
	worker := p.Services["worker"]
	for range worker.GetScale() {
		start("worker").await(t, "the runner serves jobs")
	}

	// Each job runs, the script, too.
	box := container{image: anImage(t), hosts: hosts}
	for _, name := range []string{"ping", "doctor"} {
		if out, err := box.command(t, "--store", "etcd://etcd:2379/shop", "trigger", name, "--wait").CombinedOutput(); err != nil {
			t.Errorf("trigger %s: %s, %v", name, out, err)
		}
	}

	// The console shows it, to those who have logged in: three instances have items, and there is a history.
	api := "http://" + addresses["console"] + ":8899/api/v1/namespaces/shop/"
	if status, _ := getAs(t, api+"jobs", ""); status != http.StatusUnauthorized {
		t.Errorf("without a log-in: %d", status)
	}
	if status, page := getAs(t, "http://"+addresses["console"]+":8899/", ""); status != http.StatusUnauthorized || !strings.Contains(page, `data-page="login"`) {
		t.Errorf("the page for the log-in: %d, %.300s", status, page)
	}
	eventually(t, "items of three instances", func() (bool, string) {
		_, text := getAs(t, api+"jobs/ping/instances", password)
		var answer struct {
			Rows []struct{ Items []int }
		}
		err := json.Unmarshal([]byte(text), &answer)
		with := 0
		for _, i := range answer.Rows {
			if len(i.Items) > 0 {
				with++
			}
		}
		return err == nil && with == worker.GetScale(), text
	})
	for _, name := range []string{"ping", "doctor"} {
		eventually(t, "the history of "+name, func() (bool, string) {
			_, text := getAs(t, api+"history/executions?job="+name, password)
			return strings.Contains(text, `"job":"`+name+`"`) && strings.Contains(text, `"outcome":"OK"`), text
		})
	}
}

// startEtcd starts etcd with the arguments of a service, on an address of this host. etcd refuses what is no flag.
func startEtcd(t *testing.T, s types.ServiceConfig, address string) {
	t.Helper()
	program, err := etcdserver.Program()
	if err != nil {
		t.Fatal(err)
	}
	here := strings.NewReplacer("//0.0.0.0:", "//"+address+":", "//etcd:", "//"+address+":", "--data-dir=/data", "--data-dir="+t.TempDir())
	peer := "http://" + address + ":2380"
	args := []string{"--log-level=error", "--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer}
	for _, arg := range s.Command[1:] {
		args = append(args, here.Replace(arg))
	}
	cmd := exec.Command(program, args...) // no context ends it: it outlives the containers that use it
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // fails only if it has ended
		_ = cmd.Wait()         // it was killed
		if t.Failed() {
			t.Logf("etcd:\n%s", &log)
		}
	})
	eventually(t, "etcd", func() (bool, string) {
		connection, err := net.Dial("tcp", address+":2379")
		if err != nil {
			return false, err.Error()
		}
		return connection.Close() == nil, ""
	})
}

// running is a container that runs until the test ends.
type running struct {
	name  string
	lines chan string // of both outputs
}

// begin starts a container. At the end of the test it has to end with code 0 within grace.
func begin(t *testing.T, name string, cmd *exec.Cmd, grace time.Duration) *running {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = in, in
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	err = cmd.Start()
	_ = in.Close() // the container has its own
	if err != nil {
		t.Fatal(err)
	}
	r := &running{name: name, lines: make(chan string, 1000)}
	var log strings.Builder
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(r.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Fprintln(&log, lines.Text())
			select {
			case r.lines <- lines.Text():
			default: // nobody waits for so many
			}
		}
	})
	t.Cleanup(func() {
		err := cmd.Wait()
		reading.Wait()
		_ = out.Close()
		// The program ends as is asked for; Wait tells that the context has ended.
		if !cmd.ProcessState.Success() {
			t.Errorf("%s: %v, %v\n%s", name, cmd.ProcessState, err, log.String())
		} else if t.Failed() {
			t.Logf("%s:\n%s", name, log.String())
		}
	})
	return r
}

// await returns what a pattern matches first: its group, if there is one.
func (r *running) await(t *testing.T, pattern string) string {
	t.Helper()
	for line := range r.lines {
		if found := regexp.MustCompile(pattern).FindStringSubmatch(line); found != nil {
			return found[len(found)-1]
		}
	}
	t.Fatalf("%s has ended without a line %q", r.name, pattern)
	return ""
}

// getAs reads a page, as the first user if there is a password.
func getAs(t *testing.T, address, password string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if password != "" {
		request.SetBasicAuth("admin", password)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was read to its end
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// eventually asks until something holds.
func eventually(t *testing.T, what string, holds func() (bool, string)) {
	t.Helper()
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	var last string
	for late := time.After(time.Minute); ; {
		var ok bool
		if ok, last = holds(); ok {
			return
		}
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("%s: not within a minute: %s", what, last)
		}
	}
}
