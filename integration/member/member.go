// Package member is a process of the fault suite that is one member of an etcd cluster, so
// that it can be killed, stopped by a signal, and run out of disk like any other.
package member

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/crypto/bcrypt"
)

// Config is the only line of a member's input. The member ends when its input does.
type Config struct {
	Name string `json:"name"`
	// Folder keeps its data over restarts.
	Folder string `json:"folder"`
	// Client and Peer are the addresses that it listens on, each "host:port".
	Client string `json:"client"`
	Peer   string `json:"peer"`
	// Cluster lists all members: "name=http://peer,…".
	Cluster string `json:"cluster"`
	// Quota is how large its database may grow, in bytes; 0 is etcd's default.
	Quota int64 `json:"quota,omitempty"`
}

// Main is the whole of the process, and returns its exit code. It writes a line to its
// standard output once it serves.
func Main() int {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func run(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	if !lines.Scan() {
		return fmt.Errorf("member: no configuration: %w", lines.Err())
	}
	var c Config
	if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
		return fmt.Errorf("member: configuration: %w", err)
	}
	// Without this the signal SIGXFSZ would end the process: a write beyond the limit must
	// fail as on a full disk.
	signal.Ignore(syscall.SIGXFSZ)

	e := embed.NewConfig()
	e.Name, e.Dir, e.InitialCluster = c.Name, c.Folder, c.Cluster
	e.ListenClientUrls, e.AdvertiseClientUrls = at(c.Client), at(c.Client)
	e.ListenPeerUrls, e.AdvertisePeerUrls = at(c.Peer), at(c.Peer)
	e.QuotaBackendBytes = c.Quota
	e.EnableGRPCGateway = false
	e.BcryptCost = uint(bcrypt.MinCost)
	// Without fsync, what was acknowledged survives the end of the process, though not of
	// the machine. That is enough here.
	e.UnsafeNoFsync = true
	e.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.New(zapcore.NewCore(
		zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig()), zapcore.AddSync(os.Stderr), zap.ErrorLevel)))
	etcd, err := embed.StartEtcd(e)
	if err != nil {
		return fmt.Errorf("member %s: %w", c.Name, err)
	}
	ended := make(chan struct{})
	go func() {
		for lines.Scan() {
		}
		close(ended)
	}()
	ready := etcd.Server.ReadyNotify()
	for {
		select {
		case <-ready:
			ready = nil
			fmt.Fprintln(out, "ready")
		case err := <-etcd.Err():
			return fmt.Errorf("member %s: %w", c.Name, err)
		case <-etcd.Server.StopNotify():
			return fmt.Errorf("member %s stopped by itself", c.Name)
		case <-ended:
			return nil // the process that started it has closed its input, or is gone
		}
	}
}

func at(address string) []url.URL { return []url.URL{{Scheme: "http", Host: address}} }
