// Package email sends mail when a job fails. It is an error handler of package alert, which
// says what is sent, and when:
//
//	s, err := job.Schedule(ctx, reg, job.Config{
//		Name: "settle", Cron: "0 0/5 * * * ?", ShardingTotalCount: 3,
//		ErrorHandler: "LOG,EMAIL",
//		Props: map[string]string{
//			"email.host": "smtp.example.com", "email.port": "465",
//			"email.username": "jobs", "email.password": "${env:MAIL_PASSWORD}",
//			"email.from": "jobs@example.com", "email.to": "ops@example.com,dev@example.com",
//		},
//	}, handler, job.WithErrorHandler(email.Name, email.Type(alert.Options{})))
//
// It is a package of its own, so that nobody has the module for mail who does not use it.
//
// A mail is in HTML, with everything escaped, and in plain text. It is sent over a connection
// of its own. An answer 5xx ends the attempts; after 4xx, or a connection that breaks, the
// mail is tried again. If the server refuses one of the addresses, none gets the mail.
//
// # TLS
//
// The certificate of the server is always checked. With email.useSsl the connection begins
// with TLS (port 465, mostly). Without it the connection changes to TLS (STARTTLS, port 587 or
// 25), and a server that cannot do that gets no mail, unless email.starttls is off; then
// email.password is not allowed. ElasticJob would send mail and password in clear text there.
//
// In ElasticJob email.ssl.trust lists hosts whose certificates are not checked. Here it lists
// further names that a certificate may be for, beside email.host; all else is checked. "*" is
// refused. For a server whose certificate comes from a root of your own, let email.tls name a
// configuration in Options.TLS with that root.
//
// # Properties
//
// Those of ElasticJob, email.starttls, email.tls and email.timeoutMilliseconds; beside them
// those that begin with alert. The columns are the name, the default, what is allowed, and the
// meaning. In ElasticJob user and password are required, and email.cc and email.bcc are one
// address.
//
//	email.host                 required                  a host name or an IP address                  the mail server
//	email.port                 required                  1 to 65535                                    its port
//	email.username                                       up to 255 bytes                               the user; needs email.password
//	email.password                                       a reference                                   the password; needs email.username
//	email.useSsl               true                      true, false                                   whether the connection begins with TLS
//	email.starttls             required                  required, off                                 without email.useSsl, whether it changes to TLS, or stays in clear text
//	email.ssl.trust                                      host names with commas between them           further names that the certificate may be for
//	email.tls                                            up to 255 bytes                               the name of a configuration in Options.TLS
//	email.subject              ElasticJob error message  one line of up to 255 bytes                   the subject
//	email.from                 required                  one address                                   the address of the sender
//	email.to                   required                  up to 100 addresses with commas between them  who gets the mail
//	email.cc                                             up to 100 addresses with commas between them  addresses that get a copy
//	email.bcc                                            up to 100 addresses with commas between them  addresses that get a copy, which the others do not see
//	email.timeoutMilliseconds  30000                     1 to 300000                                   bounds the time to send one mail
//	email.debug                false                     true, false                                   whether the dialogue with the server goes to the log, at level debug
package email
