package etcd

import (
	"strconv"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/elasticjob-go/elasticjob/coord"
)

// keyspace converts the paths of a namespace to keys and back.
type keyspace struct {
	prefix string // "/{namespace}/"
}

// keyRange is the range of keys from from, up to but without to.
type keyRange struct{ from, to string }

// afterSlash is the character after the slash. A range up to "a0" ends behind all "a/...".
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

// around is the smallest range that has a node and everything below it. It also has some
// siblings: those whose names go on, after the node's name, with a character that sorts
// before the slash, such as a-b for a.
func (k keyspace) around(path string) keyRange {
	if path == "" {
		return k.below(path)
	}
	return keyRange{k.prefix + path, k.prefix + path + afterSlash}
}

// session is the key that the adapter keeps for a session.
func (k keyspace) session(lease int64) string {
	return k.prefix + "/sessions/" + strconv.FormatInt(lease, 16)
}

// path is the path of a key's node; ok is false for a session's key, which has no node.
func (k keyspace) path(key []byte) (path string, ok bool) {
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
