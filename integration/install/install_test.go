package install

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	modmodule "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const version = "v0.1.0"

// importers are programs, with how many modules each may have in its go.sum at most; 0 for a program whose go.sum
// is what its database or its web server brings.
var importers = map[string]struct {
	imports []string
	sums    int
}{
	"etcd":          {[]string{"job", "coord/etcd"}, 30},
	"ZooKeeper":     {[]string{"job", "coord/zk"}, 13}, // with version 3 of the YAML library, for tests of what zap has
	"history":       {[]string{"job", "trace/sqltrace"}, 0},
	"Prometheus":    {[]string{"job", "trace/prom"}, 0},
	"OpenTelemetry": {[]string{"job", "trace/oteljob"}, 0},
	"console":       {[]string{"ops", "console"}, 0},
	"job files":     {[]string{"jobfile"}, 0},
	"tests":         {[]string{"jobtest"}, 0},
}

// What README and docs promise of a release works for somebody with an empty home: go install of the command and of the
// quickstart, go get of each public module.
func TestInstall(t *testing.T) {
	repository, tree := snapshot(t)
	passed := remembered(t, tree)
	if _, err := os.Stat(passed); err == nil {
		t.Log("this tree has passed before")
		return
	}
	release(t, repository)
	home := t.TempDir()
	env := []string{
		"HOME=" + home, "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "GOPATH=" + filepath.Join(home, "go"), "GOMODCACHE=", "GOBIN=",
		// What has been compiled before may be used again: with -trimpath its path does not matter. A debugger looks at nothing.
		"GOCACHE=" + must(t, ".", nil, "go", "env", "GOCACHE"), "GOFLAGS=-trimpath -modcacherw -ldflags=-w", "GOWORK=off",
		"GOPROXY=" + strings.Join([]string{
			"file://" + proxy(t, repository),
			"file://" + filepath.Join(must(t, ".", nil, "go", "env", "GOMODCACHE"), "cache", "download"),
			must(t, ".", nil, "go", "env", "GOPROXY"),
		}, ","),
		"GONOSUMDB=*", "GONOSUMCHECK=1", "GOTOOLCHAIN=local", "CGO_ENABLED=0",
	}
	bin := filepath.Join(home, "go", "bin")
	t.Run("command", func(t *testing.T) {
		must(t, home, env, "go", "install", module+"/cmd/elasticjob@"+version)
		elasticjob := filepath.Join(bin, "elasticjob")
		if out := must(t, home, env, elasticjob, "version"); !strings.Contains(out, version+"\n") {
			t.Errorf("it says it is\n%s", out)
		}
		demo(t, home, env, elasticjob)
	})
	t.Run("quickstart", func(t *testing.T) {
		must(t, home, env, "go", "install", module+"/examples/quickstart@"+version)
		if err := os.MkdirAll(filepath.Join(home, "files"), 0o700); err != nil {
			t.Fatal(err)
		}
		out := must(t, home, env, filepath.Join(bin, "quickstart"), "-dir", repository)
		t.Logf("its last line: %s", out[strings.LastIndexByte(out, '\n')+1:])
	})
	for name, importer := range importers {
		t.Run(name, func(t *testing.T) {
			sums, size := build(t, env, importer.imports)
			t.Logf("%d modules in go.sum, a binary of %.1f MB without debug information", sums, float64(size)/1e6)
			if importer.sums > 0 && sums > importer.sums {
				t.Errorf("who imports %s has %d modules in his go.sum, at most %d are allowed: which line of the root's go.mod brings more?",
					importer.imports, sums, importer.sums)
			}
		})
	}
	if !t.Failed() {
		if err := os.MkdirAll(filepath.Dir(passed), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(passed, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// remembered is the file that is there if a tree has passed with this release of Go.
func remembered(t *testing.T, tree string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(cache, "elasticjob", "installed", tree+"-"+must(t, ".", nil, "go", "env", "GOVERSION"))
}

// proxy makes a module proxy of files of what is tagged, and returns its folder.
func proxy(t *testing.T, repository string) string {
	t.Helper()
	folder := t.TempDir()
	for _, tag := range released(t, repository, version) {
		sub := strings.TrimSuffix(strings.TrimSuffix(tag, version), "/")
		path := strings.TrimSuffix(module+"/"+sub, "/")
		at := filepath.Join(folder, path, "@v")
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		mod := must(t, repository, author, "git", "show", tag+":"+filepath.Join(sub, "go.mod"))
		for name, text := range map[string]string{
			"list": version + "\n", version + ".mod": mod + "\n",
			version + ".info": fmt.Sprintf(`{"Version": %q, "Time": "2026-01-02T03:04:05Z"}`, version),
		} {
			if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		file, err := os.Create(filepath.Join(at, version+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		if err := zip.CreateFromVCS(file, modmodule.Version{Path: path, Version: version}, repository, tag, sub); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// demo starts the demo of the console, asks for its page, and interrupts it.
func demo(t *testing.T, home string, env []string, elasticjob string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), elasticjob, "console", "--demo", "--listen", "127.0.0.1:0")
	cmd.Dir, cmd.Env = home, append(os.Environ(), env...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = cmd.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	address := ""
	for lines := bufio.NewScanner(io.TeeReader(stderr, &said)); address == "" && lines.Scan(); {
		address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(lines.Text())
	}
	if address == "" {
		t.Fatalf("the demo does not say where it is: %v\n%s", cmd.Wait(), &said)
	}
	answer, err := http.Get(address + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("%s/readyz: %s, %v", address, answer.Status, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(&said, stderr); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after an interrupt: %v\n%s", err, &said)
	}
}

// build builds a program that imports packages, and returns how many modules its go.sum names, and its size.
func build(t *testing.T, env, packages []string) (sums int, size int64) {
	t.Helper()
	dir := t.TempDir()
	var program strings.Builder
	program.WriteString("package main\n\nimport (\n")
	for _, pkg := range packages {
		fmt.Fprintf(&program, "\t_ %q\n", module+"/"+pkg)
	}
	program.WriteString(")\n\nfunc main() {}\n")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, dir, env, "go", "mod", "init", "example.com/importer")
	for _, pkg := range packages {
		must(t, dir, env, "go", "get", module+"/"+pkg+"@"+version)
	}
	must(t, dir, env, "go", "mod", "tidy") // which adds what the tests of these packages import
	must(t, dir, env, "go", "build", "-o", "importer", ".")
	text, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		path, _, _ := strings.Cut(line, " ")
		modules[path] = modules[path] || !strings.HasPrefix(path, module)
	}
	for _, counts := range modules {
		if counts {
			sums++
		}
	}
	info, err := os.Stat(filepath.Join(dir, "importer"))
	if err != nil {
		t.Fatal(err)
	}
	return sums, info.Size()
}
