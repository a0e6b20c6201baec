package doctor

import "strings"

// Action is what a finding advises, as a program can offer it.
type Action string

// The actions, most of them by the names of their commands.
const (
	Resume     Action = "resume"
	Enable     Action = "enable" // the items of the finding; if it has none, all servers
	Retry      Action = "retry"
	Reshard    Action = "reshard"
	ClearStale Action = "clear stale"
	Cancel     Action = "cancel" // the request at the path of the finding
	Unpin      Action = "unpin"  // its item
	Readmit    Action = "readmit"
	Remove     Action = "remove"
	// EnableServer enables the server at the path of the finding.
	EnableServer Action = "enable-server"
	// Edit opens the settings of the job.
	Edit Action = "edit"
	// OpenRun opens what runs. It has no command.
	OpenRun Action = "open-run"
)

// commandOf is the command of an action on a job; more may follow.
func commandOf(do Action, job string) string {
	switch do {
	case "", OpenRun:
		return ""
	case EnableServer:
		return "elasticjob enable " + job + " --server"
	}
	return strings.Join([]string{"elasticjob", string(do), job}, " ")
}
