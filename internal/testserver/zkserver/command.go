package zkserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

func (s *Server) command(ctx context.Context, word string) (string, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Addr())
	if err != nil {
		return "", err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

// Metric returns one number of the "mntr" command, such as "zk_watch_count" or
// "zk_global_sessions".
func (s *Server) Metric(ctx context.Context, name string) (int, error) {
	answer, err := s.Command(ctx, "mntr")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(answer) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && key == name {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0, fmt.Errorf("metric %s of the ZooKeeper server at %s: %w", name, s.Addr(), err)
			}
			return int(n), nil
		}
	}
	return 0, fmt.Errorf("the ZooKeeper server at %s has no metric %s", s.Addr(), name)
}

// Leads reports whether the server leads an ensemble.
func (s *Server) Leads(ctx context.Context) (bool, error) {
	answer, err := s.Command(ctx, "srvr")
	return strings.Contains(answer, "Mode: leader"), err
}
