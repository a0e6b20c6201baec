package jobfile

import (
	"maps"
	"slices"

	"github.com/elasticjob-go/elasticjob/job/allow"
)

// rule returns the shape of what jobs of a pattern may use, and keeps the rule.
func (d *document) rule(pattern string) shape {
	if d.allow == nil {
		d.allow = map[string]*allow.Rule{}
	}
	rule := &allow.Rule{Jobs: pattern}
	d.allow[pattern] = rule
	return shared{ruleFields(rule), "rule"}
}

func ruleFields(r *allow.Rule) fields {
	return fields{
		{key: "everything", shape: flag(&r.Everything), meaning: "All of it: for jobs whose admins may have the rights of this process. Default false."},
		{key: "references", shape: fields{
			{key: "variables", shape: several{&r.Variables}, meaning: "Patterns of variables that ${env:NAME} and script.inherit may name: PAY_*. Default: none; what script.inherit has by default is always allowed."},
			{key: "folders", shape: several{&r.Folders}, meaning: "Absolute paths of folders whose files ${file:/path} may name. Default: none."},
		}, meaning: "What properties may refer to."},
		{key: "http", shape: fields{
			{key: "hosts", shape: several{&r.Hosts}, meaning: "Patterns of hosts, as configurations name them: api.example.com, *.example.com, or mail.example.com:587 for one port. Default: none."},
			{key: "networks", shape: several{&r.Networks}, meaning: "Networks whose addresses are allowed, whatever their names are: 10.1.0.0/16. Default: none."},
		}, meaning: "Where the requests of HTTP jobs, and messages of error handlers, may go."},
		{key: "script", shape: fields{
			{key: "commands", shape: several{&r.Commands}, meaning: "Patterns of programs: absolute paths such as /opt/pay/*, and names without a slash, which are looked for in the PATH of this process. They get any arguments, so no shell and no interpreter. Default: none."},
			{key: "environment", shape: several{&r.Environment}, meaning: "Patterns of the variables that script.env.* may set. Default: none."},
			{key: "user", shape: text{&r.User}, meaning: "The user, by name or number, as whom scripts run, whatever script.user says. Default: that of this process."},
		}, meaning: "What SCRIPT jobs may run."},
	}
}

// checkAllow checks the rules, and makes the list that they are together.
func (f *File) checkAllow(whole *value, r *reader) {
	if v := whole.get(keyAllow); (v == nil || v.kind == null) && !f.node.serve {
		return // everything is allowed
	}
	var rules []allow.Rule
	for _, pattern := range slices.Sorted(maps.Keys(f.document.allow)) {
		rule := *f.document.allow[pattern]
		v, path := whole.get(keyAllow).get(pattern), join(keyAllow, pattern)
		for _, fault := range rule.Faults() {
			r.fault(v.placeOf(fault.Field), join(path, fault.Field), "%w", fault.Err)
		}
		rules = append(rules, rule)
	}
	if r.err() == nil {
		f.allowed, _ = allow.New(rules...) // they have no faults, and keys differ
	}
}
