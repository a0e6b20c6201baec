package jobtree

import (
	"errors"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Kill is the node that says that one run of an item is to end. Who runs the item removes it
// when the run has ended; the leader, if it came too late.
type Kill struct {
	coord.Node
	KillDocument
	// Err says why the document could not be read; then it kills nothing.
	Err error
}

// KillDocument is the value of a kill's node.
type KillDocument struct {
	// Token is the fencing token of the run. No other run of the item ends.
	Token int64 `doc:"token"`
	// Failover is whether the run is to begin again elsewhere.
	Failover bool `doc:"failover"`
	// By is who asked for it, and At when: for people.
	By string    `doc:"by,255"`
	At time.Time `doc:"at"`
}

// Kills reports whether the document is about the run with a token.
func (k *Kill) Kills(token int64) bool {
	return k != nil && k.Err == nil && token != 0 && k.Token == token
}

var kills = newCodec("kill", 4<<10, func(d *KillDocument) error {
	if d.Token <= 0 {
		return errors.New("token: a positive integer is needed")
	}
	return nil
})

// EncodeKill writes the value of a kill's node.
func EncodeKill(d KillDocument) []byte { return kills.encode(d) }

func decodeKill(n coord.Node) *Kill {
	k := &Kill{Node: n}
	k.KillDocument, k.Err = kills.decode(n.Value)
	return k
}
