//go:build unix

package jobfile_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
)

// On real stores a file is enough: with TLS, certificates and a user. A SIGHUP puts a change in
// force.
func TestStores(t *testing.T) {
	t.Run("etcd", func(t *testing.T) {
		s := etcdserver.Start(t, etcdserver.Config{ClientCertificates: true, Auth: &etcdserver.Auth{User: "jobs", Password: "secret"}})
		dir := t.TempDir()
		writeCertificate(t, dir, s.ClientTLS().Certificates[0])
		testStore(t, dir, fmt.Sprintf(`
registry:
  etcd:
    endpoints: ['%s']
    namespace: test
    username: jobs
    password: ${file:password}
    tls: {ca: '%s', cert: client.pem, key: client.key}
`, s.Endpoints()[0], s.AuthorityFile()))
	})
	t.Run("ZooKeeper", func(t *testing.T) {
		s := zkserver.Start(t, zkserver.Config{})
		testStore(t, t.TempDir(), fmt.Sprintf("registry: {zookeeper: {servers: ['%s'], namespace: test/jobs, digest: 'jobs:${file:password}'}}\n", s.Addr()))
	})
}

func writeCertificate(t *testing.T, dir string, c tls.Certificate) {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	rewrite(t, filepath.Join(dir, "client.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})))
	rewrite(t, filepath.Join(dir, "client.key"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
}

func testStore(t *testing.T, dir, registry string) {
	rewrite(t, filepath.Join(dir, "password"), "secret\n")
	path := filepath.Join(dir, "elasticjob.yaml")
	text := registry + every("a: {jobParameter: one, revision: 1}", "b: {}")
	rewrite(t, path, text)

	ran := make(chan string, 1000)
	o := options(nil)
	var log page
	o.Slog = slog.New(slog.NewTextHandler(&log, nil))
	o.Handlers["settle"] = job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		if sc.JobName == "a" {
			ran <- sc.JobParameter
		}
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	app, err := jobfile.Load(ctx, o, path)
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- app.Run(running) }()
	await := func(parameter string) {
		t.Helper()
		for {
			select {
			case got := <-ran:
				if got == parameter {
					return
				}
			case <-ctx.Done():
				t.Fatalf("a does not run with %s; faults %v\n%s", parameter, app.Faults(), log.String())
			}
		}
	}
	await("one")
	rewrite(t, path, strings.Replace(text, "one, revision: 1", "two, revision: 2", 1))
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Error(err)
	}
	await("two")
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), `msg="the configuration files were read again" result="changed: a"`) {
		t.Errorf("log:\n%s", log.String())
	}
}
