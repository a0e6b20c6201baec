package zkserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// ErrNotInstalled: there is no ZooKeeper, or no Java, on this machine.
var ErrNotInstalled = errors.New("ZooKeeper is not installed; get it with `apt-get install zookeeper`, or run `make test`")

// Debian's packages put their jars here. The manifest of the main one names the others,
// except those in moreJars: logging, and a part of Netty, which TLS needs.
const (
	jarFolder = "/usr/share/java/"
	mainJar   = jarFolder + "zookeeper.jar"
)

var moreJars = [...]string{"slf4j-simple.jar", "netty-codec.jar", "netty-resolver.jar", "netty-transport-native-unix-common.jar"}

// installed returns the Java binary and the class path.
func installed() (java, classPath string, err error) {
	java, err = exec.LookPath("java")
	if err != nil {
		return "", "", fmt.Errorf("%w (%w)", ErrNotInstalled, err)
	}
	if _, err := os.Stat(mainJar); err != nil {
		return "", "", fmt.Errorf("%w (%w)", ErrNotInstalled, err)
	}
	classPath = mainJar
	for _, jar := range moreJars {
		classPath += string(os.PathListSeparator) + jarFolder + jar
	}
	return java, classPath, nil
}

// Require skips a test where ZooKeeper is not installed. It fails the test instead if the
// environment variable REQUIRE_ZOOKEEPER is set.
func Require(t testing.TB) {
	t.Helper()
	if _, _, err := installed(); err != nil {
		if strings.TrimSpace(os.Getenv("REQUIRE_ZOOKEEPER")) != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}
