package zkserver

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// CLI gives lines to zkCli, ZooKeeper's shell, and returns what it prints. A line that fails
// says so there, and the next ones are done all the same.
func (s *Server) CLI(ctx context.Context, lines ...string) (string, error) {
	java, classPath, err := installed()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
		"-cp", classPath, "org.apache.zookeeper.ZooKeeperMain", "-server", s.Addr())
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("zkCli at %s: %w:\n%s", s.Addr(), err, out)
	}
	return string(out), nil
}
