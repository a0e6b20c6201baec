package dump

import (
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/veil"
)

// WithoutSecrets returns the dump with *** in place of each secret of its configuration. Ours has references to
// secrets; that of a JVM has them in clear text, such as the password of its tracing data source
// (jobExtraConfigurations) or of its mail server, or in the URL of a database or a robot. It is names that tell a
// secret, and the places in URLs where passwords stand: what a program of one's own keeps under a name that says
// nothing is shown.
func (d Dump) WithoutSecrets() Dump {
	config := jobtree.Job(d.Job).Config()
	d.Config, d.ConfigError = veil.Document(d.Config), veil.Text(d.ConfigError)
	d.Nodes = slices.Clone(d.Nodes)
	for i, n := range d.Nodes {
		if n.Path == config {
			d.Nodes[i].Value, d.Nodes[i].View = veil.Document(n.Value), veil.Document(n.View)
		}
	}
	return d
}
