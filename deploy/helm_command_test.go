package deploy

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// patience bounds a process of the tests.
const patience = time.Minute

// The command takes the arguments, the environment and the files of every container, and answers its probes.
// Stores are not there: a worker gets one in memory when it has checked its file.
func TestHelmCommand(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "elasticjob")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-w", "-o", binary, "github.com/elasticjob-go/elasticjob/cmd/elasticjob")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	secrets := existingSecrets(t)
	for file, objectNames := range valueFiles {
		for _, name := range objectNames {
			if !strings.HasPrefix(name, "Deployment/") {
				continue
			}
			t.Run(path.Base(file)+"/"+path.Base(name), func(t *testing.T) {
				t.Parallel()
				all := rendered(t, file)
				c := newPodContainer(t, all, get[*appsv1.Deployment](t, all, name), secrets)
				if c.args[0] == "run" {
					if out, err := c.command(t.Context(), binary, append(slices.Clone(c.args), "--check")...).CombinedOutput(); err != nil {
						t.Fatalf("%q --check: %v\n%s", c.args, err, out)
					}
					c.useMemory(t)
				}
				c.serves(t, binary)
			})
		}
	}
}

// podContainer is one of a Deployment, with its volumes in a folder.
type podContainer struct {
	of        corev1.Container
	root      string // stands for the container's /
	args, env []string
}

// newContainer writes the volumes as the kubelet does: files are links into a folder that is replaced as a whole.
func newPodContainer(t *testing.T, all objects, d *appsv1.Deployment, secrets map[string]map[string]string) *podContainer {
	t.Helper()
	pod := d.Spec.Template.Spec
	c := &podContainer{of: pod.Containers[0], root: t.TempDir()}
	secret := func(name string) map[string]string {
		if secrets[name] == nil {
			t.Fatalf("there is no Secret %s", name)
		}
		return secrets[name]
	}
	var moved []string
	for _, m := range c.of.VolumeMounts {
		if m.MountPath != "/tmp" {
			moved = append(moved, m.MountPath, c.root+m.MountPath)
		}
	}
	mounts := strings.NewReplacer(moved...)
	addresses := strings.NewReplacer("0.0.0.0:8899", "127.0.0.1:0", "0.0.0.0:9099", "127.0.0.1:0")
	for _, m := range c.of.VolumeMounts {
		i := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
		switch v := pod.Volumes[i]; {
		case v.ConfigMap != nil:
			for key, text := range get[*corev1.ConfigMap](t, all, "ConfigMap/"+v.ConfigMap.Name).Data {
				c.write(t, m.MountPath, key, mounts.Replace(text))
			}
		case v.Secret != nil:
			for key, text := range secret(v.Secret.SecretName) {
				c.write(t, m.MountPath, key, text)
			}
		}
	}
	for _, arg := range c.of.Args {
		c.args = append(c.args, addresses.Replace(mounts.Replace(arg)))
	}
	for _, e := range c.of.Env {
		value := e.Value
		switch from := e.ValueFrom; {
		case from == nil:
		case from.SecretKeyRef != nil:
			var ok bool
			if value, ok = secret(from.SecretKeyRef.Name)[from.SecretKeyRef.Key]; !ok {
				t.Errorf("Secret %s has no key %s", from.SecretKeyRef.Name, from.SecretKeyRef.Key)
			}
		case from.FieldRef.FieldPath == "status.podIP":
			value = "10.1.2.3"
		}
		c.env = append(c.env, e.Name+"="+mounts.Replace(value))
	}
	return c
}

func (c *podContainer) write(t *testing.T, folder, key, text string) {
	t.Helper()
	folder = filepath.Join(c.root, folder)
	if err := os.MkdirAll(filepath.Join(folder, "..v1"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"..data": "..v1", key: filepath.Join("..data", key)} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "..v1", key), []byte(text), 0o644); err != nil { // as the kubelet does
		t.Fatal(err)
	}
}

