// Package connection has the namespaces and the databases of histories that a console knows, and
// connects to them. It imports no adapter of a store and no driver of a database: the program gives the
// functions that connect.
//
//	book, err := connection.Open(connection.Options{File: path, Dial: …, OpenHistory: …, Keys: keys})
//	o, err := book.Ops(ctx, "prod") // for each request anew
//	o = o.By(user).From(address)
//
// # The file
//
//	namespaces:
//	  prod:
//	    kind: etcd
//	    endpoints: [etcd-0:2379, etcd-1:2379]
//	    namespace: shop/jobs
//	    user: console
//	    tls: {cacert: /etc/etcd/ca.pem}
//	    database: history
//	    password: ${file:/run/secrets/etcd}
//	databases:
//	  history:
//	    driver: postgres
//	    address: db:5432
//	    database: jobs
//	    user: console
//	    password: enc:v1:…
//
// A key that nobody knows is an error. Each entry has a version, by its content; who changes one says which
// version he has seen. Processes on one machine change the file one after the other, and each sees within
// some 4 s what another, or somebody's editor, has changed. When it cannot be read then, what it had
// before still counts, and [Book.Fault] says so. Only its owner may write it, and read it if a password
// stands there in clear text.
//
// Each change that is made by [Book] is in the log, and in the trail beside the file (connections.yaml.log), with
// the principal of its context: see package access.
//
// # Passwords
//
// In the file a password is a reference, is encrypted, or stands there in clear text if somebody has written it
// so by hand. [Book.PutNamespace] writes none in clear text: without [Keys] it takes references alone.
//
// Whoever may put an entry chooses the server that gets its password. So
//
//   - a stored password stays only if kind, address, user and TLS do; an encrypted one cannot be
//     decrypted beside others, also if somebody changes the file by hand;
//   - an entry that is put refers only to variables and folders that [Allow] names, also for
//     the files of TLS and SQLite; of others nothing is told, not even whether they are there;
//   - a password is read when it is used, by [Options].Dial and OpenHistory, and is in no text,
//     error, log or answer.
//
// # Connections
//
//	idle ──► connecting ──► connected ◄──► away
//	             ▲   │
//	             └───┴─► away: everybody is told why at once, for a second first, then longer
//
// Each namespace has a connection of its own, made by [ops.Stores], and each database too: one that hangs
// delays only those who ask for it. When an entry is changed or removed, its connection is closed 30 s
// later. Whoever has operations on it then gets coord.ErrClosed, and so do watches.
//
// # Not promised
//
//   - That the comments of a file last.
//   - A lock against processes on other machines, or on systems other than Unix.
//   - That an admin cannot have passwords of his own choice sent to servers of his own choice: that is
//     what a connection is. Nor that he cannot find out which addresses answer.
package connection
