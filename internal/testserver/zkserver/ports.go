package zkserver

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

const host = "127.0.0.1"

// freePorts finds ports to listen on, below the range that systems use for outgoing
// connections: nothing may take the port of a server while that is restarted.
func freePorts(n int) ([]int, error) {
	const lowest, highest, attempts = 10240, 32767, 100
	var ports []int
	var lastErr error
	for range attempts {
		if len(ports) == n {
			return ports, nil
		}
		port := lowest + rand.IntN(highest-lowest+1)
		l, err := net.Listen("tcp", address(port))
		if err != nil {
			lastErr = err
			continue
		}
		defer l.Close() // not before the end, so that no port is found twice
		ports = append(ports, port)
	}
	return nil, fmt.Errorf("no free port: %w", lastErr)
}

func address(port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
