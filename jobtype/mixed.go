package jobtype

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// MixedIssue is something in the configuration of a job that members of ElasticJob 3.0 (JVM
// members) do not know, or do otherwise. It counts while both kinds of members are there, and after
// the way back to ElasticJob alone.
type MixedIssue struct {
	// Field is its name in the registry, such as timeZone or "props: broadcast".
	Field string `json:"field"`
	// Does says what JVM members do.
	Does string `json:"does"`
	// Harm says what goes wrong while both kinds are there; empty if nothing does.
	Harm string `json:"harm,omitempty"`
	// Advice says what to do.
	Advice string `json:"advice"`
	// Refused is whether a JVM member may not start with it, or run nothing: then it stands in the
	// way back. Anything else is only passed over, or done otherwise.
	Refused bool `json:"refused,omitempty"`
}

// String returns the issue in one line.
func (i MixedIssue) String() string {
	text := i.Field + ": JVM members " + i.Does
	if i.Harm != "" {
		text += "; while both kinds are there, " + i.Harm
	}
	return text + "; " + i.Advice
}

// Mixed lists what JVM members of the job do not know, or do otherwise, in the order of the fields
// of Config. [MixedIn] also knows what only a document shows.
//
// JVM members are those of ElasticJob's releases, up to 3.0.5. Do not share a job with 3.0.6-SNAPSHOT: it keeps
// sharding/{i}/running of an item that has failed, with Failover for as long as the process lives, and longer. The item
// does not run any more, and a JVM leader waits for ever before it assigns. Go members remove such a record
// when they know that nothing runs; package doctor names the others. Nothing in the configuration, or in the tree before
// an item fails, tells of which version a member is.
func (c Config) Mixed() []MixedIssue {
	c = c.WithDefaults()
	var list []MixedIssue
	for _, issues := range [][]MixedIssue{c.mixedSchedule(), c.mixedItems(), c.mixedRuns()} {
		list = append(list, issues...)
	}
	return list
}

// MixedIn is [Config.Mixed] of a document in the registry, with its keys that not every version of
// ElasticJob reads, and with values that mean something else there.
//
// Errors: that of DecodeConfig. If all of the document could be read, and only Go members refuse it, the list comes with
// the error.
func MixedIn(document []byte) ([]MixedIssue, error) {
	c, refusal := DecodeConfig(document)
	if fault, ok := errors.AsType[*ConfigError](refusal); ok && fault.Partial {
		return nil, refusal
	}
	keys, err := mixedKeys(document)
	if err != nil {
		return nil, err
	}
	return append(keys, c.Mixed()...), refusal
}

// MixedServers lists what JVM members do otherwise because of the addresses of servers.
func MixedServers(ips []string) []MixedIssue {
	var found brief.List
	for _, ip := range slices.Sorted(slices.Values(ips)) {
		if strings.Contains(ip, ":") {
			found.Add(ip)
		}
	}
	if found.Empty() {
		return nil
	}
	return []MixedIssue{{
		Field:  "servers",
		Does:   fmt.Sprintf("do not notice when a server with an IPv6 address is disabled or enabled: %v", &found),
		Harm:   "a JVM leader leaves its items where they are until something else makes it reshard",
		Advice: "give the processes IPv4 addresses, or ask for a reshard after that",
	}}
}

// MixedOld lists what members of elastic-job 2.1 do otherwise because of a document in the registry. They are named by
// their ids, or by the addresses of their servers.
func MixedOld(document []byte, members []string) []MixedIssue {
	var found brief.List
	for _, id := range slices.Sorted(slices.Values(members)) {
		found.Add(id)
	}
	if found.Empty() || jobconf.IsOld(document) {
		return nil // MixedIn says what matters of a document of 2.1
	}
	return []MixedIssue{{
		Field:  jobconf.KeyConfig,
		Does:   fmt.Sprintf("of elastic-job 2.1 (%v) do not read a document of ElasticJob 3.0: they run nothing, and do not start again", &found),
		Harm:   "nothing runs the items that they own",
		Advice: "replace them by Go members, or by members of ElasticJob 3.0", Refused: true,
	}}
}

