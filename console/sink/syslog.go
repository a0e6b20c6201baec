//go:build !windows && !plan9

package sink

import (
	"bytes"
	"context"
	"errors"
	"log/syslog"
	"net/url"
)

// logServer is a server of syslog, or the local one if network is empty. It is connected to with the first line.
type logServer struct {
	network, address string
	to               *syslog.Writer
}

func openSyslog(where string) (target, error) {
	if where == "local" {
		return &logServer{}, nil
	}
	u, err := url.Parse(where)
	if err != nil || u.Scheme != "udp" && u.Scheme != "tcp" || u.Port() == "" || where != u.Scheme+"://"+u.Host {
		return nil, errors.New("allowed are local, udp://host:port, and tcp://host:port")
	}
	return &logServer{network: u.Scheme, address: u.Host}, nil
}

func (l *logServer) send(_ context.Context, line []byte) (err error) {
	if l.to == nil {
		if l.to, err = syslog.Dial(l.network, l.address, syslog.LOG_AUTH|syslog.LOG_NOTICE, "elasticjob"); err != nil {
			return err
		}
	}
	_, err = l.to.Write(bytes.TrimSuffix(line, []byte("\n"))) // connects again by itself
	return err
}

func (l *logServer) close() error {
	if l.to == nil {
		return nil
	}
	return l.to.Close()
}
