package deploy

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// scripts/build makes a binary with all that belongs to it. It is equal, byte for byte, to that of the image, which was
// built in another folder: so the build depends on the commit alone, and .dockerignore leaves out nothing that counts.
// With --verify the script itself does more: it builds again without a build cache.
func TestBuild(t *testing.T) {
	made := anImage(t)
	out := t.TempDir()
	cmd := exec.Command(filepath.Join(repository, "scripts/build"), "-o", out, "linux/"+runtime.GOARCH)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	name := "elasticjob-linux-" + runtime.GOARCH
	files := map[string][]byte{}
	for _, file := range []string{name, name + ".cdx.json", "LICENSES", "SHA256SUMS"} {
		text, err := os.ReadFile(filepath.Join(out, file))
		if err != nil {
			t.Fatal(err)
		}
		files[file] = text
	}
	var sums string
	for _, file := range []string{name, name + ".cdx.json", "LICENSES"} {
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(files[file]), file)
	}
	if got := string(files["SHA256SUMS"]); got != sums {
		t.Errorf("SHA256SUMS:\n%s\nwant\n%s", got, sums)
	}
	for file, ours := range map[string]string{made.entrypoint[0]: name, "LICENSES": "LICENSES"} {
		if text, err := os.ReadFile(filepath.Join(made.root, file)); err != nil || !bytes.Equal(text, files[ours]) {
			t.Errorf("%s of the image has %d bytes, that of scripts/build %d, or they differ; %v", file, len(text), len(files[ours]), err)
		}
	}

	info, err := buildinfo.ReadFile(filepath.Join(out, name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(info.Main.Version, "v") {
		t.Errorf("the version is %q, not that of a tag or a commit", info.Main.Version)
	}
	var bill struct {
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(files[name+".cdx.json"], &bill); err != nil {
		t.Fatal(err)
	}
	for _, m := range info.Deps {
		isOurs, version := strings.HasPrefix(m.Path, "github.com/elasticjob-go/elasticjob"), m.Version
		if isOurs {
			version = info.Main.Version
		}
		if !slices.Contains(bill.Components, struct{ Name, Version string }{m.Path, version}) {
			t.Errorf("the bill of materials lacks %s %s", m.Path, version)
		}
		if !isOurs && !bytes.Contains(files["LICENSES"], []byte("\n"+m.Path+" "+m.Version+": ")) {
			t.Errorf("LICENSES lacks %s %s", m.Path, m.Version)
		}
	}
	for _, text := range []string{"github.com/go-sql-driver/mysql", "Mozilla Public License", "Go standard library: BSD-3-Clause"} {
		if !bytes.Contains(files["LICENSES"], []byte(text)) {
			t.Errorf("LICENSES lacks %q", text)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, args := range [][]string{{"plan9/amd64"}, {"-o"}, {"--fast"}} {
		text, err := exec.Command(filepath.Join(repository, "scripts/build"), args...).CombinedOutput()
		if err == nil || !strings.Contains(string(text), "allowed are linux/amd64 linux/arm64 darwin/arm64 windows/amd64") {
			t.Errorf("%q: %s, %v", args, text, err)
		}
	}
}
