package job_test

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if raced { // tests in virtual time wait for nothing, and more of them than there are cores take twice the CPU
		_ = flag.Set("test.parallel", strconv.Itoa(runtime.GOMAXPROCS(0))) // a number is allowed
	}
	code := m.Run()
	servers.etcd.end()
	servers.zk.end()
	if err := goleak.Find(); err != nil && code == 0 {
		println(err.Error())
		code = 1
	}
	os.Exit(code)
}
