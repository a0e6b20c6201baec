package child

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Host is the address of every test server.
const Host = "127.0.0.1"

// FreePorts finds ports to listen on, below the range that systems use for outgoing
// connections: nothing may take the port of a server while that is restarted. Another
// process may take one before the server does.
func FreePorts(n int) ([]int, error) {
	const lowest, highest, attempts = 10240, 32767, 100
	var ports []int
	var lastErr error
	for range attempts {
		if len(ports) == n {
			return ports, nil
		}
		port := lowest + rand.IntN(highest-lowest+1)
		l, err := net.Listen("tcp", Address(port))
		if err != nil {
			lastErr = err
			continue
		}
		defer l.Close() // not before the end, so that no port is found twice
		ports = append(ports, port)
	}
	return nil, fmt.Errorf("no free port: %w", lastErr)
}

// Address returns the "host:port" of a port.
func Address(port int) string { return net.JoinHostPort(Host, strconv.Itoa(port)) }
