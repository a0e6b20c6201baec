// Package allow says what the configuration of a job may make its worker use: variables, files,
// network addresses, and programs.
//
// Whoever may write the configuration of a job decides what the types that read it do with the
// rights of the worker. A type that is given a [List] does only what the list has:
//
//	list, err := allow.New(
//		allow.Rule{Jobs: "pay-*", Variables: []string{"PAY_*"}, Folders: []string{"/run/secrets/pay"},
//			Hosts: []string{"api.bank.example", "*.pay.internal:8443"}},
//		allow.Rule{Jobs: "report-*", Commands: []string{"/opt/report/*"}, User: "report"},
//	)
//	…
//	requests := httpjob.New(httpjob.Options{Allow: list})
//	scripts, err := script.New(supervisor, script.Options{Allow: list})
//	slack := alert.Slack(alert.Options{Allow: list})
//
// A job may use what all rules together have whose pattern matches its name. A job that no rule
// is for may use nothing, and the nil List allows everything. Job files have the same as the
// section allow; there, a process that serves the namespace allows nothing that is not listed.
//
// # What is checked when
//
// A configuration that names something that is not listed is refused, as one that is wrong. What
// comes about only in a run is checked then: the address that a name stands for, where a redirect
// leads to, where a symbolic link ends. That fails the item, with [ErrNotAllowed].
//
// # What is not promised
//
//   - A program that is listed gets arguments, and a working directory, from the configuration.
//     List programs that are safe with any: not a shell, an interpreter, find, tar or curl.
//   - A host that is listed is trusted as its name is: the address that DNS says is not looked at.
//     It may be asked for any name that it serves, by http.header.Host.
//   - Without a User, scripts have the files and the network of the worker. What a program does
//     is not bounded by Hosts and Networks.
//   - Jobs that one process runs share its rights. Give teams that do not trust each other
//     processes of their own.
package allow
