package zk

import zookeeper "github.com/go-zookeeper/zk"

// Sizes of what is sent, in bytes, as ZooKeeper's protocol has them.
const (
	// maxPacket is the largest request that a server takes (jute.maxbuffer, 1 MiB
	// less one byte unless configured); at a larger one it closes the connection.
	maxPacket = 1<<20 - 1
	// lengthPrefix stands before a packet, and is not part of its length.
	lengthPrefix  = 4
	requestHeader = 8
	opHeader      = 9 // of each request in a multi, and of its end
	text          = 4 // the length of a string, a value or a list
	number        = 4
)

// size is how large the request will be.
func (p *plan) size() int {
	size := requestHeader + opHeader
	for _, request := range p.requests {
		switch q := request.(type) {
		case *zookeeper.CreateRequest:
			size += opHeader + text + len(q.Path) + text + len(q.Data) + text + number
			for _, acl := range q.Acl {
				size += number + text + len(acl.Scheme) + text + len(acl.ID)
			}
		case *zookeeper.SetDataRequest:
			size += opHeader + text + len(q.Path) + text + len(q.Data) + number
		case *zookeeper.DeleteRequest:
			size += deleteSize(q.Path)
		case *zookeeper.CheckVersionRequest:
			size += opHeader + text + len(q.Path) + number
		}
	}
	return size
}

// deleteSize is what the removal of a node adds.
func deleteSize(path string) int { return opHeader + text + len(path) + number }
