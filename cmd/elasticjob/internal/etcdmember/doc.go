// Package etcdmember is elasticjob etcd: one of one or three members of etcd beside the workers of a small team, and its
// backup.
//
//	elasticjob etcd ──────────► embed.Config ──► package embedetcd
//	elasticjob etcd snapshot ─► the maintenance API of a running member
//	elasticjob etcd restore ──► etcdutl's package snapshot
//
// The folder is one of etcd's: its own programs can serve and restore it, too. What may be chosen is the folder, the
// addresses and the certificates; who needs more runs etcd itself. Users and roles are those of etcd, and a dead member
// is replaced by hand, with etcdctl.
package etcdmember
