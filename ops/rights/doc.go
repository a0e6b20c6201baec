// Package rights knows the least rights that a program needs in the store: who runs jobs, who
// operates them and who looks at them. It says how to set them up, and changes the user of a
// ZooKeeper namespace while jobs run.
//
// # Who may do what
//
//	                                     reader   worker         operator
//	see jobs, views, doctor, history     yes      yes            yes
//	run jobs, take part in elections     –        yes            yes
//	create a job, change its settings    –        etcd: not with Etcd.Jobs; else yes    yes
//	kill, pause, trigger, pin, remove …  –        the store cannot tell it from work    yes
//	calendars                            –        etcd: read; ZooKeeper: yes            yes
//	the audit                            read     etcd: read; ZooKeeper: yes            yes
//	other namespaces, users and roles    –        –              –
//
// What a right is missing for fails with coord.ErrDenied, which names the path.
//
// # etcd
//
// A role of etcd has ranges of keys. No range can mean "the configuration of every job", so who
// runs jobs of any name may change them. Where the jobs are known, Etcd.Jobs leaves their
// configurations out. The namespace is shop:
//
//	reader     read       /shop/ … /shop0                      everything
//	operator   readwrite  /shop/ … /shop0
//	worker     read       /shop/ … /shop0
//	           readwrite  /shop/ … /shop/~                     all jobs, and sessions
//	           readwrite  /shop/~elasticjob/nodes/ …           what the process has
//	           readwrite  /shop/~elasticjob/removed/ …         jobs that have expired
//	worker     read       /shop/ … /shop0
//	of jobs    readwrite  /shop//sessions/ …
//	           readwrite  /shop/~elasticjob/nodes/ …
//	           readwrite  /shop/nightly/ … /shop/nightly/config      for each job
//	           readwrite  /shop/nightly/config0 … /shop/nightly0
//
// A worker of named jobs cannot remove a job that has expired (job.Expiry with Remove); it shows
// a fault, and an operator removes the job. Nor can it set a job up that is not there, or replace
// its configuration (job.Config.Overwrite, or a higher revision). It can end the sessions of all workers of the
// namespace, whose jobs stop until they have new ones: a range of keys cannot mean "its own session". Locks of etcd's package concurrency
// (etcd.Registry.Concurrency) need the range of their prefix, such as /shop//locks/.
//
// A user is changed without this package: make another one with the same role, restart the
// processes one by one, remove the first one.
//
// # ZooKeeper
//
// A list of ZooKeeper holds for one node. It is given by who creates the node, and nothing is
// inherited. So each process has to know who else is to have its nodes: zk.Config.Grants. The
// matrix is the same for all nodes:
//
//	created by    its creator   operators   workers   readers
//	a worker      cdrwa         cdrwa       –         r
//	an operator   cdrwa         –           cdrw      r
//
// A node is removed by who may remove children of its parent, whatever its own list says.
// Therefore a worker, which removes what runs have left, could remove configurations, too: on
// ZooKeeper the worker and the operator are two users, but one trust. A reader has no way to
// write. It cannot tell the store's clock, which takes a write, so times are by the local clock.
//
// ElasticJob's JVM members know one user only, and give their nodes to him alone. Beside them,
// every Go process that has to see their nodes logs in as that user: there are no readers and no
// operators of their own.
//
// # Another user or password on ZooKeeper
//
// With another password a user is another one for ZooKeeper, so both changes are the same. A
// process cannot use nodes that another one has created as a user that it does not know. So for
// a while all processes are both:
//
//	processes                             lists of nodes
//
//	former                                former
//	   │  restart one by one, with
//	   ▼  Digest: new, OtherDigests: former
//	new + former                          former, and both on new nodes
//	   │                                     │  Change.Add
//	   │                                     ▼
//	   │  restart one by one, with        both
//	   ▼  Digest: new
//	new                                   both, and the new one alone on new nodes
//	                                         │  Change.Remove
//	                                         ▼
//	                                      new
//
// At each moment every process can use every node, so no tick is lost. The nodes of a process tell
// whom it knows: Add shows processes that know the former user alone, and Remove changes nothing as
// long as any process knows him. Processes without nodes, such as consoles and shells, show nowhere:
// restart them with the others. What one that was forgotten writes is hidden from the others, who
// show a fault, until the next Add or Remove.
//
// The same steps give a namespace that is open to everybody a user: From is zk.Everybody, and in
// the middle processes have Digest: new, and Grants: everybody. Where a user stands in Grants of
// others, as a worker does in those of operators, they have both in the middle, too.
//
// # Not promised
//
//   - JVM members cannot be two users. To change theirs, stop them, or put up with what they miss
//     between their restart and that of the others.
//   - Parents of the namespace keep their lists: other namespaces may be below them.
//   - The lists are as the walks have found them. What a program does by hand meanwhile may be
//     missed.
//   - Hashes in lists are SHA-1 without salt. Whoever may see them can try passwords.
package rights
