package script_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
)

// result is how a job with a script has run.
type result struct {
	job.Event
	lines []line
}

// line is what was logged.
type line struct {
	Level, Msg, Stream string
	Lines, Processes   int
}

func (r result) logged(stream string) (messages []string) {
	for _, l := range r.lines {
		if l.Stream == stream {
			messages = append(messages, l.Msg)
		}
	}
	return messages
}

func (r result) says(part string) bool {
	return slices.ContainsFunc(r.lines, func(l line) bool { return strings.Contains(l.Msg, part) })
}

// runJob runs a job with these properties once.
func runJob(t *testing.T, c job.Config) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var log bytes.Buffer
	e, err := underScheduler(ctx, newType(t, script.Options{}), c, slog.NewJSONHandler(&log, nil))
	if err != nil {
		t.Fatal(err)
	}
	r := result{Event: e}
	for text := range strings.Lines(log.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		r.lines = append(r.lines, l)
	}
	return r
}

func runProps(t *testing.T, props map[string]string) result {
	t.Helper()
	return runJob(t, job.Config{Name: "script", ShardingTotalCount: 1, ShardingItemParameters: "0=Beijing", JobParameter: "all", Props: props})
}

func newType(t *testing.T, o script.Options) job.Type {
	t.Helper()
	kind, err := script.New(script.Supervise(), o)
	if err != nil {
		t.Fatal(err)
	}
	return kind
}

func newHandler(t *testing.T, o script.Options, props map[string]string) job.Handler {
	t.Helper()
	h, err := newType(t, o).Handler(job.Config{Name: "script", ShardingTotalCount: 1, Props: props})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestNewNeedsASupervisor(t *testing.T) {
	_, err := script.New(script.Supervisor{}, script.Options{})
	if err == nil || !strings.Contains(err.Error(), "script.Supervise first of all in main") {
		t.Errorf("got %v", err)
	}
}

// What the program ends with is what the item ends with.
func TestCodes(t *testing.T) {
	for _, tc := range []struct {
		name    string
		props   map[string]string
		wantErr string
		want    *script.ExitError
		skipped bool
	}{
		{name: "success", props: sh("exit 0")},
		{name: "failure", props: sh("echo one >&2; echo two >&2; exit 3"), wantErr: `script: "/bin/sh": exit code 3: one | two`, want: &script.ExitError{Program: "/bin/sh", Code: 3, Stderr: "one | two"}},
		{name: "another success", props: sh("exit 3", "script.codes.success", "0,2-4")},
		{name: "0 is no success", props: sh("exit 0", "script.codes.success", "1"), wantErr: `script: "/bin/sh": exit code 0`, want: &script.ExitError{Program: "/bin/sh"}},
		{name: "skip", props: sh("exit 75", "script.codes.skip", "75"), skipped: true},
		{name: "signal", props: sh("kill -KILL $$"), wantErr: `script: "/bin/sh": ended by signal: killed`, want: &script.ExitError{Program: "/bin/sh", Code: -1, Signal: syscall.SIGKILL}},
		{name: "last words are bounded", props: sh("for i in 1 2 3 4 5; do printf %0200d 0 | tr 0 $i >&2; echo >&2; done; exit 1"), wantErr: `script: "/bin/sh": exit code 1: ` + strings.Repeat("4", 97) + " | " + strings.Repeat("5", 200)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := runProps(t, tc.props)
			if tc.wantErr == "" {
				if r.Err != nil || r.Outcome != job.OutcomeOK {
					t.Errorf("got %v, %v", r.Outcome, r.Err)
				}
			} else if r.Err == nil || r.Err.Error() != tc.wantErr || r.Outcome != job.OutcomeFailed {
				t.Errorf("got %v, %v\nwant %s", r.Outcome, r.Err, tc.wantErr)
			}
			if exit, ok := errors.AsType[*script.ExitError](r.Err); tc.want != nil && (!ok || *exit != *tc.want) {
				t.Errorf("got %+v, want %+v", exit, tc.want)
			}
			if r.says("skipped") != tc.skipped {
				t.Errorf("logged %v", r.lines)
			}
		})
	}
}

