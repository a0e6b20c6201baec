package deploy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// instruction is one of a Dockerfile.
type instruction struct {
	line  int
	name  string            // in upper case
	flags map[string]string // --name=value
	args  string
}

// list returns the arguments: of the JSON form, or words.
func (i instruction) list() []string {
	var list []string
	if json.Unmarshal([]byte(i.args), &list) == nil {
		return list
	}
	return strings.Fields(i.args)
}

// readDockerfile reads the instructions. It knows comments, continued lines and flags; it has no here-documents and no
// escape directive.
func readDockerfile(path string) (all []instruction, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	lines := bufio.NewScanner(file)
	var text string
	for n, begin := 1, 0; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue // within a continued instruction, too
		}
		if begin == 0 {
			begin = n
		}
		if before, ok := strings.CutSuffix(line, `\`); ok {
			text += before
			continue
		}
		i := instruction{line: begin, flags: map[string]string{}}
		i.name, i.args, _ = strings.Cut(text+line, " ")
		i.name = strings.ToUpper(i.name)
		for i.args = strings.TrimSpace(i.args); strings.HasPrefix(i.args, "--"); i.args = strings.TrimSpace(i.args) {
			var flag string
			flag, i.args, _ = strings.Cut(i.args, " ")
			name, value, ok := strings.Cut(flag[len("--"):], "=")
			if !ok {
				return nil, fmt.Errorf("%s:%d: %s: flag %s without a value", path, begin, i.name, flag)
			}
			i.flags[name] = value
		}
		all = append(all, i)
		text, begin = "", 0
	}
	if text != "" {
		return nil, fmt.Errorf("%s: the last line is continued", path)
	}
	return all, lines.Err()
}

func TestReadDockerfile(t *testing.T) {
	path := t.TempDir() + "/Dockerfile"
	text := "# comment\nFROM --platform=$BUILDPLATFORM go:1 AS build\n\nRUN --mount=type=cache,target=/a a && \\\n  # within\n  b\nentrypoint [\"/x\", \"a b\"]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := readDockerfile(path)
	if got, want := fmt.Sprint(all, err), "[{2 FROM map[platform:$BUILDPLATFORM] go:1 AS build} {4 RUN map[mount:type=cache,target=/a] a && b} {7 ENTRYPOINT map[] [\"/x\", \"a b\"]}] <nil>"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := fmt.Sprintf("%q", all[2].list()); got != `["/x" "a b"]` {
		t.Errorf("the entry point: %s", got)
	}
}
