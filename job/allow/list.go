package allow

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// ErrNotAllowed: a job's configuration wants something that its worker does not list for it.
var ErrNotAllowed = errors.New("this worker does not allow it to the job")

// Refused returns ErrNotAllowed with the key, as job files name it, that would list what is refused.
func Refused(key string) error {
	return fmt.Errorf("%w; %s in its section allow would", ErrNotAllowed, key)
}

// Rule says what some jobs may use. Its patterns are those of [path.Match].
type Rule struct {
	// Jobs is the pattern of the jobs' names: pay-*, or * for all.
	Jobs string
	// Everything allows all, as if there were no list.
	Everything bool
	// Variables are patterns of variables of the worker's environment: ${env:NAME}, and what
	// script.inherit passes on beyond its default.
	Variables []string
	// Folders are absolute paths of folders whose files ${file:/path} may name. A symbolic link
	// that leaves the folder is refused.
	Folders []string
	// Hosts are patterns of names, as a configuration says them, to which requests and messages may
	// go: api.example.com, *.example.com, or mail.example.com:587, which is one port only.
	Hosts []string
	// Networks are the networks to which they may go whatever the name is: 10.1.0.0/16.
	Networks []string
	// Commands are patterns of programs that scripts may be, as a configuration names them: absolute
	// paths such as /opt/pay/*, and names without a slash, which are looked for in the worker's PATH.
	Commands []string
	// Environment are patterns of the variables that script.env.* may set. Some change what a
	// program is: do not list PATH, LD_* or an interpreter's.
	Environment []string
	// User is the name or number of the user as whom scripts run, whatever script.user says.
	// Default: that of the worker.
	User string
}

// List is what jobs may use. The nil List allows everything.
type List struct {
	rules    []Rule
	networks []netip.Prefix
}

// New returns the list of some rules; without any it allows nothing.
//
// Errors: the first of [Rule.Faults]; that two rules have the same pattern.
func New(rules ...Rule) (*List, error) {
	l := &List{rules: slices.Clone(rules)}
	for i, r := range rules {
		if faults := r.Faults(); len(faults) > 0 {
			return nil, fmt.Errorf("allow: rule %s: %w", brief.Quote(r.Jobs), faults[0])
		}
		if slices.ContainsFunc(rules[:i], func(other Rule) bool { return other.Jobs == r.Jobs }) {
			return nil, fmt.Errorf("allow: two rules are for %s; one is allowed", brief.Quote(r.Jobs))
		}
	}
	for _, r := range rules {
		for _, network := range r.Networks {
			l.networks = append(l.networks, netip.MustParsePrefix(network)) // it was checked
		}
	}
	return l, nil
}

// For returns what a job may use.
func (l *List) For(job string) *List {
	if l == nil {
		return nil
	}
	var rules []Rule
	for _, r := range l.rules {
		if !matches([]string{r.Jobs}, job) {
			continue
		}
		if r.Everything {
			return nil
		}
		rules = append(rules, r)
	}
	only, err := New(rules...)
	if err != nil {
		panic(err) // they were checked
	}
	return only
}

// String returns the patterns of the rules.
func (l *List) String() string {
	if l == nil {
		return "everything"
	}
	patterns := make([]string, len(l.rules))
	for i, r := range l.rules {
		patterns[i] = r.Jobs
	}
	return strings.Join(patterns, ", ")
}

// of returns what all rules have of a kind.
func (l *List) of(kind func(Rule) []string) []string {
	var all []string
	for _, r := range l.rules {
		all = append(all, kind(r)...)
	}
	return all
}

// matches reports whether a text matches one of the patterns. They were checked.
func matches(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		is, err := path.Match(pattern, text)
		return err == nil && is
	})
}

// Faults returns what is wrong with a rule. Its fields are named as in job files: http.hosts.
func (r Rule) Faults() (faults []*jobtype.FieldError) {
	check := func(field, allowed string, is func(string) bool, texts ...string) {
		for _, text := range texts {
			if _, err := path.Match(text, ""); err != nil || text == "" || !is(text) {
				faults = append(faults, &jobtype.FieldError{Field: field, Err: fmt.Errorf("%s: %s allowed", brief.Quote(text), allowed)})
			}
		}
	}
	anyText := func(string) bool { return true }
	const names = "patterns of names, such as PAY_*, are"
	check("jobs", "a pattern of jobs' names, such as pay-*, is", anyText, r.Jobs)
	check("references.variables", names, anyText, r.Variables...)
	check("references.folders", "absolute paths of folders are", isFolder, r.Folders...)
	check("http.hosts", "names such as api.example.com, *.example.com or api.example.com:8443 are", isHost, r.Hosts...)
	check("http.networks", "networks such as 10.1.0.0/16 are", isNetwork, r.Networks...)
	check("script.commands", "absolute paths of programs, such as /opt/pay/*, and names without a slash are", isCommand, r.Commands...)
	check("script.environment", names, anyText, r.Environment...)
	if strings.ContainsAny(r.User, "\x00:,/ \t\r\n") {
		faults = append(faults, &jobtype.FieldError{Field: "script.user", Err: fmt.Errorf("%s: a name or a number is allowed", brief.Quote(r.User))})
	}
	return faults
}

func isFolder(text string) bool { return filepath.IsAbs(text) && filepath.Clean(text) == text }

func isCommand(text string) bool { return filepath.IsAbs(text) || !strings.Contains(text, "/") }

func isNetwork(text string) bool {
	p, err := netip.ParsePrefix(text)
	return err == nil && p == p.Masked()
}

// isHost reports whether a text is a pattern of a host, perhaps with a port.
func isHost(text string) bool {
	host, port, hasPort := strings.Cut(text, ":")
	if hasPort {
		if _, err := net.LookupPort("tcp", port); err != nil || port[0] < '1' || port[0] > '9' {
			return false
		}
	}
	return host != "" && !strings.ContainsFunc(host, func(c rune) bool {
		return !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.ContainsRune(".-_*?", c))
	})
}
