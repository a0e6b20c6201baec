package connection

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
)

// Kinds of events in the trail of connections.
const (
	NamespacePut      access.Kind = "namespace put"
	NamespaceRemoved  access.Kind = "namespace removed"
	DatabasePut       access.Kind = "database put"
	DatabaseRemoved   access.Kind = "database removed"
	PasswordsResealed access.Kind = "passwords resealed"
)

// trailTime bounds how long a change waits for the trail.
const trailTime = 5 * time.Second

// tell notes a change that was made, in the log and in the trail beside the file, with who has made it: the
// principal of ctx. The audit of a namespace is in its store, and has nothing of this. detail has no secret.
func (b *Book) tell(ctx context.Context, kind access.Kind, detail string) {
	e := access.Event{Time: time.Now().UTC(), Kind: kind, Detail: detail}
	if p := access.From(ctx); p != nil {
		e.By, e.Address = p.Name, p.Address
	}
	b.o.Slog.Info("connections: "+string(kind), "detail", detail, "by", e.By, "address", e.Address)
	if b.o.Tell != nil {
		b.o.Tell(e)
	}
	inTime, cancel := context.WithTimeout(context.WithoutCancel(ctx), trailTime) // it was made, whoever has no time left
	defer cancel()
	if err := access.TrailOf(b.o.File).Append(inTime, e); err != nil {
		b.o.Slog.Error("connections: the trail does not have it", "kind", string(kind), "error", err)
	}
}
