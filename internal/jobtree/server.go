package jobtree

import (
	"bytes"

	"github.com/elasticjob-go/elasticjob/coord"
)

// The values of a server's node.
const (
	Enabled  = "ENABLED"
	Disabled = "DISABLED"
)

// Server is one host, and what an operator says about it.
type Server struct {
	coord.Node
	IP string
	// Enabled is false only for [Disabled], in any case: ElasticJob 2.1 writes an
	// empty value for an enabled server.
	Enabled bool
}

func decodeServer(ip string, n coord.Node) Server {
	return Server{Node: n, IP: ip, Enabled: !bytes.EqualFold(bytes.TrimSpace(n.Value), []byte(Disabled))}
}
