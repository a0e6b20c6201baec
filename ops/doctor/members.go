package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// checkMembers looks at what each instance says of itself.
func (w *world) checkMembers(c *collector) {
	refused := 0
	for _, id := range w.ids {
		s := w.Session(id)
		if s.Refused == w.Config.Modified {
			refused++
		}
	}
	for _, id := range w.ids {
		if w.isJVM(id) {
			continue
		}
		s := w.Session(id)
		add := func(kind Kind, severity Severity, mark int64, cause, advice string) {
			found := w.about(kind, severity, cause, advice, "")
			found.Instance, found.mark = id, mark
			c.add(found)
		}
		switch {
		case s.Protocol > jobtree.Protocol:
			add(ProtocolNewer, Critical, s.Created, fmt.Sprintf("it shares the tree by protocol %d, and this binary knows %d at most: what it says of such a job may be wrong", s.Protocol, jobtree.Protocol),
				"update this binary, and the programs of the other instances")
		case s.Protocol < jobtree.Protocol:
			add(ProtocolOlder, Warning, s.Created, fmt.Sprintf("it shares the tree by protocol %d, and %d is the newest: it knows no kills, pauses, requests and pins", s.Protocol, jobtree.Protocol),
				"update its program")
		}
		switch {
		case s.ClockOff:
			add(ClockOff, Critical, s.Created, fmt.Sprintf("its clock is farther from the store's than the %v that the job allows, so it runs nothing", w.config.MaxTimeDiff), "set the clock of its host")
		case s.ClockFar:
			add(ClockOff, Warning, s.Created, "its clock is more than 10 s from the store's, so its items go to others", "set the clock of its host")
		}
		if s.Protocol == 0 {
			continue // it does not say what it works by
		}
		accepted := s.Accepted
		if accepted == 0 && s.Created == w.Config.Modified {
			accepted = s.Created // the commit that wrote its node wrote the configuration, too
		}
		switch {
		case s.Refused == w.Config.Modified:
			severity := Warning
			if refused == len(w.ids) {
				severity = Critical
			}
			add(ConfigRefused, severity, s.Refused, "it refuses the configuration in the store, and goes by an earlier one; its faults say why",
				"correct the configuration, or give the process what the configuration names")
		case accepted != w.Config.Modified:
			add(ConfigBehind, Warning, w.Config.Modified, "it still works by an earlier configuration", "look at its faults and its log; restart it if it does not follow")
		}
		if w.configErr == nil && (s.Differs != "" || s.Revision != 0 && s.Revision != w.config.Revision) {
			c.add(w.differing(id, &s))
		}
	}
	w.checkMixed(c)
}

// differing is the symptom of an instance whose program brings another configuration than the store's, which is effective.
func (w *world) differing(id string, in *jobtree.Session) symptom {
	keep := "to keep the store's, write it into the program, as elasticjob get " + w.name + " shows it"
	const stranger = "; if it is another program, which has the job's name by mistake and does its items, too, give its job another name or namespace"
	change := fmt.Sprintf("set its Config.Revision to %d and start it again, or update the job", w.config.Revision+1)
	set := w.set()
	if set != "" { // the next apply turns back what is changed otherwise
		change = fmt.Sprintf("change the job in the set %s of files, to which it belongs, and elasticjob apply them, or take it out of the files, of which an apply with --prune would remove it", set)
	}
	s := w.about(ConfigDiffers, Warning, "", keep+"; to put the program's into force, "+change+stranger, "")
	s.Instance, s.mark, s.detail = id, in.Created, in.Differs
	var fields, sets []string
	for line := range strings.Lines(in.Differs) {
		field, values, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		program, store, isWhole := strings.Cut(values, "\t")
		if !isWhole {
			fields, sets = append(fields, brief.Text(line)), append(sets, "")
			continue
		}
		fields = append(fields, fmt.Sprintf("%s is %s in the program, and %s in the store", brief.Text(field), program, store))
		sets = append(sets, setting(field, program))
	}
	s.Cause = "its program brings another configuration than that of the store, which is in force"
	if in.Revision != w.config.Revision {
		s.Cause = fmt.Sprintf("its program brings revision %d of the configuration, and that of the store, which is in force, is %d", in.Revision, w.config.Revision)
	}
	if len(fields) > 0 {
		s.Cause += ": " + strings.Join(fields, "; ")
	}
	switch {
	case in.Revision < w.config.Revision:
		s.Severity, s.Advice = Info, "nothing, if its program is to be replaced; "+keep+stranger
		return s
	case in.Revision > w.config.Revision:
		s.Advice = "find out why the newer one of the program is not in the store: its user may have no right to write there" + stranger
		return s
	case w.Config.Modified > in.Created:
		s.Severity = Info // the store's was changed since: who has done that wants it so
	}
	if set == "" && len(sets) > 0 && !slices.Contains(sets, "") {
		s.Action, s.Command = Edit, "elasticjob update "+w.name+strings.Join(sets, "")
	}
	return s
}

// setting is the flag of elasticjob update that gives a field a value, which is quoted as in Go; "" if it has
// another name there, or the value is not all there.
func setting(field, quoted string) string {
	value, err := strconv.Unquote(quoted)
	isPrintable := !strings.ContainsFunc(field+value, func(r rune) bool { return !unicode.IsPrint(r) })
	if err != nil || !isPrintable || field == "jobListenerTypes" || // it is a list there
		strings.ContainsFunc(field, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return ""
	}
	return " --set '" + field + "=" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

// checkServers looks for servers that are disabled and have no instance.
func (w *world) checkServers(c *collector) {
	for _, ip := range sortedKeys(w.Servers) {
		server := w.Servers[ip]
		has := slices.ContainsFunc(w.ids, func(id string) bool { return w.Instances[id].IP == ip })
		if server.Enabled || has || w.IsDisabled {
			continue
		}
		s := w.about(ServerIdle, Info, fmt.Sprintf("server %s is disabled, and has no instance: the next one there will have no items", brief.Quote(ip)),
			"enable it, or remove it", EnableServer)
		s.Command += " " + brief.Text(ip)
		s.Path, s.mark = server.Path, server.Modified
		c.add(s)
	}
}