// With codes of retry only these are retried; without them all failures are.
func TestRetryCodes(t *testing.T) {
	for _, tc := range []struct {
		name  string
		props map[string]string
		want  int
	}{
		{"no list", sh("exit 5"), 3},
		{"in the list", sh("exit 5", "script.codes.retry", "4-6"), 3},
		{"not in the list", sh("exit 7", "script.codes.retry", "4-6"), 1},
		{"a signal is not in the list", sh("kill -KILL $$", "script.codes.retry", "1-255"), 1},
		{"a program that is missing", map[string]string{"script.command.line": "/no/such/program", "script.codes.retry": "1"}, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := runJob(t, job.Config{Name: "script", ShardingTotalCount: 1, Props: tc.props, Retry: job.Retry{Attempts: 2, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond}})
			if r.Attempt != tc.want || r.Err == nil {
				t.Errorf("%d attempts, want %d: %v", r.Attempt, tc.want, r.Err)
			}
		})
	}
}

// What cannot be started fails the item, and says why.
func TestStartFailures(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("file", "x", 0o644)
	crlf, elsewhere := write("crlf", "#!/bin/sh\r\ntrue\r\n", 0o755), write("elsewhere", "#! /opt/no/python -u\n", 0o755)
	mute := write("mute", "true\n", 0o755)
	line := func(program string) map[string]string { return map[string]string{"script.command.line": program} }
	for _, tc := range []struct {
		name, want string
		is         error
		props      map[string]string
	}{
		{"missing", `script: start "/no/such/program": no such file or directory`, fs.ErrNotExist, map[string]string{"script.command.line": "/no/such/program"}},
		{"not in PATH", `script: start "no-such-program": no such file or directory in its PATH`, fs.ErrNotExist, map[string]string{"script.command.line": "no-such-program"}},
		{"no PATH", `script: start "sh": no such file or directory in its PATH`, fs.ErrNotExist, map[string]string{"script.command.line": "sh", "script.inherit": "none"}},
		{"not executable", `script: start "` + file + `": permission denied: the file is not executable`, fs.ErrPermission, line(file)},
		{"a folder", `script: start "` + folder + `": permission denied: it is a folder`, fs.ErrPermission, line(folder)},
		{"CRLF", `script: start "` + crlf + `": no such file or directory: the lines of the script end as on Windows (CRLF); LF alone is needed, as dos2unix writes it`, fs.ErrNotExist, line(crlf)},
		{"in its directory", `script: start "./crlf": no such file or directory: the lines of the script end as on Windows (CRLF); LF alone is needed, as dos2unix writes it`, fs.ErrNotExist, map[string]string{"script.command.line": "./crlf", "script.directory": folder}},
		{"no interpreter", `script: start "` + elsewhere + `": no such file or directory: the interpreter in its first line, "/opt/no/python", is missing`, fs.ErrNotExist, line(elsewhere)},
		{"no first line", `script: start "` + mute + `": exec format error: it is no program for this system, nor a script whose first line names an interpreter, such as #!/bin/sh`, syscall.ENOEXEC, line(mute)},
		{"no such directory", `script: start "/bin/sh": working directory: stat /no/such/folder: no such file or directory`, fs.ErrNotExist, sh("true", "script.directory", "/no/such/folder")},
		{"no directory", `script: start "/bin/sh": working directory: ` + file + `: not a directory`, syscall.ENOTDIR, sh("true", "script.directory", file)},
		{"no such user", `script: run as user "nobody-knows": user: unknown user nobody-knows`, nil, sh("true", "script.user", "nobody-knows")},
		{"no such group", `script: run as user "root": group: unknown group nobody-knows`, nil, sh("true", "script.user", "root", "script.group", "nobody-knows")},
		{"too large", `script: start "/bin/sh": argument list too long`, syscall.E2BIG, tooLarge()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := newHandler(t, script.Options{}, tc.props).Execute(t.Context(), job.ShardingContext{})
			if err == nil || err.Error() != tc.want || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
		})
	}
}

