package connection

import (
	"context"
	"log/slog"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Options say what a book has. All are optional, but for Dial and OpenHistory where something needs them.
type Options struct {
	// File is the path of the file with the entries that can be changed. It is made with the first of
	// them. Without it, and without Given, a book is empty.
	File string
	// Given are the namespaces that the program gives, and GivenDatabases the databases. They cannot be
	// changed.
	Given          []Given
	GivenDatabases []GivenDatabase
	// Dial connects to a namespace. Its Password is the secret itself. It has to end with the context.
	// The registry becomes the book's.
	Dial func(context.Context, Namespace) (coord.Registry, error)
	// OpenHistory opens a database, without asking it anything. Its Password is the secret itself.
	OpenHistory func(Database) (History, error)
	// Keys encrypt passwords in the file. Without them the book takes references alone.
	Keys *Keys
	// Allow says what entries may refer to that the book is told to put.
	Allow Allow
	// Tell gets each change of the entries, as the trail beside the file does. It must return at once, and may be called by
	// several goroutines.
	Tell func(access.Event)
	// OnChange gets each change that is made in a namespace by the name that the book has for it: see [ops.Ops.OnChange].
	// The same holds for it.
	OnChange func(namespace string, c ops.Change)
	// Slog is told what goes wrong in the background. nil is silence.
	Slog *slog.Logger
}

// Allow is what entries may refer to that somebody puts over the network: he can have it sent where he
// likes, so it should be made for that. What stands in the file by other hands may refer to anything.
type Allow struct {
	// Variables are those of the environment.
	Variables []string
	// Folders have the files of passwords, of TLS, and of SQLite, in any depth.
	Folders []string
}

// Given is a namespace of the program: what it is, and how to get there: Ops is used as it is, and stays
// the program's; Dial connects; if both are nil, Options.Dial does.
type Given struct {
	Namespace
	Ops  *ops.Ops
	Dial func(context.Context) (coord.Registry, error)
}

// GivenDatabase is a database of the program. If Open is nil, Options.OpenHistory opens it.
type GivenDatabase struct {
	Database
	Open func() (History, error)
}
