package child

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// Host is the address of every test server.
const Host = "127.0.0.1"

// FreePorts finds ports to listen on, below the range that systems use for outgoing
// connections: nothing may take the port of a server while that is restarted. No other
// call gets them, in this process or another, until this process ends.
func FreePorts(n int) ([]int, error) {
	const lowest, highest, attempts = 10240, 32767, 1000
	var ports []int
	var lastErr error
	for range attempts {
		if len(ports) == n {
			return ports, nil
		}
		port := lowest + rand.IntN(highest-lowest+1)
		if err := reserve(port); err != nil {
			lastErr = err
			continue
		}
		l, err := net.Listen("tcp", Address(port))
		if err != nil {
			lastErr = err
			continue
		}
		_ = l.Close()
		ports = append(ports, port)
	}
	return nil, fmt.Errorf("no free port: %w", lastErr)
}

// reserve keeps a port for this process: it binds a UDP socket to it, which a server of TCP does not meet. It is no
// net.PacketConn, which the garbage collector would close.
func reserve(port int) error {
	syscall.ForkLock.RLock()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err == nil {
		syscall.CloseOnExec(socket)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return fmt.Errorf("port %d: socket: %w", port, err)
	}
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		_ = syscall.Close(socket)
		return fmt.Errorf("port %d: bind: %w", port, err)
	}
	return nil
}

// Address returns the "host:port" of a port.
func Address(port int) string { return net.JoinHostPort(Host, strconv.Itoa(port)) }
