package job_test

import (
	"testing"
)

func etcdStore(t *testing.T) store      { t.Skip("todo"); return nil }
func zookeeperStore(t *testing.T) store { t.Skip("todo"); return nil }
