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

// Server is one host of a job.
type Server struct {
	coord.Node
	IP string
	// Enabled is false only if the value is [Disabled], in upper or lower case: ElasticJob
	// 2.1 writes an empty value for an enabled server.
	Enabled bool
}

func decodeServer(ip string, n coord.Node) *Server {
	return &Server{Node: n, IP: ip, Enabled: !bytes.EqualFold(bytes.TrimSpace(n.Value), []byte(Disabled))}
}