// tooLarge is more than the system allows for arguments and environment together.
func tooLarge() map[string]string {
	props := sh("true")
	for i := range 100 {
		props["script.env.LARGE_"+string(rune('A'+i%26))+strings.Repeat("x", i/26)] = strings.Repeat("x", 99_000)
	}
	return props
}

// A program gets the words of its command, and the sharding context behind them.
func TestArguments(t *testing.T) {
	context := `{"jobName":"script","taskId":"`
	for _, tc := range []struct {
		name  string
		props map[string]string
		want  []string
	}{
		{"line", map[string]string{"script.command.line": `/proc/self/exe be-a-program args a 'b c'`}, []string{"3", "a", "b c", context}},
		{"list", map[string]string{"script.command.args": program("args", "a", "", "b 'c'")}, []string{"4", "a", "", "b 'c'", context}},
		{"no context", map[string]string{"script.command.args": program("args", "a"), "script.context.argument": "false"}, []string{"1", "a"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := runProps(t, tc.props)
			got := strings.Split(strings.TrimSuffix(string(r.Output), "\n"), "\n")
			if len(got) != len(tc.want) {
				t.Fatalf("got %q, want %q (%v)", got, tc.want, r.Err)
			}
			for i, want := range tc.want {
				if want == context {
					var sc struct {
						JobName, ShardingParameter, JobParameter string
						ShardingTotalCount                       int
					}
					if err := json.Unmarshal([]byte(got[i]), &sc); err != nil || sc.JobName != "script" || sc.ShardingParameter != "Beijing" || sc.JobParameter != "all" || sc.ShardingTotalCount != 1 {
						t.Errorf("the context is %s (%v)", got[i], err)
					}
				} else if got[i] != want {
					t.Errorf("argument %d is %q, want %q", i, got[i], want)
				}
			}
		})
	}
}

// A program has its own working directory, and nothing on standard input.
func TestDirectory(t *testing.T) {
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "here"), []byte("#!/bin/sh\npwd; cat; echo end\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := runProps(t, map[string]string{"script.command.line": "./here", "script.directory": folder})
	if want := folder + "\nend\n"; r.Err != nil || string(r.Output) != want {
		t.Errorf("got %q, want %q (%v)", r.Output, want, r.Err)
	}
}

// A program that takes too long ends its execution as any other handler does.
func TestTimeout(t *testing.T) {
	held := newHeld(t)
	var r result
	for again := 0; again < 5 && len(r.Output) == 0; again++ { // on a machine that stands still it has not begun by then
		r = runJob(t, job.Config{
			Name: "script", ShardingTotalCount: 1, Timeout: 4 * time.Second,
			Props: sh(`exec 9>$HOLD; echo begun; sleep 1000`, "script.env.HOLD", held.path),
		})
	}
	held.mustBeGone(t)
	if r.Outcome != job.OutcomeTimeout || !errors.Is(r.Err, job.ErrTimeout) || string(r.Output) != "begun\n" {
		t.Errorf("got %v, %v, %q", r.Outcome, r.Err, r.Output)
	}
}

// A start with wrong properties is refused, with the field named.
func TestWrongStart(t *testing.T) {
	_, err := underScheduler(t.Context(), newType(t, script.Options{}), job.Config{Name: "script", ShardingTotalCount: 1, Props: sh("", "script.grace", "x")}, slog.DiscardHandler)
	if fault, ok := errors.AsType[*job.ConfigError](err); !ok || len(fault.Faults) != 1 || fault.Faults[0].Field != "props: script.grace" {
		t.Errorf("got %v", err)
	}
}

// Scripts that run at once know nothing of each other.
func TestManyAtOnce(t *testing.T) {
	var running sync.WaitGroup
	defer running.Wait()
	for code := range 30 {
		running.Go(func() {
			h := newHandler(t, script.Options{}, sh(`(sleep 0.05 & wait); exit `+strconv.Itoa(code)))
			err := h.Execute(t.Context(), job.ShardingContext{})
			if exit, ok := errors.AsType[*script.ExitError](err); ok != (code > 0) || ok && exit.Code != code {
				t.Errorf("got %v, want exit code %d", err, code)
			}
		})
	}
}
