package target

import (
	"fmt"
	"strings"
)

// Topic is the text of help about how elasticjob finds the store.
func Topic() string {
	var b strings.Builder
	b.WriteString(`The namespace to work on is given by flags, by the environment, or by a context of the contexts file:

`)
	for _, f := range Fields() {
		flag := ""
		if f.Flag != "" {
			flag = "--" + f.Flag
		}
		fmt.Fprintf(&b, "  %-16s %-26s %s\n", flag, f.Env, f.Meaning)
	}
	fmt.Fprintf(&b, "  %-16s %-26s %s\n", "--context", "ELASTICJOB_CONTEXT", "context to use in place of the current one")
	fmt.Fprintf(&b, "  %-16s %-26s %s\n", "--by", "ELASTICJOB_BY", "in whose name changes are made; default: user@host")
	fmt.Fprintf(&b, "  %-16s %-26s %s\n", "", "ELASTICJOB_CONFIG", "contexts file; default: elasticjob/config.yaml in the user's configuration folder")
	b.WriteString(`
A flag counts before the environment, and that before a context. But once flags or the environment name a
store, no context gives anything, so that no password gets to another store; and --context takes the place of
the environment. A user from further up drops the password from further down. With another namespace than its
own, the history of a context does not count: give --history.

No flag takes a password. Without one, the person at the terminal is asked.

A contexts file:

  current: prod
  contexts:
    prod:
      store: etcd+tls://etcd-0:2379,etcd-1:2379/shop/jobs
      user: operator
      password: ${file:/run/secrets/etcd}     # or ${env:NAME}; in clear text only with mode 0600
      cacert: /etc/etcd/ca.pem
      history: postgres:${env:HISTORY_DSN}
      production: true                        # each change asks for the namespace: --yes=shop/jobs
`)
	return b.String()
}
