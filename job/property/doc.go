// Package property reads the properties of types of jobs and of error handlers: Config.Props,
// a map of texts. A [Table] lists the properties of a type, each with its default and what is
// allowed, and checks them all at once:
//
//	table := property.Table{Own: []string{"http."}, Rows: []property.Row{
//		{Name: "http.method", Required: true, Check: property.OneOf("GET", "POST"), Meaning: "the method"},
//		{Name: "http.read.timeout.milliseconds", Default: "5000", Check: property.Integer(1, math.MaxInt32), Meaning: "…"},
//	}}
//	values, err := table.Read(job.NewProperties(c.Props))
//
// A type that is made by [Table.Type] has a form of its own in the console.
//
// # References
//
// The registry has properties in clear text, so a secret is not one of them. A property names
// it by a reference, and the process looks it up when it is used: see [Expand], [FromProcess].
//
// Row.Secret only asks for a reference: [Values.Text] returns the text with it. The type looks
// it up by Expand: when it checks a configuration, so that a process that lacks the secret says
// so at its start, and again at each use, because secrets change. The example shows how.
package property
