package ops_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What README.md shows of steering compiles.
func TestReadmeSteeringCompiles(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, steering, _ := strings.Cut(string(readme), "\n## Steering\n")
	_, code, ok := strings.Cut(steering, "```go\n")
	if !ok {
		t.Fatal("README.md shows no steering")
	}
	code, _, _ = strings.Cut(code, "```")
	for _, name := range regexp.MustCompile(`(?m)^(\w+), err :=`).FindAllStringSubmatch(code, -1) {
		code += "_ = " + name[1] + "\n"
	}
	program := `package main

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

func steer(ctx context.Context, reg coord.Registry, monday, friday time.Time) error {
` + code + `return err
}

func main() { _ = steer }
`
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "vet", file).CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
}