// mixedKeys lists keys and values of a document.
func mixedKeys(document []byte) ([]MixedIssue, error) {
	const unread = "the JVM members run nothing from the moment on that they see it"
	keys, err := parse(document)
	if err != nil {
		return nil, err
	}
	unknown, err := UnknownKeys(document)
	if err != nil {
		return nil, err
	}
	var list []MixedIssue
	for _, key := range unknown {
		list = append(list, MixedIssue{Field: brief.Text(key), Does: "of no version read a document with this key", Harm: unread, Advice: "remove the key" + byUnset(key), Refused: true})
	}
	if jobconf.HasOldKeys(keys) {
		list = append(list, MixedIssue{
			Field: jobconf.KeyConfig, Does: "of ElasticJob 3.0 do not read a document of elastic-job 2.1, and those of 2.1 read no other",
			Harm:   "the first change here writes a document of 3.0, and members of 2.1 run nothing then",
			Advice: "change nothing before the members of 2.1 are gone", Refused: true,
		})
	}
	for key, readers := range map[string][2]string{
		jobconf.KeyThreadPool:    {"before 3.0.5", "3.0.5"},
		jobconf.KeyThreadPoolOld: {"since 3.0.5", "3.0.4"},
	} {
		if keys.has(key) {
			effect := "CPU is the default"
			if value, err := keys.text(key); err == nil && value == threadPoolSingle {
				effect = "JVM members then go by the default, CPU, and run items side by side that " + threadPoolSingle + " runs one after the other; Go members go on as before"
			}
			list = append(list, MixedIssue{
				// Whoever has written it reads it, so it is no harm by itself.
				Field: key, Does: fmt.Sprintf("of ElasticJob %s do not read a document with this key, and run nothing", readers[0]),
				Advice: fmt.Sprintf("keep it if all JVM members are of %s; otherwise remove it%s; %s", readers[1], byUnset(key), effect), Refused: true,
			})
		}
	}
	if text, err := keys.text(jobconf.KeyMaxTimeDiff); err == nil && text != "" {
		if n, err := strconv.Atoi(text); err == nil && n == 0 {
			list = append(list, MixedIssue{
				Field: jobconf.KeyMaxTimeDiff, Does: "tell their error handler of each fire that the clocks differ by more than 0 s, and run it, unless the handler is THROW; Go members do not check",
				Advice: "write -1 for no check",
			})
		}
	}
	slices.SortStableFunc(list, func(a, b MixedIssue) int { return strings.Compare(a.Field, b.Field) })
	return list, nil
}

// byUnset names the command that removes a key of a document.
func byUnset(key string) string { return " (elasticjob update JOB --unset " + brief.Text(key) + ")" }

// whyUnread says why Quartz does not read an expression, if the number of its fields is the reason.
func whyUnread(expr string) string {
	if len(strings.Fields(expr)) == 5 {
		return ", which has the five fields of Unix cron where Quartz wants six or seven"
	}
	return ""
}

// forQuartz says how to write an expression so that Quartz reads it.
func forQuartz(expr string) string {
	switch list, err := cronexpr.Convert(expr); {
	case err != nil:
		return "write an expression that Quartz reads"
	case len(list) == 1:
		return "write " + brief.Quote(list[0])
	default: // the days of either day field
		return fmt.Sprintf("make a job of %s and one of %s", brief.Quote(list[0]), brief.Quote(list[1]))
	}
}

