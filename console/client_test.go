package console

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"
)

// The client is what its generator, pinned in tools/go.mod, makes of the document.
func TestClientIsGenerated(t *testing.T) {
	document := filepath.Join(t.TempDir(), "openapi.json")
	synctest.Test(t, func(t *testing.T) {
		must(t, os.WriteFile(document, documentOf(newTown(t)), 0o600))
	})
	const folder, file = "client/generate", "client/api.gen.go"
	if _, err := os.ReadDir(folder); err != nil { // go test looks, too, and runs this again if something changes there
		t.Fatal(err)
	}
	tools, err := filepath.Abs("../tools/go.mod")
	must(t, err)
	generate := exec.CommandContext(t.Context(), "go", "run", "-modfile="+tools, "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen", "-config", "config.yaml", document)
	generate.Dir, generate.Env = folder, append(os.Environ(), "GOWORK=off")
	var errs bytes.Buffer
	generate.Stderr = &errs
	want, err := generate.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.Bytes())
	}
	if *write {
		must(t, os.WriteFile(file, want, 0o644))
		return
	}
	got, err := os.ReadFile(file)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not up to date: go test . -run %s -write", file, t.Name())
	}
}