// useMemory gives a worker a store that is there, and a port that is free. The rest of its file stays.
func (c *podContainer) useMemory(t *testing.T) {
	t.Helper()
	name := filepath.Join(c.root, "etc/elasticjob/worker.yaml")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	file["registry"] = map[string]any{"memory": map[string]any{"namespace": "shop"}}
	for _, section := range []string{"health", "metrics"} {
		file[section].(map[string]any)["listen"] = "127.0.0.1:0"
	}
	if text, err = yaml.Marshal(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// command has the container's environment, and no other.
func (c *podContainer) command(ctx context.Context, binary string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Dir = c.env, c.root
	return cmd
}

// serves runs the container until its probes have an answer, and ends it as the kubelet does.
func (c *podContainer) serves(t *testing.T, binary string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := c.command(ctx, binary, c.args...)
	var out strings.Builder
	cmd.Stdout = &out
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	listens := regexp.MustCompile(`(?:listens|serving).*(127\.0\.0\.1:\d+)`)
	sites := map[string]bool{}           // by address
	hasStarted := c.args[0] == "console" // a worker starts its jobs first: a signal before that is an interrupt
	for s := bufio.NewScanner(log); s.Scan(); {
		lines.WriteString(s.Text() + "\n")
		found := listens.FindStringSubmatch(s.Text())
		if found != nil {
			sites[found[1]] = true
		}
		starts := strings.Contains(s.Text(), "the runner serves jobs")
		hasStarted = hasStarted || starts
		if (starts || found != nil) && hasStarted && len(sites) == len(c.of.Ports) {
			c.probe(t, sites)
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil || !hasStarted || len(sites) != len(c.of.Ports) {
		t.Errorf("%q: %v, listens at %d of %d ports\n%s", c.args, err, len(sites), len(c.of.Ports), &lines)
	}
	if c.args[0] == "console" && !strings.Contains(out.String(), `"trace":"access","event":{`) {
		t.Errorf("stdout has no line of the refused token:\n%s", &out)
	}
}

// probe asks what the probes and Prometheus ask. Each page is at one of the addresses.
func (c *podContainer) probe(t *testing.T, sites map[string]bool) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // as the kubelet does
	}}
	defer client.CloseIdleConnections()
	scheme := "http"
	if c.of.LivenessProbe.HTTPGet.Scheme == corev1.URISchemeHTTPS {
		scheme = "https"
	}
	pages := map[string][]int{
		c.of.ReadinessProbe.HTTPGet.Path: {http.StatusOK, http.StatusServiceUnavailable},
		c.of.LivenessProbe.HTTPGet.Path:  {http.StatusOK},
	}
	const asNobody = "/api/v1/me"
	if c.args[0] == "console" {
		pages[asNobody] = []int{http.StatusUnauthorized}
	}
	if len(c.of.Ports) == 1 {
		pages["/metrics"] = []int{http.StatusOK}
	}
	for page, want := range pages {
		var answers []string
		for site := range sites {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://"+site+page, nil)
			if err != nil {
				t.Fatal(err)
			}
			if page == asNobody {
				request.Host = "console.example.com" // it may answer to no other name
				request.Header.Set("Authorization", "Bearer ej_x")
			}
			response, err := client.Do(request)
			if err != nil {
				answers = append(answers, err.Error())
				continue
			}
			body, err := io.ReadAll(response.Body)
			_ = response.Body.Close() // it was read
			if err == nil && slices.Contains(want, response.StatusCode) {
				answers = append(answers, "")
				continue
			}
			answers = append(answers, fmt.Sprintf("%s: %.200s, %v", response.Status, body, err))
		}
		if !slices.Contains(answers, "") {
			t.Errorf("%s has the answers %q", page, answers)
		}
	}
}

// existingSecrets are those that the files of values name.
func existingSecrets(t *testing.T) map[string]map[string]string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"console.example.com"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	pair := map[string]string{"tls.crt": certPEM, "tls.key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))}
	store := maps.Clone(pair)
	store["ca.crt"] = certPEM
	user := map[string]string{"password": "hunter2\n", "grants": "digest:reader:zhz8FhBTPXY6pqhp1sD9BPwXNxE=:r"}
	history := map[string]string{"address": "sqlite:" + filepath.Join(t.TempDir(), "history")}
	return map[string]map[string]string{
		"etcd-tls": store, "console-tls": pair, "console-oidc": {"client-secret": "hunter2"},
		"etcd-console": user, "etcd-worker": {"worker": "hunter2", "password": "hunter2"}, "zk-console": user, "zk-worker": user,
		"history-reader": history, "history-writer": history,
	}
}
