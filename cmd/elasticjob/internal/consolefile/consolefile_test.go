package consolefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console"
)

func consoleFileOf(t *testing.T, document string) (*File, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "console.yaml")
	if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	return Read(path)
}

func TestConsoleFile(t *testing.T) {
	t.Setenv("CONSOLE_HOST", "console.example")
	t.Setenv("CONSOLE_SECRET", "hunter2\n")
	f, err := consoleFileOf(t, `
hosts: ["${env:CONSOLE_HOST}"]
sessions: {idle: 10m}
limits: {requests: 64, requestsOfAddress: 16, streams: 500, streamsOfAddress: 50, url: 4096, header: 16384, body: 65536, time: 10s, bodyTime: 5s, write: 3s}
findings: {late: 90s, long: 2h, missed: 7}
proxy: {from: [10.0.0.1, "fd00::/8"], user: X-User, groups: X-Groups, grants: {ops: ["operator:prod*:pay-*", viewer]}}
oidc: {clientSecret: "${env:CONSOLE_SECRET}"}
`)
	if err != nil {
		t.Fatal(err)
	}
	if f.Hosts[0] != "console.example" || f.Sessions.Idle != 10*time.Minute || f.OIDC.ClientSecret != "hunter2" {
		t.Errorf("%+v", f)
	}
	want := console.Limits{
		Requests: 64, RequestsOfAddress: 16, Streams: 500, StreamsOfAddress: 50, URL: 4096, Header: 16384, Body: 65536,
		Time: 10 * time.Second, BodyTime: 5 * time.Second, Write: 3 * time.Second,
	}
	if f.Limits != want {
		t.Errorf("%+v", f.Limits)
	}
	if f.Findings.Late != 90*time.Second || f.Findings.Long != 2*time.Hour || f.Findings.Missed != 7 {
		t.Errorf("%+v", f.Findings)
	}
	p, err := f.TrustedProxy()
	if err != nil || p.From[0].String() != "10.0.0.1/32" || len(p.Grants["ops"]) != 2 || p.Grants["ops"][0].Jobs[0] != "pay-*" {
		t.Errorf("%+v, %v", p, err)
	}
}

// A mistake is told with its line, and no secret with it.
func TestConsoleFileMistakes(t *testing.T) {
	for document, want := range map[string]string{
		"\nhots: []":                                        "line 2: field hots not found",
		"oidc: {clientSecret: hunter2}":                     "line 1: a secret has to be a reference",
		"oidc: {clientSecret: [hunter2]}":                   "line 1: a secret has to be a reference",
		"oidc: {clientSecret: \"${env:NO_SUCH_VARIABLE}\"}": "NO_SUCH_VARIABLE",
		"connections: {keys: hunter2}":                      "line 1: a secret has to be a reference",
		"sessions: {idle: soon}":                            "line 1",
		"hosts: [\"${file:/no/such/file}\"]":                "/no/such/file",
		"limits: {requests: -1}":                            "limits: requests: -1; allowed are 1 to 100000",
		"limits: {time: 500ms}":                             "limits: time: 500ms; allowed are 1s to 10m0s",
		"limits: {time: 30}":                                "line 1: cannot construct !!int `30` into time.Duration",
		"limits: {body: 2000000}":                           "limits: body: 2000000; allowed are 1024 to 1048576",
		"limits: {body: 1 MiB}":                             "line 1",
		"findings: {late: -1s}":                             "findings: late is below 0",
		"sinks: {webhook: logs}":                            "line 1",
		"sinks: {kafka: logs}":                              "field kafka not found",
		"limits: {speed: 1}":                                "field speed not found",
		"- hunter2":                                         "line 1",
		strings.Repeat("#", maxFile+1):                      "more than",
	} {
		_, err := consoleFileOf(t, document)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") || len(err.Error()) > 1000 {
			t.Errorf("%.60q: %v, want %s", document, err, want)
		}
	}
}
