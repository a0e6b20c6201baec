package etcdserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/internal/testserver/child"
)

// member is one etcd process. It can be killed and started again.
type member struct {
	server                            *Server
	name, cluster                     string
	clientAddr, peerAddr, privateAddr string // privateAddr is for health and metrics, without TLS

	mu    sync.Mutex
	cmd   *exec.Cmd     // nil while stopped
	ended chan struct{} // closed when cmd has ended
}

// startMembers starts all members of a cluster and waits until they serve.
func startMembers(ctx context.Context, s *Server) (members []*member, err error) {
	defer func() {
		if err != nil {
			stopMembers(members)
			members = nil
		}
	}()
	ports, err := child.FreePorts(3 * s.config.Members)
	if err != nil {
		return nil, err
	}
	var cluster []string
	for i := range s.config.Members {
		m := &member{
			server: s, name: fmt.Sprint("member", i),
			clientAddr: child.Address(ports[3*i]), peerAddr: child.Address(ports[3*i+1]), privateAddr: child.Address(ports[3*i+2]),
		}
		cluster = append(cluster, m.name+"=http://"+m.peerAddr)
		members = append(members, m)
	}
	for _, m := range members {
		m.cluster = strings.Join(cluster, ",")
		if err := m.start(); err != nil {
			return members, err
		}
	}
	for _, m := range members {
		if err := m.awaitReady(ctx); err != nil {
			return members, err
		}
	}
	return members, nil
}

func stopMembers(members []*member) {
	for _, m := range members {
		m.stop()
	}
}

func (m *member) dir() string { return filepath.Join(m.server.dir, m.name) }

func (m *member) start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	log, err := os.OpenFile(m.dir()+".log", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	defer log.Close() // the process has a handle of its own
	cmd := exec.Command(m.server.program, m.arguments()...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	ended := make(chan struct{})
	go func() { // stop waits for it
		defer close(ended)
		_ = cmd.Wait() // how it ended is in its log
	}()
	m.cmd, m.ended = cmd, ended
	return m.server.reaper.Adopt(cmd.Process.Pid)
}

// arguments are the flags of etcd. Elections are fast, so that sessions may last a second.
func (m *member) arguments() []string {
	config, scheme := m.server.config, "http"
	var tls []string
	if config.TLS {
		scheme = "https"
		tls = []string{"--cert-file", m.server.certificates.certFile, "--key-file", m.server.certificates.keyFile}
		if config.ClientCertificates { // with an authority, etcd always asks for a certificate
			tls = append(tls, "--trusted-ca-file", m.server.certificates.caFile, "--client-cert-auth")
		}
	}
	client, peer := scheme+"://"+m.clientAddr, "http://"+m.peerAddr
	arguments := append([]string{
		"--name", m.name, "--data-dir", m.dir(), "--log-level", "info",
		"--heartbeat-interval", "10", "--election-timeout", "100",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", m.cluster,
		"--listen-metrics-urls", "http://" + m.privateAddr,
		"--bcrypt-cost", "4", "--enable-grpc-gateway=false",
		"--quota-backend-bytes", strconv.FormatInt(config.Quota, 10),
	}, tls...)
	if !config.Fsync {
		arguments = append(arguments, "--unsafe-no-fsync")
	}
	if config.Auth != nil && config.Auth.TokenLifetime > 0 {
		arguments = append(arguments, "--auth-token-ttl", strconv.Itoa(int(config.Auth.TokenLifetime/time.Second)))
	}
	return arguments
}

// errEnded: the process of a member has ended by itself.
var errEnded = errors.New("the process has ended")

// awaitReady returns when the member can read and write.
func (m *member) awaitReady(ctx context.Context) error {
	m.mu.Lock()
	ended := m.ended
	m.mu.Unlock()
	for {
		// Its own log has to say so, too: where another process has taken a port, that process would answer.
		log, err := os.ReadFile(m.dir() + ".log")
		if err == nil && !bytes.Contains(log, []byte("ready to serve client requests")) {
			err = errors.New("it does not say that it is ready")
		}
		if err == nil {
			_, err = m.get(ctx, "/health")
		}
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return m.failure(errEnded)
		default:
		}
		if !sleep.For(ctx, 5*time.Millisecond) {
			return m.failure(errors.Join(context.Cause(ctx), err))
		}
	}
}

// failure adds the end of the member's log to an error.
func (m *member) failure(err error) error {
	log, _ := os.ReadFile(m.dir() + ".log") // it may not have got as far
	return fmt.Errorf("%s: %w: %s", m.name, err, log[max(0, len(log)-2000):])
}

// get asks the member's port for health and metrics.
func (m *member) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.privateAddr+path, nil)
	if err != nil {
		return nil, err
	}
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 4<<20))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s%s: %s: %s", m.privateAddr, path, answer.Status, bytes.TrimSpace(text))
	}
	return text, err
}

// metric reads a metric, and adds up the values of those that have a label, such as a="b".
func (m *member) metric(ctx context.Context, name, label string) (sum int, err error) {
	text, err := m.get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	isThere := false
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, " ")
		if of, labels, _ := strings.Cut(key, "{"); of != name || !strings.Contains(labels, label) {
			continue
		}
		number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return 0, fmt.Errorf("%s: metric %s: %w", m.name, name, err)
		}
		sum, isThere = sum+int(number), true
	}
	if !isThere {
		return 0, fmt.Errorf("%s has no metric %s", m.name, name)
	}
	return sum, nil
}

// stop kills the process.
func (m *member) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd == nil {
		return
	}
	_ = m.cmd.Process.Kill() // fails only if it has ended
	<-m.ended
	m.cmd = nil
}
