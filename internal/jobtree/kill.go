package jobtree

import (
	"errors"
	"fmt"
	"strconv"
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
	Token int64
	// Failover is whether the run is to begin again elsewhere.
	Failover bool
	// By is who asked for it, and At when: for people.
	By string
	At time.Time
}

// Kills reports whether the document is about the run with a token.
func (k *Kill) Kills(token int64) bool {
	return k != nil && k.Err == nil && token != 0 && k.Token == token
}

// maxWho bounds the names that people give, in bytes.
const maxWho = 255

// EncodeKill writes the value of a kill's node.
func EncodeKill(d KillDocument) []byte {
	b := append(strconv.AppendInt([]byte("token: "), d.Token, 10), '\n')
	if d.Failover {
		b = append(b, "failover: true\n"...)
	}
	b = appendText(b, "by", d.By, maxWho)
	return appendTime(b, "at", d.At)
}

func decodeKill(n coord.Node) *Kill {
	k := &Kill{Node: n}
	if k.KillDocument, k.Err = readKill(n.Value); k.Err != nil {
		k.KillDocument, k.Err = KillDocument{}, fmt.Errorf("kill: %w", k.Err)
	}
	return k
}

func readKill(value []byte) (d KillDocument, err error) {
	const most = 4 << 10
	var token, failover, at string
	if _, err := readTexts(value, most, map[string]*string{"token": &token, "failover": &failover, "by": &d.By, "at": &at}); err != nil {
		return d, err
	}
	if d.Token, err = strconv.ParseInt(token, 10, 64); err != nil || d.Token <= 0 {
		return d, errors.New("token: a positive integer is allowed")
	}
	if d.Failover, err = parseSwitch(failover); err != nil {
		return d, fmt.Errorf("failover: %w", err)
	}
	if d.At, err = parseTime(at); err != nil {
		return d, fmt.Errorf("at: %w", err)
	}
	return d, nil
}
