package doctor

import (
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

const (
	// Of its quota, in percent: a database that is so large is worth a warning, or critical.
	quotaWarning  = 80
	quotaCritical = 95
)

// checkStore finds what is wrong with a store by what it tells of itself.
func checkStore(f coord.StoreFacts, c *collector) {
	add := func(kind Kind, severity Severity, of, cause, advice, command string) {
		c.add(symptom{detail: of, Finding: Finding{Kind: kind, Severity: severity, Cause: cause, Advice: advice, Command: command}})
	}
	for _, alarm := range f.Alarms {
		add(StoreAlarm, Critical, alarm, "an alarm stands: "+brief.Text(alarm), "with NOSPACE the store takes no writes: compact it, defragment it, then disarm the alarm; with CORRUPT replace the member", "")
	}
	if f.Compacts == coord.No {
		add(StoreKeepsHistory, Warning, "", "the store seems to keep its whole history, so its database grows until it takes no writes", "start its servers with --auto-compaction-retention", "")
	}
	switch {
	case f.Reads == coord.No:
		add(RightsMissing, Critical, "", "this user may not read the namespace", "give it the rights of a reader, an operator or a worker", "elasticjob store-roles")
	case f.Writes == coord.No:
		add(RightsMissing, Info, "", "this user may not write in the namespace: it can examine jobs, and neither run nor change them", "nothing, or give it the rights of an operator or a worker", "elasticjob store-roles")
	}
	if len(f.ElasticJob) > 0 {
		var names brief.List
		for _, name := range f.ElasticJob {
			names.Add(name)
		}
		add(StoreElasticJob, Warning, fmt.Sprint(f.ElasticJob), fmt.Sprintf("ElasticJob's own registry for etcd (3.0.6-SNAPSHOT) keeps jobs here, at /{job} whatever its namespace is: %v; it cannot run them: it elects no leader, and its instances vanish after 30 s. They are no members of jobs of this namespace", &names),
			"run them by Go members, or on ZooKeeper, where both share a job; remove these keys by the store's own tools when their processes have ended", "")
	}
	for _, m := range f.Members {
		checkMember(f.Product, m, add)
	}
}

func checkMember(product string, m coord.MemberFacts, add func(kind Kind, severity Severity, of, cause, advice, command string)) {
	name := fmt.Sprintf("%s at %s", product, m.Address)
	switch {
	case m.Version == "" && m.Silent:
		add(StoreMemberAway, Warning, m.Address, name+" does not answer: "+brief.Cut(m.Why, maxWhy), "start the server, or take its address out of the configuration", "")
	case m.Version == "":
		add(StoreUnknown, Info, m.Address, name+" does not tell its version: "+brief.Cut(m.Why, maxWhy), "nothing; to have it checked, allow this user the status, or the word srvr in 4lw.commands.whitelist", "")
	case m.Why != "":
		add(StoreMemberAway, Warning, m.Address, name+" is not well: "+brief.Cut(m.Why, maxWhy), "look at the log of the server", "")
	}
	switch {
	case m.Unsupported:
		add(StoreOld, Critical, m.Address, fmt.Sprintf("%s has version %s, which does not do what the jobs rely on", name, brief.Text(m.Version)), "update the server", "")
	case m.Mended != "":
		add(StoreOld, Warning, m.Address, fmt.Sprintf("%s has version %s, with known defects in watches, leases and reads", name, brief.Text(m.Version)), "update the server: "+m.Mended+" is the first of its series without them", "")
	}
	if m.Quota <= 0 {
		return
	}
	percent, severity := 100*m.Size/m.Quota, Severity(0)
	switch {
	case percent >= quotaCritical:
		severity = Critical
	case percent >= quotaWarning:
		severity = Warning
	default:
		return
	}
	advice := "compact its history, then defragment it"
	if m.InUse > 0 && 100*m.InUse/m.Quota >= quotaWarning {
		advice = "raise --quota-backend-bytes, or remove what is not needed: it is mostly in use"
	}
	add(StoreNearQuota, severity, m.Address, fmt.Sprintf("the database of %s has %d of %d bytes, %d %%; when it is full the store takes no writes", name, m.Size, m.Quota, percent), advice, "")
}

// maxWhy bounds why a server tells nothing, in bytes.
const maxWhy = 300
