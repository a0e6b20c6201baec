package zk

import zookeeper "github.com/go-zookeeper/zk"

// Sizes in ZooKeeper's protocol, in bytes.
const (
	// maxPacket is the largest request that a server takes (jute.maxbuffer, by default
	// 1 MiB less one byte). If a request is larger the server closes the connection.
	maxPacket = 1<<20 - 1
	// lengthPrefix is the size of the length before a packet, which does not count itself.
	lengthPrefix  = 4
	requestHeader = 8
	opHeader      = 9 // before each request in a multi, and at its end
	text          = 4 // the length before a string, a value or a list
	number        = 4
)

// size is how large the plan's request will be.
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

// deleteSize is how much the removal of a node adds to a request.
func deleteSize(path string) int { return opHeader + text + len(path) + number }
