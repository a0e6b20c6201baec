package zkserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

var moreJars = [...]string{"slf4j-simple.jar", "netty-codec.jar", "netty-resolver.jar", "netty-transport-native-unix-common.jar", "commons-cli.jar"}

// release is the environment variable that names the folder of an unpacked release of ZooKeeper, such as
// apache-zookeeper-3.9.3-bin, which is taken in place of Debian's package.
const release = "ZOOKEEPER"

// installed returns the Java binary and the class path.
func installed() (java, classPath string, err error) {
	java, err = exec.LookPath("java")
	if err != nil {
		return "", "", fmt.Errorf("%w (%w)", ErrNotInstalled, err)
	}
	if folder := os.Getenv(release); folder != "" {
		jars, err := filepath.Glob(filepath.Join(folder, "lib", "zookeeper-[0-9]*.jar"))
		if err != nil || len(jars) == 0 {
			return "", "", fmt.Errorf("%w (%s=%s: the folder of an unpacked release is allowed, with lib/zookeeper-*.jar)", ErrNotInstalled, release, folder)
		}
		return java, filepath.Join(folder, "conf") + string(os.PathListSeparator) + filepath.Join(folder, "lib", "*"), nil
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

// Require skips a test where ZooKeeper is not installed, and with go test -short. It fails the test instead of the
// former, and does not do the latter, if the environment variable REQUIRE_ZOOKEEPER is set, or ZOOKEEPER names a folder.
func Require(t testing.TB) {
	t.Helper()
	isRequired := strings.TrimSpace(os.Getenv("REQUIRE_ZOOKEEPER")+os.Getenv(release)) != ""
	if testing.Short() && !isRequired {
		t.Skip("go test -short does without ZooKeeper")
	}
	if _, _, err := installed(); err != nil {
		if isRequired {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}
