package api

import (
	"reflect"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job/dump"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// words describe fields, by their names in JSON, that have no tag for that: those of types of other packages, and
// those whose words are listed elsewhere. A test finds what is missing here, and what no type has any more.
var words = map[reflect.Type]map[string]string{
	reflect.TypeFor[ops.Change](): {
		"id":     "Id of the entry of the audit. Ids sort by time. Left out in a dry run.",
		"at":     "When it was done, by the clock of the console. Left out in a dry run.",
		"by":     "Who has done it.",
		"from":   "Where he was, such as the address of his computer.",
		"job":    "Name of the job that has changed. Left out if it is the namespace that has, or several jobs.",
		"jobs":   "Names of the jobs that have changed by one action on many, as far as you may see them: 200 at most. Left out if it is one, or the namespace.",
		"action": "What was done: a word or two, such as create, update, pause, kill, disable items.",
		"detail": "Which part of the job it concerns, such as items 0-3: 1,024 bytes at most.",
		"why":    "Why, as the operator has said.",
		"before": "How it was before: a whole document, or a few words. 16 KiB at most.",
		"after":  "How it is now: a whole document, or a few words. 16 KiB at most.",
		"cut":    "Whether before or after was longer, and is cut.",
	},
	reflect.TypeFor[ops.JobInfo](): {
		"name":               "Name of the job.",
		"description":        "What the configuration says of the job, for people: its first 255 bytes.",
		"implementation":     "What runs the job: a class, or a type such as SCRIPT.",
		"cron":               "Its first cron expression. Left out for a one-off job.",
		"moreCrons":          "How many expressions it has beside that one.",
		"timeZone":           "Zone of the expressions: an IANA name, or an offset. Left out if it is that of each process.",
		"calendars":          "How many calendars there are whose days it leaves out.",
		"label":              "Only instances with this label have items. Left out if all may.",
		"broadcast":          "Whether each instance runs at each tick.",
		"shardingTotalCount": "How many items the job is to have.",
		"version":            "Version of the configuration: it grows with each change.",
		"configError":        "Why the configuration cannot be read. The other fields have what could be read then.",
		"status":             "How the job is, in one word. The first that holds counts: CRASHED (no instance is there, and one has ended in the middle of an execution), STOPPED (no instance is there any more), NEVER_STARTED (there never was one), DISABLED (all servers are disabled), SHARDING_FLAG (items are to be assigned), OK.",
		"instances":          "How many instances are there.",
		"jvm":                "How many of them are JVM members.",
		"jvmOnly":            "Whether only JVM members can have the job, because of its name.",
		"leaving":            "How many instances only finish what they run. They are not among those that are there.",
		"leader":             "Id of the instance that leads. Left out if none does.",
		"servers":            "How many servers the job knows.",
		"disabledServers":    "How many of them an operator has disabled.",
		"running":            "How many items run.",
		"failing":            "How many items had no success with their last execution.",
		"healthy":            "Whether the status is OK, and the job is not paused, expired, faulty, failing or late.",
		"begunLate":          "Whether the execution that has ended last began more than a minute, and the jitter, after its tick.",
		"waiting":            "How many items wait to be run again, because they were cut short.",
		"disabledItems":      "How many items an operator has disabled.",
		"requests":           "How many triggers, retries and backfills have items that are not through.",
		"pins":               "How many items are pinned.",
		"faults":             "How many faults its instances show.",
		"fault":              "Kind and cause of the oldest fault.",
		"paused":             "Since when no tick begins. Left out if the job is not paused.",
		"last":               "The execution that has ended last. Left out if the registry has none.",
		"next":               "The next tick. Left out for a one-off job, during a pause, and if none comes.",
		"nextError":          "Why the next tick cannot be told.",
		"expired":            "Whether no tick comes any more, because the configuration gives the job an end.",
	},
	reflect.TypeFor[ops.PauseInfo](): {
		"since":  "Since when the job is paused.",
		"by":     "Who has paused it.",
		"why":    "Why, as he has said.",
		"makeUp": "Whether each item runs once when the pause ends, if ticks came meanwhile.",
	},
	reflect.TypeFor[ops.LastRun](): {
		"item":     "Number of the item.",
		"tick":     "Tick for which it ran.",
		"begun":    "When its handler was called, by the clock of its instance. Left out by members of earlier versions.",
		"ended":    "When it has ended, by the clock of its instance.",
		"outcome":  "How it has ended: " + outcomeWords + ".",
		"taskId":   "Id of the execution in the history and in logs.",
		"original": "Id of the execution that it repeats.",
		"source":   "Why it ran: " + sourceWords + ".",
		"request":  "Id of the request for which it ran.",
		"token":    "Its fencing token: that of a later execution is larger.",
		"error":    "Beginning of its error.",
	},
	reflect.TypeFor[ops.Totals](): {
		"jobs":         "How many jobs.",
		"ok":           "How many are healthy.",
		"crashed":      "How many have the status CRASHED.",
		"stopped":      "How many have the status STOPPED.",
		"neverStarted": "How many have the status NEVER_STARTED.",
		"disabled":     "How many have the status DISABLED.",
		"shardingFlag": "How many have the status SHARDING_FLAG.",
		"paused":       "How many are paused.",
		"faulty":       "How many have faults, or a configuration that cannot be read.",
		"failing":      "How many have items that had no success with their last execution.",
		"begunLate":    "How many have begun late the execution that has ended last.",
		"instances":    "How many instances they have, together. One process counts in each of its jobs.",
		"items":        "How many items they are to have, together.",
		"running":      "How many of their items run.",
	},
	reflect.TypeFor[ops.JobDetail](): {
		"info":         "What the list of jobs shows of it.",
		"document":     "The configuration as it stands in the registry: YAML, or JSON of elastic-job 2.1.x. Secrets in it are ***.",
		"items":        "Its items, by number: the first 1,000.",
		"instances":    "Its instances, by id: the first 1,000.",
		"servers":      "Servers that it knows, by address: the first 1,000.",
		"faults":       "Faults of all its instances, the oldest first: the first 1,000. Left out if there are none.",
		"requests":     "Its triggers, retries and backfills, the oldest first: the first 1,000. Left out if there are none.",
		"ticks":        "The next five ticks, also during a pause. Fewer, or left out, if no more come.",
		"since":        "Since when its schedule is in force. Left out if the leader has not recorded that.",
		"asked":        "Whether the leader is asked to reshard the job.",
		"dealing":      "Whether a JVM leader assigns them at this moment.",
		"triggers":     "Ids of instances that are asked to run in ElasticJob's way, ascending. Left out if there are none.",
		"debris":       "Paths of nodes that strangers have left in the way: the first 100. Left out if there are none.",
		"historyError": "Why the history does not tell when what runs has begun.",
		"doubt":        "In a stream: why this may be incomplete or old.",
		"doubtSince":   "In a stream: since when this may be old. Left out if it is only incomplete.",
	},
	reflect.TypeFor[ops.InstanceInfo](): {
		"id":         "Id of the instance.",
		"job":        "Name of the job.",
		"server":     "Address of its host.",
		"enabled":    "Whether this host may have items of the job.",
		"leader":     "Whether it leads.",
		"leaving":    "Whether it only finishes what it runs.",
		"labels":     "Its labels: the first 100. Left out if it has none.",
		"weight":     "How many items it gets in proportion to others. Left out if it says nothing.",
		"jvm":        "Whether it is a JVM member. The registry does not have protocol, old, revision, refuses, behind, clockOff, clockFar, clockAhead, version and process of such a one.",
		"protocol":   "Version of the rules by which it shares the registry.",
		"old":        "Whether it knows no kill, pause, request and pin, because its version is too old.",
		"revision":   "Revision of the configuration that its program has brought.",
		"refuses":    "Whether it has refused the configuration that the job has now.",
		"behind":     "Whether it works by an earlier configuration, and has not refused this one.",
		"clockOff":   "Whether it runs nothing, because its clock is farther off than the job allows.",
		"clockFar":   "Whether it gets no items because of its clock.",
		"clockAhead": "By how many seconds its clock is ahead of that of the store, certainly; negative if it is behind.",
		"version":    "Version of this module in its program. Left out if that does not know it.",
		"process":    "Id of its process: see the list of processes.",
		"session":    "Session of its process with the store, in hexadecimal digits: its end removes the instance. Left out if it has none.",
		"items":      "Items that it has, ascending. Left out if it has none.",
		"running":    "Items that it runs, ascending. Left out if it runs none.",
		"faults":     "Faults that it shows: the first 20. Left out if it shows none.",
		"error":      "What of it cannot be read.",
	},
	reflect.TypeFor[ops.FaultInfo](): {
		"instance": "Id of the instance that sees it; that of a process, if a Runner cannot join the job.",
		"kind":     "What kind of fault it is: " + faultWords() + ", or a word of a later version.",
		"cause":    "What is wrong.",
		"since":    "Since when.",
	},
	reflect.TypeFor[ops.ProcessInfo](): {
		"id":         "Id of the process.",
		"server":     "Address of its host.",
		"items":      "How many items it has, of all jobs.",
		"offers":     "Types and implementations whose jobs it serves, if it is a Runner. Left out if it is none.",
		"moreOffers": "How many more of them there are.",
		"labels":     "Its labels. Left out if it has none.",
		"moreLabels": "How many more of them there are.",
		"error":      "Why nothing of this can be read, but the id.",
	},
	reflect.TypeFor[ops.ItemInfo](): {
		"item":      "Number of the item, from 0.",
		"parameter": "Its parameter.",
		"status":    "How it is, in one word. The first that holds counts: DISABLED, RUNNING, SHARDING_FLAG (nobody has it), PENDING (it waits for its tick).",
		"instance":  "Id of the instance that has it, there or not. Left out if none has.",
		"server":    "Address of that instance's host.",
		"lastTick":  "The last tick that counts as begun: one that nobody may run any more is among them, and so is the time when the first Go instance joined JVM members. What has run is in last.",
		"run":       "What runs now. Left out if nothing does.",
		"last":      "Its last execution that has ended. Left out if the registry does not tell.",
		"failover":  "Id of the instance that has taken it over.",
		"waits":     "Whether it waits to be run again, because it was cut short.",
		"misfire":   "Whether a tick came while it ran.",
		"disabled":  "Whether an operator has disabled it.",
		"killed":    "Whether an operator has ended what runs.",
		"pin":       "Where it belongs. Left out if it is not pinned.",
		"requests":  "Ids of requests that it is not through with, in the order of its turns. Left out if there are none.",
		"error":     "What of it cannot be read.",
	},
	reflect.TypeFor[ops.RunInfo](): {
		"instance": "Id of the instance that runs it; may be empty.",
		"tick":     "Tick for which it runs; of a trigger, when it was claimed. A JVM member does not tell.",
		"begun":    "When its handler was called, by the clock of its instance. Only a history tells, and no stream.",
		"token":    "Its fencing token, for kill.",
		"taskId":   "Id of the execution in the history and in logs.",
		"request":  "Id of the request for which it runs.",
		"lost":     "Whether its instance is gone, and it is about to be recovered.",
	},
	reflect.TypeFor[ops.PinInfo](): {
		"instance": "Id of the instance that it belongs to.",
		"address":  "Address of the instances that it belongs to.",
		"label":    "Label of the instances that it belongs to.",
		"strict":   "Whether nobody has it while no such instance is there.",
		"by":       "Who has pinned it.",
		"holds":    "Whether there is such an instance.",
		"error":    "Why the pin cannot be read. Then it has no effect.",
	},
	reflect.TypeFor[ops.ServerInfo](): {
		"server":       "Its address.",
		"instances":    "How many instances it has. One process counts once for all its jobs, if it is of a JVM.",
		"jobs":         "How many jobs know it.",
		"disabledJobs": "In how many of them an operator has disabled it.",
		"items":        "How many items its instances have.",
		"running":      "How many of them run.",
	},
	reflect.TypeFor[ops.JobServer](): {
		"job":       "Name of the job.",
		"server":    "Address of the server.",
		"enabled":   "Whether it may have items of the job.",
		"instances": "Ids of its instances of the job, ascending. Left out if it has none.",
	},
	reflect.TypeFor[ops.RequestState](): {
		"id":      "Id of the request.",
		"source":  "What it is: MANUAL (a trigger), RETRY or BACKFILL.",
		"by":      "Who has asked.",
		"at":      "When it was asked.",
		"items":   "Items that it is for, ascending.",
		"through": "Those of them that are through, ascending. Left out if there are none.",
		"running": "Those of them that run for it now, ascending. Left out if there are none.",
		"waiting": "Those of them that wait: to begin, for their next tick, or to be run again; ascending. Left out if there are none.",
		"why":     "What the first item waits for that waits.",
		"ended":   "When all items were through, or when it was cancelled. Left out before that.",
	},
	reflect.TypeFor[ops.Plan](): {
		"job":         "Name of the job.",
		"new":         "Whether there is no such job, so it would be created.",
		"version":     "Version of the configuration that was compared. Left out if there is none.",
		"changes":     "Fields that would have other values. None for a job that is new, or whose configuration cannot be read.",
		"before":      "The document as it stands in the registry, with *** for secrets.",
		"after":       "The document as it would be written, with *** for secrets.",
		"ticksBefore": "The next ticks as it is now. Left out if there are none.",
		"ticksAfter":  "The next ticks as it would be. Left out if there are none.",
		"warnings":    "What the change does beside, or does not, in a sentence each. Left out if there are none.",
	},
	reflect.TypeFor[EventInfo](): {
		"kind": "What has happened: " + kindNames() + ", or a word of a later version.",
	},
	reflect.TypeFor[jobtype.Difference](): {
		"field":  "Name of the field in the registry, such as shardingTotalCount.",
		"before": "Its value now, as text; empty for a property that is not there.",
		"after":  "Its value as it would be, as text; empty for a property that would not be there.",
		"goOnly": "Whether ElasticJob has no such field, so JVM members pass it over.",
	},
	reflect.TypeFor[doctor.Report](): {
		"at":        "When the examination was begun.",
		"jobs":      "How many jobs were examined; 0 for those who may see only some.",
		"looks":     "How often the registry was read: 1, or 2 if something looked wrong.",
		"findings":  "What was found: the worst first, then by job, kind, instance and path.",
		"more":      "How many more findings there are.",
		"noHistory": "Why the history has not told all, to those who may see all jobs. Left out if it has, or if there is none.",
		"store":     "What the store tells of itself, to those who may see all jobs. Left out if it tells nothing.",
	},
	reflect.TypeFor[doctor.Finding](): {
		"kind":       "What kind of finding it is, such as no-instance or item-overdue.",
		"severity":   "How bad it is with its effects: info, warning or critical.",
		"job":        "Name of the job that it is about.",
		"instance":   "Id of the instance that it is about.",
		"path":       "Path of the node that it is about, within the namespace.",
		"others":     "Other instances and nodes where the same is wrong for the same cause: the first 100. Left out if there are none.",
		"moreOthers": "How many more of these there are.",
		"items":      "Items that it is about, ascending: the first 100. Left out if it is about none.",
		"moreItems":  "How many more items it is about.",
		"since":      "Since when. Left out if nothing in the store tells.",
		"cause":      "What is wrong. It may quote texts of others.",
		"advice":     "What to do about it. It may quote texts of others.",
		"action":     "What a program can offer to do about it: resume, enable (its items, or all servers), enable-server and cancel (at its path), retry, reshard, clear stale, unpin, readmit, remove, edit (the settings), open-run, or a word of a later version. Left out if the advice is nothing of that.",
		"command":    "The command of elasticjob that does it. Left out if there is none, or if it is not certain that it is wanted.",
		"effects":    "What is wrong only because of it, the worst first: one of each kind. Left out if there is nothing.",
	},
	reflect.TypeFor[doctor.Place](): {
		"instance": "Id of the instance.",
		"path":     "Path of the node, within the namespace.",
	},
	reflect.TypeFor[doctor.Effect](): {
		"kind":      "What kind of finding it would be by itself.",
		"severity":  "How bad it is: info, warning or critical.",
		"instance":  "Id of the instance that the first of the kind is about.",
		"items":     "Items that all of the kind are about, ascending: the first 100. Left out if there are none.",
		"moreItems": "How many more items.",
		"since":     "Since when, at the earliest. Left out if nothing in the store tells.",
		"cause":     "What is wrong with the first of the kind. It may quote texts of others.",
		"more":      "How many more of the kind there are.",
	},
	reflect.TypeFor[coord.StoreFacts](): {
		"product":    "Which store it is: etcd or ZooKeeper.",
		"members":    "Its servers.",
		"alarms":     "Alarms of the store, in its own words. Left out if there are none.",
		"compacts":   "Whether it drops old states of its nodes: yes, no or unknown.",
		"elasticJob": "Names of jobs that ElasticJob's own registry for etcd keeps in the store, some of them if there are many.",
		"reads":      "Whether the console may read the namespace: yes, no or unknown.",
		"writes":     "Whether the console may write in the namespace: yes, no or unknown.",
	},
	reflect.TypeFor[coord.MemberFacts](): {
		"address":     "Address of the server.",
		"why":         "Why it has told nothing, or that it is not well. Left out if all is well.",
		"silent":      "Whether it could not be reached, or did not answer in time.",
		"version":     "Its version. Left out if it is unknown.",
		"unsupported": "Whether this program does not work with that version.",
		"mended":      "The next version without defects that are known to do harm. Left out if this one has none.",
		"leads":       "Whether it leads the others, or is alone.",
		"size":        "How large its database is, in bytes. Left out if it is unknown.",
		"inUse":       "How much of that has data, in bytes. Left out if it is unknown.",
		"quota":       "How large the database may become, in bytes. Left out if it is unknown.",
	},
	reflect.TypeFor[dump.Dump](): {
		"job":         "Name of the job.",
		"time":        "When the dump was begun, by the clock of the console.",
		"host":        "Name of the host that has made it: of the console.",
		"process":     "Process id of the console.",
		"version":     "Version of this module.",
		"go":          "Version of Go.",
		"protocol":    "Version of the rules by which instances share the registry.",
		"status":      "How the job stands in the process that has made the dump. A console runs no job, and leaves it out.",
		"config":      "The configuration as it stands in the registry, with *** for secrets.",
		"configError": "What is wrong with the configuration.",
		"storeError":  "Why the registry could not be read.",
		"differing":   "How many nodes differ from what the process believes. A console believes nothing: 0.",
		"cut":         "Whether nodes are left out: there are more than 200,000, or more than 64 MiB.",
		"nodes":       "Nodes of the job: parents before their children, children in descending order of their names.",
	},
	reflect.TypeFor[dump.Node](): {
		"path":       "Path within the namespace.",
		"value":      "What the registry has, with *** for secrets. Empty for a parent that nobody wrote.",
		"modified":   "Number of the commit that wrote it last, of the whole store.",
		"session":    "Session whose end removes the node, in hexadecimal digits. Left out if it stays.",
		"difference": "How a process believes the node to be, if that differs: only in the view, only in the store, or other.",
		"view":       "What the process believes the value to be, if that differs.",
	},
	reflect.TypeFor[dump.Status](): {
		"job":           "Name of the job.",
		"instanceId":    "Id of the process as an instance of the job.",
		"session":       "How its session with the store stands.",
		"registered":    "Whether the instance is in the registry.",
		"enabled":       "Whether its host may have items of the job.",
		"leader":        "Whether it leads.",
		"leaving":       "Whether it only finishes what it runs.",
		"expired":       "Whether no tick comes any more, because the configuration gives the job an end.",
		"stopped":       "Why it has stopped. Left out if it goes on.",
		"paused":        "Since when no tick begins. Left out if the job is not paused.",
		"items":         "Items that it has: the first 1,000.",
		"itemCount":     "How many items it has.",
		"running":       "Items that it runs: the first 1,000.",
		"runningCount":  "How many items it runs.",
		"waiting":       "Items that should have begun and have not. Left out if there are none.",
		"lastTick":      "The last tick that was begun.",
		"nextTick":      "The next tick.",
		"lastError":     "Beginning of the last error.",
		"lastErrorTime": "When the last error came.",
		"faults":        "Faults that it shows. Left out if it shows none.",
	},
	reflect.TypeFor[dump.Pause](): {
		"since":  "Since when the job is paused.",
		"by":     "Who has paused it.",
		"why":    "Why, as he has said.",
		"makeUp": "Whether each item runs once when the pause ends, if ticks came meanwhile.",
	},
	reflect.TypeFor[dump.Waiting](): {
		"item":  "Number of the item.",
		"since": "Since when it waits.",
		"why":   "What it waits for.",
	},
	reflect.TypeFor[dump.Fault](): {
		"kind":  "What kind of fault it is: " + faultWords() + ", or a word of a later version.",
		"error": "What is wrong.",
		"since": "Since when.",
	},
}

// What words there are in several fields.
const (
	outcomeWords = "OK, FAILED, PANIC, TIMEOUT, CUT or KILLED, or a word of a later version"
	sourceWords  = "NORMAL_TRIGGER, MISFIRE, FAILOVER, MANUAL, RETRY or BACKFILL, or a word of a later version"
)

// faultWords lists the kinds of faults.
func faultWords() string {
	var kinds []string
	for k := jobtype.FaultConfig; k <= jobtype.FaultCalendar; k++ {
		kinds = append(kinds, k.String())
	}
	return strings.Join(kinds, ", ")
}

// wordsOf returns what describes the fields of a type: its own, and those of the types that are embedded in it.
func wordsOf(t reflect.Type) map[string]string {
	all := map[string]string{}
	var add func(reflect.Type)
	add = func(t reflect.Type) {
		for name, text := range words[t] {
			all[name] = text
		}
		for _, f := range reflect.VisibleFields(t) {
			if f.Anonymous && len(f.Index) == 1 && f.Type.Kind() == reflect.Struct {
				add(f.Type)
			}
		}
	}
	add(t)
	return all
}
