// Package database runs real MariaDB and PostgreSQL servers for tests. They are child
// processes that run Debian's packages, each with a data folder and a port of its own on the
// loopback interface, and they start in about a second. Where the tests run as root, the
// servers run as nobody.
//
// It knows no driver: a test opens [Database.DSN] with the one it tests.
//
// They leave nothing behind, even if the process that started them is killed; see package
// child.
//
// Not promised: durability. Unless [Config.Durable] is set, what was committed survives the
// end of the server's process, by [Server.Kill], too, but not a crash of the machine.
package database