// mixedSchedule lists what is about when the job runs.
func (c *Config) mixedSchedule() (list []MixedIssue) {
	const keepsOld = "do not start with it, and go on by the expression that they had"
	add := func(is bool, issue MixedIssue) {
		if is {
			list = append(list, issue)
		}
	}
	switch {
	case c.Cron == "":
	case cronexpr.Quartz(c.Cron) == cronexpr.QuartzRefuses:
		add(true, MixedIssue{
			Field: jobconf.KeyCron, Does: "do not read " + brief.Quote(c.Cron) + whyUnread(c.Cron) + ": they " + keepsOld,
			Harm: "items that they own run at other times, or not", Advice: forQuartz(c.Cron), Refused: true,
		})
	case cronexpr.Quartz(c.Cron) == cronexpr.QuartzOther:
		add(true, MixedIssue{
			Field: jobconf.KeyCron, Does: "fire at other times by " + brief.Quote(c.Cron) + ", or hang, because Quartz takes it for something else",
			Harm: "items that they own run at other times", Advice: "write it in another way: see package cronexpr",
		})
	}
	add(len(c.MoreCrons) > 0, MixedIssue{
		Field: jobconf.KeyMoreCrons, Does: "fire by " + jobconf.KeyCron + " alone", Harm: "ticks of the further expressions do not run on items that they own",
		Advice: "do without, or make a job of each expression",
	})
	add(len(c.Calendars) > 0, MixedIssue{
		Field: jobconf.KeyCalendars, Does: "know no calendars", Harm: "items that they own run at times that are left out",
		Advice: "do without, or disable their servers at those times",
	})
	add(c.TimeZone != "" && !strings.HasPrefix(c.TimeZone, "GMT"), MixedIssue{
		Field: jobconf.KeyTimeZone, Does: "know only GMT, with an offset such as GMT+08:00: with " + brief.Quote(c.TimeZone) + " they " + keepsOld,
		Harm: "items that they own run at other times, or not", Advice: "write the offset; it does not follow summer time", Refused: true,
	})
	add(c.Jitter > 0, MixedIssue{
		Field: jobconf.KeyJitter, Does: "begin all items at the tick", Advice: "nothing, if many that begin at once are no load",
	})
	add(c.Overlap == OverlapSkip, MixedIssue{
		Field: jobconf.KeyOverlap, Does: "make up a tick that came while the item ran, as " + jobconf.KeyMisfire + " says", Harm: "items that they own run once more than wanted",
		Advice: "switch " + jobconf.KeyMisfire + " off, or do without",
	})
	add(c.Expiry != Expiry{}, MixedIssue{
		Field: expiryField(c.Expiry), Does: "know no end of the job", Harm: "they run on after it, and the job is not removed as long as they are there",
		Advice: "disable their servers at that time, or remove the job",
	})
	add(c.MisfireWindow > 0, MixedIssue{
		Field: jobconf.KeyMisfireWindow, Does: "make up missed ticks, however old they are", Harm: "items that they own run for ticks that are too old",
		Advice: "switch " + jobconf.KeyMisfire + " off, or see that this does no harm",
	})
	add(c.MisfireTolerance != defaultConfig().MisfireTolerance, MixedIssue{
		Field: jobconf.KeyMisfireTolerance, Does: "take each tick for missed that is late by more than a millisecond, and make it up with the next one",
		Advice: "nothing",
	})
	return list
}

// expiryField returns the field of an end that is set.
func expiryField(e Expiry) string {
	switch {
	case !e.At.IsZero():
		return jobconf.KeyExpiresAt
	case e.Ticks > 0:
		return jobconf.KeyExpiryTicks
	}
	return jobconf.KeyRemoveExpired
}

// mixedItems lists what is about who runs which item.
func (c *Config) mixedItems() (list []MixedIssue) {
	add := func(is bool, issue MixedIssue) {
		if is {
			list = append(list, issue)
		}
	}
	ours, _ := ParseItemParameters(c.ShardingItemParameters) // an error is one of Validate
	theirs, isRead := parametersOfJVM(c.ShardingItemParameters)
	add(!isRead, MixedIssue{
		Field: jobconf.KeyItemParameters, Does: "read only pairs without an equals sign or comma in them, and without an empty value: with these they run nothing",
		Harm: "items that they own do not run", Advice: "write the parameters in another way", Refused: true,
	})
	add(isRead && !maps.Equal(ours, theirs), MixedIssue{
		Field: jobconf.KeyItemParameters, Does: "read other parameters, because they know no backslash before a comma or an equals sign",
		Harm: "items that they own have other parameters", Advice: "write the parameters in another way",
	})
	switch c.Strategy {
	case strategy.AvgAllocation, strategy.Odevity, strategy.RoundRobin:
	case strategy.SingleShardingBalance:
		harm := "a JVM leader before 3.0.5 takes the items from everybody, and assigns none: nothing runs"
		if c.ShardingTotalCount == 1 {
			harm += "; one of 3.0.5 names the server that is to run the item next, which Go members do not know: ticks are missed"
		}
		add(true, MixedIssue{
			Field: jobconf.KeyStrategy, Does: "do not know " + c.Strategy + " before 3.0.5, and assign otherwise by it since then",
			Harm: harm, Advice: "take " + strategy.RoundRobin + " as long as both kinds are there", Refused: true,
		})
	default:
		add(true, MixedIssue{
			Field: jobconf.KeyStrategy, Does: "do not know " + brief.Text(c.Strategy) + ", unless their program has one of this name",
			Harm:   "a JVM leader takes the items from everybody, and assigns none: nothing runs",
			Advice: fmt.Sprintf("take %s, %s or %s", strategy.AvgAllocation, strategy.Odevity, strategy.RoundRobin), Refused: true,
		})
	}
	add(c.MaxItems > 0, MixedIssue{
		Field: jobconf.KeyMaxItems, Does: "know no bound of items", Harm: "a JVM leader assigns more of them to an instance", Advice: "do without",
	})
	add(c.StaticSharding, MixedIssue{
		Field: jobconf.KeyStaticSharding, Does: "never give items of an instance that has ended to another one; Go leaders do after ten minutes",
		Harm: "under a JVM leader such items wait until somebody asks for a reshard", Advice: "ask for one then, or do without",
	})
	add(c.Broadcast, MixedIssue{
		Field: jobconf.KeyBroadcast, Does: "know no broadcast jobs: each item runs at one place only",
		Harm: "a JVM leader assigns all items, and each Go instance runs one of its items", Advice: "replace all JVM members at once",
	})
	add(c.Label != "", MixedIssue{
		Field: jobconf.KeyLabel, Does: "pass the label over", Harm: "a JVM leader assigns items to instances without it", Advice: "disable the servers that may not run it",
	})
	return list
}

