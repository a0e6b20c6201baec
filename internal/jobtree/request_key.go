package jobtree

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/errclass"
)

// ErrQueueFull is the error of a request for which there is no room.
var ErrQueueFull = errclass.FailedPrecondition.New("queue-full", "job: too many requests wait")

// ErrKeyUsed is the error of a request under a key with which something else was asked for.
var ErrKeyUsed = errclass.InvalidArgument.New("key-used", "job: the key was used for another request")

// KeyedRequest returns what keeps a request apart that has a key: {key}.{what is asked for}, as hashes. It
// stands in the request's id, so that it is there as long as the request, whatever becomes of its
// document, and members that know no keys do not mind it. Ids without a key have no dot.
func KeyedRequest(key string, asked []byte) (unique string) {
	ofKey, ofAsked := sha256.Sum256([]byte(key)), sha256.Sum256(asked)
	return hex.EncodeToString(ofKey[:16]) + "." + hex.EncodeToString(ofAsked[:8])
}

// Submitted returns the request that was made with a unique text; nil if there is none. Its error is ErrKeyUsed.
func (s *State) Submitted(unique string) (*Request, error) {
	key, _, isKeyed := strings.Cut(unique, ".")
	for _, r := range s.Requests {
		_, with, _ := strings.Cut(r.ID, "-")
		if with == unique {
			return r, r.Err
		}
		if isKeyed && strings.HasPrefix(with, key+".") {
			return nil, ErrKeyUsed
		}
	}
	return nil, nil
}
