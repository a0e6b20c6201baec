package etcd

import (
	"strconv"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/elasticjob-go/elasticjob/coord"
)

// keyspace turns the paths of a namespace into keys and back.
type keyspace struct {
	prefix string // "/{namespace}/"
}

// keyRange has the keys from the first up to but without the second.
type keyRange struct{ from, to string }

// afterSlash is the byte after the slash: what ends with it ends a subtree.
const afterSlash = "0"

func newKeyspace(namespace string) keyspace { return keyspace{prefix: "/" + namespace + "/"} }

func (k keyspace) key(path string) string { return k.prefix + path }

// below is the range of everything below a node. "" is the root.
func (k keyspace) below(path string) keyRange {
	if path == "" {
		return keyRange{k.prefix, k.prefix[:len(k.prefix)-1] + afterSlash}
	}
	return keyRange{k.prefix + path + "/", k.prefix + path + afterSlash}
}

// around is the smallest range that has a node and everything below it. It also has
// siblings: those whose names begin with the node's and go on below the slash.
func (k keyspace) around(path string) keyRange {
	if path == "" {
		return k.below(path)
	}
	return keyRange{k.prefix + path, k.prefix + path + afterSlash}
}

// session is the key that stands for a session.
func (k keyspace) session(lease int64) string {
	return k.prefix + "/sessions/" + strconv.FormatInt(lease, 16)
}

// path is the node of a key, if it is one of a node: those of sessions are not.
func (k keyspace) path(key []byte) (string, bool) {
	rest := key[len(k.prefix):]
	if len(rest) == 0 || rest[0] == '/' {
		return "", false
	}
	return string(rest), true
}

func newNode(path string, kv *mvccpb.KeyValue) coord.Node {
	return coord.Node{
		Path:     path,
		Value:    kv.Value,
		Version:  kv.ModRevision,
		Created:  kv.CreateRevision,
		Modified: kv.ModRevision,
		Owner:    coord.SessionID(kv.Lease),
	}
}