// mixedRuns lists what is about how an item runs.
func (c *Config) mixedRuns() (list []MixedIssue) {
	add := func(is bool, issue MixedIssue) {
		if is {
			list = append(list, issue)
		}
	}
	add(c.MaxTimeDiff > 0, MixedIssue{
		Field: jobconf.KeyMaxTimeDiff, Does: "with a clock that is off tell their error handler, and run all the same, unless the handler is THROW", Advice: "nothing, if their clocks are set",
	})
	add(c.Threads > 1, MixedIssue{
		Field: jobconf.KeyThreads, Does: "have as many threads as they like: twice the number of their CPUs, or one", Advice: "nothing",
	})
	add(!isJVMErrorHandler(c.ErrorHandler), MixedIssue{
		Field: jobconf.KeyErrorHandler, Does: "do not start with " + brief.Quote(c.ErrorHandler) + ", unless their program has one handler of this name, and know no lists; those that run lose a fire, and go on with the handler that they had",
		Harm: "a tick is lost on items that they own when it changes", Advice: "name one of LOG, IGNORE, THROW, EMAIL, WECHAT and DINGTALK", Refused: true,
	})
	var names brief.List
	for _, name := range c.Listeners {
		names.Add(name)
	}
	add(!names.Empty(), MixedIssue{
		Field: jobconf.KeyListeners, Does: fmt.Sprintf("do not start unless their program has listeners of these names: %v", &names), Advice: "see that both programs have them", Refused: true,
	})
	var references brief.List
	for _, key := range slices.Sorted(maps.Keys(c.Props)) {
		if value := c.Props[key]; strings.Contains(value, "${env:") || strings.Contains(value, "${file:") {
			references.Add(key)
		}
	}
	add(!references.Empty(), MixedIssue{
		Field: jobconf.KeyProps, Does: fmt.Sprintf("take references such as ${env:NAME} for the value itself: %v", &references),
		Harm: "what they do with it fails", Advice: "let their program have a handler of its own, without secrets in the configuration",
	})
	add(c.Timeout > 0, MixedIssue{
		Field: jobconf.KeyTimeout, Does: "run an item as long as it takes", Harm: "items that they own go on after the time is over", Advice: "bound the time in their handler",
	})
	add(c.Retry.Attempts > 0, MixedIssue{
		Field: jobconf.KeyRetryAttempts, Does: "do not try an item again", Harm: "items that they own fail at the first error", Advice: "try again in their handler",
	})
	return list
}

// isJVMErrorHandler reports whether ElasticJob has an error handler of this name.
func isJVMErrorHandler(name string) bool {
	return slices.Contains([]string{ErrorHandlerLog, ErrorHandlerIgnore, ErrorHandlerThrow, "EMAIL", "WECHAT", "DINGTALK"}, name)
}

// parametersOfJVM reads item parameters as ElasticJob does; ok is false if it fails.
func parametersOfJVM(text string) (_ map[int]string, ok bool) {
	if text == "" {
		return nil, true
	}
	parameters := map[int]string{}
	for _, pair := range splitAsJava(text, ",") {
		parts := splitAsJava(strings.TrimSpace(pair), "=")
		if len(parts) != 2 {
			return nil, false
		}
		item, err := strconv.ParseInt(strings.TrimSpace(parts[0]), 10, 32)
		if err != nil {
			return nil, false
		}
		parameters[int(item)] = strings.TrimSpace(parts[1])
	}
	return parameters, true
}

// splitAsJava splits a text as Java's String.split does: without empty parts at the end.
func splitAsJava(text, separator string) []string {
	parts := strings.Split(text, separator)
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return parts
}
