package zkserver

import (
	"fmt"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/testserver/child"
)

// Config of a server. The zero value is a server without TLS, with short ticks.
type Config struct {
	// Tick is ZooKeeper's tickTime. Sessions expire at its multiples, and members of an
	// ensemble send each other two messages in it. The shortest session time-out that is
	// granted is two ticks. Default 100 ms.
	Tick time.Duration
	// MaxSessionTimeout is the longest session time-out that is granted. Default 10 min.
	MaxSessionTimeout time.Duration
	// Fsync makes every write wait for the disk, as servers in production do.
	Fsync bool
	// Optimize lets the JVM compile and collect as it does in production, for load. Such a
	// server starts slowly and is large.
	Optimize bool
	// TLS adds a port with a certificate for localhost and 127.0.0.1; see
	// Server.TLSAddr and Server.Authority. Such a server takes twice as long to start.
	TLS bool
	// ClientAuth makes clients of the port with TLS show a certificate, such as
	// Server.ClientCertificate.
	ClientAuth bool
}

func (c Config) withDefaults() Config {
	if c.Tick == 0 {
		c.Tick = 100 * time.Millisecond
	}
	if c.MaxSessionTimeout == 0 {
		c.MaxSessionTimeout = 10 * time.Minute
	}
	return c
}

// jvm returns the flags of the JVM's compiler, memory and threads. Without Optimize it starts fast and
// stays small: a server in a test has too little to do for the optimizing compiler, a parallel
// garbage collector, or passing each request on from thread to thread, to pay off.
func (c Config) jvm() []string {
	if c.Optimize {
		return []string{"-Xms256m", "-Xmx1g"}
	}
	return []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms64m", "-Xmx512m",
		"-Dzookeeper.nio.numSelectorThreads=1", "-Dzookeeper.nio.numWorkerThreads=0", "-Dzookeeper.commitProcessor.numWorkerThreads=0"}
}

// peer is what every member of an ensemble knows of one member.
type peer struct{ id, quorumPort, electionPort int }

// file returns the content of zoo.cfg.
func (s *Server) file() string {
	var b strings.Builder
	set := func(key string, value any) { fmt.Fprintf(&b, "%s=%v\n", key, value) }
	set("dataDir", s.folder)
	set("clientPortAddress", child.Host)
	set("clientPort", s.port)
	set("tickTime", s.cfg.Tick.Milliseconds())
	set("minSessionTimeout", 2*s.cfg.Tick.Milliseconds())
	set("maxSessionTimeout", s.cfg.MaxSessionTimeout.Milliseconds())
	set("maxClientCnxns", 0)
	set("admin.enableServer", false)
	set("4lw.commands.whitelist", "*")
	if !s.cfg.Optimize {
		set("preAllocSize", 1024) // KiB
	}
	if !s.cfg.Fsync {
		set("forceSync", "no")
	}
	if s.cfg.TLS {
		set("serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory")
		set("secureClientPortAddress", child.Host)
		set("secureClientPort", s.tlsPort)
		if s.cfg.ClientAuth {
			set("ssl.clientAuth", "need")
		} else {
			set("ssl.clientAuth", "none")
		}
		set("ssl.keyStore.type", "PEM")
		set("ssl.keyStore.location", s.path("server.pem"))
		set("ssl.trustStore.type", "PEM")
		set("ssl.trustStore.location", s.path("authority.pem"))
	}
	if len(s.peers) > 0 {
		// Both are in ticks: a member may take ten seconds to join, and is given up after
		// five seconds without a message.
		set("initLimit", int(10*time.Second/s.cfg.Tick))
		set("syncLimit", int(5*time.Second/s.cfg.Tick))
		for _, p := range s.peers {
			set(fmt.Sprintf("server.%d", p.id), fmt.Sprintf("%s:%d:%d", child.Host, p.quorumPort, p.electionPort))
		}
	}
	return b.String()
}
