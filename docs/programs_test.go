package docs

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// Programs that dial etcd begin an item, and end well after an interrupt.
func TestPrograms(t *testing.T) {
	if _, err := os.Stat(root + "/go.work"); err != nil {
		t.Skip("outside of the workspace")
	}
	m := newSnippets(t)
	server := etcdserver.Start(t, etcdserver.Config{})
	seen := map[string]bool{}
	for _, page := range selected(t) {
		for _, block := range page.Blocks("go") {
			if !strings.HasPrefix(block.Text, "package main\n") || !strings.Contains(block.Text, `"127.0.0.1:2379"`) || seen[block.Text] {
				continue
			}
			seen[block.Text] = true
			name := fmt.Sprintf("program%d", len(seen))
			m.write(name+"/main.go", strings.ReplaceAll(block.Text, "127.0.0.1:2379", server.Endpoints()[0]))
			m.goCommand("build", "-ldflags=-w", "-buildvcs=false", "-o", name+".exe", "./"+name)
			if err := beginsAnItem(t, filepath.Join(m.folder, name+".exe")); err != nil {
				t.Errorf("%s: %v", page.At(block.Line), err)
			}
		}
	}
	if *only == "" && len(seen) < 2 {
		t.Errorf("only %d programs were found", len(seen))
	}
}

// beginsAnItem runs a program until its log names an item, and interrupts it then.
func beginsAnItem(t *testing.T, file string) error {
	cmd := exec.CommandContext(t.Context(), file)
	log, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var text strings.Builder
	hasBegun := false
	for lines := bufio.NewScanner(log); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		if !hasBegun && strings.Contains(lines.Text(), " item ") {
			hasBegun = true
			err = cmd.Process.Signal(os.Interrupt)
		}
	}
	if err = errors.Join(err, cmd.Wait()); err == nil && !hasBegun {
		err = errors.New("it has begun no item")
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, &text)
	}
	return nil
}
