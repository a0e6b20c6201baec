package rights_test

import (
	"fmt"
	"log"

	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/ops/rights"
)

// What etcdctl has to be told, so that grafana may look and ben may run jobs. No password is in it.
func ExampleEtcd() {
	commands, err := rights.Etcd{
		Namespace: "shop",
		Users:     map[rights.Role][]string{rights.Reader: {"grafana"}, rights.Worker: {"ben"}},
	}.Commands()
	if err != nil {
		log.Fatal(err)
	}
	for _, command := range commands {
		fmt.Println(command)
	}
	// Output:
	// etcdctl role add shop-reader
	// etcdctl role grant-permission shop-reader read /shop/ /shop0
	// etcdctl user add grafana
	// etcdctl user grant-role grafana shop-reader
	// etcdctl role add shop-worker
	// etcdctl role grant-permission shop-worker read /shop/ /shop0
	// etcdctl role grant-permission shop-worker readwrite /shop/ '/shop/~'
	// etcdctl role grant-permission shop-worker readwrite '/shop/~elasticjob/nodes/' '/shop/~elasticjob/nodes0'
	// etcdctl role grant-permission shop-worker readwrite '/shop/~elasticjob/removed/' '/shop/~elasticjob/removed0'
	// etcdctl user add ben
	// etcdctl user grant-role ben shop-worker
	// etcdctl role add shop-operator
	// etcdctl role grant-permission shop-operator readwrite /shop/ /shop0
}

// What a worker lets others do with the nodes that it creates, for zk.Config.Grants.
func ExampleZooKeeper() {
	operator, err := zk.DigestIdentity("ops:secret")
	if err != nil {
		log.Fatal(err)
	}
	worker, err := zk.DigestIdentity("jobs:secret too")
	if err != nil {
		log.Fatal(err)
	}
	grants, err := rights.ZooKeeper{
		Namespace: "shop",
		Users:     map[rights.Role]zk.Identity{rights.Operator: operator, rights.Worker: worker},
	}.Grants(rights.Worker)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(grants)
	// Output: digest:ops:w4PIv8/Wzcq4qj4/MfEQ8pvUSS4=:cdrwa
}
