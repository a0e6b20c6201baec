// Made by go test ./console -run TestTypesOfPages -write: the types of the API.
export interface Answer {
  /** The moment. */
  at: string;
  /** Why, the first cause first. */
  causes: (Cause)[];
  /** Number of the item. Left out if it is about all. */
  item?: number;
  /** Name of the job. */
  job: string;
  /** The tick after the moment. Left out if there is none. */
  next?: string;
  /** Executions for the tick: the first 100. */
  runs: (Run)[];
  /** The scheduled time that it is about: the last one up to the moment, also if a calendar leaves it out. Left out if there is none. */
  tick?: string;
  /** What could not be looked at, or is not certain, in sentences. */
  unseen: (string)[];
  /** What became of it: not due (there was no tick, or it had run before), ran, failed over, late, unknown, skipped. Of several items the last of these that is one's counts. */
  verdict: string;
}
export interface AuditEntry {
  /** What was done: a word or two, such as create, update, pause, kill, disable items. */
  action: string;
  /** How it is now: a whole document, or a few words. 16 KiB at most. */
  after?: string;
  /** When it was done, by the clock of the console. Left out in a dry run. */
  at?: string;
  /** How it was before: a whole document, or a few words. 16 KiB at most. */
  before?: string;
  /** Who has done it. */
  by?: string;
  /** Whether before or after was longer, and is cut. */
  cut?: boolean;
  /** Which part of the job it concerns, such as items 0-3: 1,024 bytes at most. */
  detail?: string;
  /** Why nothing of this can be told but the id. */
  error?: string;
  /** Where he was, such as the address of his computer. */
  from?: string;
  /** Id of the entry of the audit. Ids sort by time. Left out in a dry run. */
  id?: string;
  /** Name of the job that has changed. Left out if it is the namespace that has, or several jobs. */
  job?: string;
  /** Names of the jobs that have changed by one action on many, as far as you may see them: 200 at most. Left out if it is one, or the namespace. */
  jobs?: (string)[];
  /** Why, as the operator has said. */
  why?: string;
}
export interface BackfillBody {
  /** Ticks at this time or later. */
  from: string;
  /** Items to run. Default: all. */
  items?: (number)[];
  /** Replaces the parameter of the job in these executions. */
  parameter?: string;
  /** Leave the other ticks of an item out when one has failed. */
  stopAtFailure?: boolean;
  /** Ticks at this time or before. 1,000 lie in between at most. */
  to: string;
}
export interface BatchBody {
  /** disable and enable: all servers of a job. */
  action: "pause" | "resume" | "trigger" | "disable" | "enable";
  /** Names of the jobs, each of them once. */
  jobs: (string)[];
  /** Of a pause: run each item once when it ends, if ticks came meanwhile. */
  makeUp?: boolean;
  /** Of a trigger: replaces the parameter of the job. */
  parameter?: string;
  /** Why, for people: of a pause. */
  why?: string;
}
export interface BatchChanged {
  /** Whether nothing was changed: changes are what would be. */
  dryRun?: boolean;
  /** How many jobs are not as they were to be. */
  failed: number;
  /** In the order of the request. */
  outcomes: (JobOutcome)[];
}
export interface CalendarBody {
  /** YAML. */
  document: string;
}
export interface CalendarChanged {
  /** Entries of the audit that it has made. None if all was as it should be already. */
  changes: (Change)[];
  /** Whether nothing was changed: changes are what would be. */
  dryRun?: boolean;
  /** Those of them that have no tick to come by it. */
  idle: (string)[];
  /** Jobs that name it. */
  jobs: (string)[];
}
export interface CalendarDetail {
  /** YAML. */
  document: string;
  /** Why it cannot be read. Jobs that name it have no ticks then. */
  error?: string;
  /** Jobs that name it, of those that you may see. */
  jobs: (string)[];
  /** Name of the calendar. */
  name: string;
  /** Its version; the ETag of the calendar has it, too. */
  version: number;
}
export interface CalendarInfo {
  /** Why it cannot be read. Jobs that name it have no ticks then. */
  error?: string;
  /** Name of the calendar. */
  name: string;
  /** Its version; the ETag of the calendar has it, too. */
  version: number;
}
export interface CalendarPlan {
  /** Why the calendar cannot be read. Jobs that name it have no ticks then. */
  error?: string;
  /** Beginning of the first day. */
  from?: string;
  /** Whether there are more. */
  more: boolean;
  /** What is left out, in its order: 10,000 spans at most. None touches the next. */
  rows: (CalendarSpan)[];
  /** Zone of the calendar: an IANA name, or an offset such as GMT+08:00. All times here are by its clock. */
  timeZone?: string;
  /** End of the last day. */
  to?: string;
}
export interface CalendarSpan {
  /** When it begins, or the days do. */
  from: string;
  /** When it ends, or the days do: then there are ticks again. */
  to: string;
}
export interface Cause {
  /** Who has done it. */
  by?: string;
  /** The command of elasticjob that changes it, or shows more. Left out if there is none. */
  command?: string;
  /** Items that it is about. Left out if they are all that were asked for. */
  items?: (number)[];
  /** What it is, such as paused or calendar. */
  kind: string;
  /** Since when. Left out if it is not known. */
  since?: string;
  /** The cause in a sentence. It may quote texts of others. */
  text: string;
  /** Until when. Left out if it is not known, or if it is not over. */
  until?: string;
  /** Why, as he has said. */
  why?: string;
}
export interface CausesInfo {
  /** What has kept the job from running, or may have, by since: paused, servers-disabled, item-disabled, calendar, no-instance and new-instances; configured and killed are moments, whose until is since. */
  causes: (Cause)[];
  /** What could not be looked at, or is not certain, in sentences. */
  unseen: (string)[];
}
export interface Change {
  /** What was done: a word or two, such as create, update, pause, kill, disable items. */
  action: string;
  /** How it is now: a whole document, or a few words. 16 KiB at most. */
  after?: string;
  /** When it was done, by the clock of the console. Left out in a dry run. */
  at?: string;
  /** How it was before: a whole document, or a few words. 16 KiB at most. */
  before?: string;
  /** Who has done it. */
  by?: string;
  /** Whether before or after was longer, and is cut. */
  cut?: boolean;
  /** Which part of the job it concerns, such as items 0-3: 1,024 bytes at most. */
  detail?: string;
  /** Where he was, such as the address of his computer. */
  from?: string;
  /** Id of the entry of the audit. Ids sort by time. Left out in a dry run. */
  id?: string;
  /** Name of the job that has changed. Left out if it is the namespace that has, or several jobs. */
  job?: string;
  /** Names of the jobs that have changed by one action on many, as far as you may see them: 200 at most. Left out if it is one, or the namespace. */
  jobs?: (string)[];
  /** Why, as the operator has said. */
  why?: string;
}
export interface Changed {
  /** Entries of the audit that it has made. None if all was as it should be already. */
  changes: (Change)[];
  /** Whether nothing was changed: changes are what would be. */
  dryRun?: boolean;
}
export interface ClearFailoversBody {
  /** Default: all that wait to be run again. */
  items?: (number)[];
}
export interface ClearServersBody {
  /** Also those that are disabled. */
  disabled?: boolean;
}
export interface ClearedItems {
  /** Entries of the audit that it has made. None if all was as it should be already. */
  changes: (Change)[];
  /** Whether nothing was changed: changes are what would be. */
  dryRun?: boolean;
  /** Items that are not run again. */
  items: (number)[];
}
export interface ClearedNodes {
  /** Entries of the audit that it has made. None if all was as it should be already. */
  changes: (Change)[];
  /** Whether nothing was changed: changes are what would be. */
  dryRun?: boolean;
  /** Paths of nodes that have gone. */
  nodes: (string)[];
}
export interface ClearedServers {
  /** Entries of the audit that it has made. None if all was as it should be already. */
  changes: (Change)[];
  /** Whether nothing was changed: changes are what would be. */
  dryRun?: boolean;
  /** Addresses of servers that have gone. */
  servers: (string)[];
}
export interface ColumnsInfo {
  /** Ticks and begun are counted from then on. */
  begin: string;
  /** When their handlers were called, in milliseconds since begin; -1 if it is not known. */
  begun: (number)[];
  /** How long they took, in milliseconds; -1 while one runs, and if nobody has told its end. */
  duration: (number)[];
  /** Ids of the executions, newest last. */
  ids: (string)[];
  /** Which instances have run them: places in instances, from 0. */
  instance: (number)[];
  /** Ids of the instances that there are. Empty: a JVM, which does not tell. */
  instances: (string)[];
  /** Numbers of their items. */
  items: (number)[];
  /** Whether older ones in that time are left out. */
  more: boolean;
  /** How they have ended: places in outcomes, from 0. */
  outcome: (number)[];
  /** Outcomes that there are, as those of a single execution. */
  outcomes: (string)[];
  /** Why they ran: places in sources, from 0. */
  source: (number)[];
  /** Sources that there are, as those of a single execution. Empty: a word of a later version. */
  sources: (string)[];
  /** Their ticks, in milliseconds since begin; -1 if it is not known: a JVM does not tell. */
  ticks: (number)[];
}
export interface Configuration {
  /** When it runs: a Quartz expression, or the five fields of Unix cron. Empty for a one-off job. */
  cron?: string;
  /** What the job is for, for people. */
  description?: string;
  /** Whether servers are disabled when they first come. Default false. */
  disabled?: boolean;
  /** Whether an execution is run again if its instance ends in the middle of it. Default false. */
  failover?: boolean;
  /** Who is told of errors: one name, or several with commas between them. Default LOG. */
  jobErrorHandlerType?: string;
  /** How many items a process runs at a time: CPU (twice the number of its CPUs) or SINGLE_THREAD. Default CPU. */
  jobExecutorThreadPoolSizeProviderType?: string;
  /** Names of listeners, in their order. */
  jobListenerTypes?: (string)[];
  /** Name of the job. Default: that of the path. */
  jobName?: string;
  /** Parameter of all items. */
  jobParameter?: string;
  /** How items are assigned. Default AVG_ALLOCATION. */
  jobShardingStrategyType?: string;
  /** Only instances with this label have items. Default: all may. */
  label?: string;
  /** How far a clock may be off, in seconds. 0 and less is any. Default -1. */
  maxTimeDiffSeconds?: number;
  /** Whether ticks that were missed are made up for, once. Default true. */
  misfire?: boolean;
  /** Whether the registry knows what runs. Default true. */
  monitorExecution?: boolean;
  /** Whether a program's configuration replaces that of the registry. Default false. */
  overwrite?: boolean;
  /** Properties of the job's type, and what ElasticJob has no key for: cron.more, schedule.calendars, overlap, execution.timeout.seconds and others. */
  props?: Record<string, string>;
  /** How often an instance looks at all of the job again, in minutes. 0 and less is never. Default 10. */
  reconcileIntervalMinutes?: number;
  /** Parameters of items, such as 0=north,1=south. */
  shardingItemParameters?: string;
  /** How many items it has: 1 to 100,000. */
  shardingTotalCount?: number;
  /** Whether items stay where they are as long as that is possible. Default false. */
  staticSharding?: boolean;
  /** Zone of the expression: an IANA name, or an offset such as GMT+08:00. Default: that of each process. */
  timeZone?: string;
}
export interface ConfigurationPatch {
  /** When it runs: a Quartz expression, or the five fields of Unix cron. Empty for a one-off job. */
  cron?: string | null;
  /** What the job is for, for people. */
  description?: string | null;
  /** Whether servers are disabled when they first come. Default false. */
  disabled?: boolean | null;
  /** Whether an execution is run again if its instance ends in the middle of it. Default false. */
  failover?: boolean | null;
  /** Who is told of errors: one name, or several with commas between them. Default LOG. */
  jobErrorHandlerType?: string | null;
  /** How many items a process runs at a time: CPU (twice the number of its CPUs) or SINGLE_THREAD. Default CPU. */
  jobExecutorThreadPoolSizeProviderType?: string | null;
  /** Names of listeners, in their order. */
  jobListenerTypes?: (string)[] | null;
  /** Name of the job. Default: that of the path. */
  jobName?: string | null;
  /** Parameter of all items. */
  jobParameter?: string | null;
  /** How items are assigned. Default AVG_ALLOCATION. */
  jobShardingStrategyType?: string | null;
  /** Only instances with this label have items. Default: all may. */
  label?: string | null;
  /** How far a clock may be off, in seconds. 0 and less is any. Default -1. */
  maxTimeDiffSeconds?: number | null;
  /** Whether ticks that were missed are made up for, once. Default true. */
  misfire?: boolean | null;
  /** Whether the registry knows what runs. Default true. */
  monitorExecution?: boolean | null;
  /** Whether a program's configuration replaces that of the registry. Default false. */
  overwrite?: boolean | null;
  /** Properties of the job's type, and what ElasticJob has no key for: cron.more, schedule.calendars, overlap, execution.timeout.seconds and others. */
  props?: Record<string, string | null> | null;
  /** How often an instance looks at all of the job again, in minutes. 0 and less is never. Default 10. */
  reconcileIntervalMinutes?: number | null;
  /** Parameters of items, such as 0=north,1=south. */
  shardingItemParameters?: string | null;
  /** How many items it has: 1 to 100,000. */
  shardingTotalCount?: number | null;
  /** Whether items stay where they are as long as that is possible. Default false. */
  staticSharding?: boolean | null;
  /** Zone of the expression: an IANA name, or an offset such as GMT+08:00. Default: that of each process. */
  timeZone?: string | null;
}
export interface ConnectionTest {
  /** The same, for people. */
  detail?: string;
  /** How long it took. */
  millis: number;
  /** Whether it was well. */
  ok: boolean;
  /** Why it has failed: unreachable, refused (user and password), tls, invalid, denied (the user may not read there) or unsupported (the version of the server). */
  reason?: string;
}
export interface CountInfo {
  /** How many executions, by outcome. */
  executions: Record<string, number>;
  /** When the hour or day begins. */
  start: string;
}
export interface CronInfo {
  /** What it means, in a sentence. */
  explanation: string;
  /** The expression, written in the same way for all that mean the same. */
  expression: string;
  /** The next ones. */
  ticks: (string)[];
  /** Zone in which it was read. */
  timeZone: string;
}
export interface DatabaseConnection {
  /** host:port; of SQLite the path of the file. */
  address?: string;
  /** Name of the database in the server. */
  database?: string;
  /** Kind of the database. */
  driver?: string;
  /** Why it is away. */
  error?: string;
  /** It is of the console's start, and cannot be changed here. */
  fixed?: boolean;
  /** Name that the console has for it. */
  name: string;
  /** Those whose jobs have their history in it. */
  namespaces: (string)[];
  /** ***, or a reference. */
  password?: string;
  /** How it stands: idle (nobody has asked for it), connecting, connected or away. */
  phase: string;
  /** Since when it is in this phase. */
  since: string;
  /** Without it connections are not encrypted. */
  tls?: TLSBody;
  /** Name by which the console logs in. */
  user?: string;
}
export interface DatabaseConnectionBody {
  /** host:port; of SQLite the path of the file, in a folder that the console's options allow. */
  address: string;
  /** Name of the database in the server; SQLite has none. */
  database?: string;
  /** Kind of the database. There are no others. */
  driver: "sqlite" | "mysql" | "postgres";
  /** As that of a namespace. */
  password?: string;
  /** Without it connections are not encrypted. */
  tls?: TLSBody;
  /** SQLite has none. */
  user?: string;
}
export interface Difference {
  /** Its value as it would be, as text; empty for a property that would not be there. */
  after: string;
  /** Its value now, as text; empty for a property that is not there. */
  before: string;
  /** Name of the field in the registry, such as shardingTotalCount. */
  field: string;
  /** Whether ElasticJob has no such field, so JVM members pass it over. */
  goOnly?: boolean;
}
export interface DisableServersBody {
  /** Also servers that the job does not have yet. */
  ahead?: boolean;
  /** All that the job has. */
  all?: boolean;
  /** Addresses. */
  servers?: (string)[];
}
export interface Dump {
  /** The configuration as it stands in the registry, with *** for secrets. */
  config?: string;
  /** What is wrong with the configuration. */
  configError?: string;
  /** Whether nodes are left out: there are more than 200,000, or more than 64 MiB. */
  cut?: boolean;
  /** How many nodes differ from what the process believes. A console believes nothing: 0. */
  differing: number;
  /** Version of Go. */
  go: string;
  /** Name of the host that has made it: of the console. */
  host: string;
  /** Name of the job. */
  job: string;
  /** Nodes of the job: parents before their children, children in descending order of their names. */
  nodes: (DumpNode)[];
  /** Process id of the console. */
  process: number;
  /** Version of the rules by which instances share the registry. */
  protocol: number;
  /** How the job stands in the process that has made the dump. A console runs no job, and leaves it out. */
  status?: DumpStatus;
  /** Why the registry could not be read. */
  storeError?: string;
  /** When the dump was begun, by the clock of the console. */
  time: string;
  /** Version of this module. */
  version: string;
}
export interface DumpFault {
  /** What is wrong. */
  error: string;
  /** What kind of fault it is: configuration, clock, store, tree, starvation, strategy, calendar, or a word of a later version. */
  kind: string;
  /** Since when. */
  since: string;
}
export interface DumpNode {
  /** How a process believes the node to be, if that differs: only in the view, only in the store, or other. */
  difference?: string;
  /** Number of the commit that wrote it last, of the whole store. */
  modified?: number;
  /** Path within the namespace. */
  path: string;
  /** Session whose end removes the node, in hexadecimal digits. Left out if it stays. */
  session?: string;
  /** What the registry has, with *** for secrets. Empty for a parent that nobody wrote. */
  value: string;
  /** What the process believes the value to be, if that differs. */
  view?: string;
}
export interface DumpPause {
  /** Who has paused it. */
  by?: string;
  /** Whether each item runs once when the pause ends, if ticks came meanwhile. */
  makeUp: boolean;
  /** Since when the job is paused. */
  since: string;
  /** Why, as he has said. */
  why?: string;
}
export interface DumpStatus {
  /** Whether its host may have items of the job. */
  enabled: boolean;
  /** Whether no tick comes any more, because the configuration gives the job an end. */
  expired?: boolean;
  /** Faults that it shows. Left out if it shows none. */
  faults?: (DumpFault)[];
  /** Id of the process as an instance of the job. */
  instanceId?: string;
  /** How many items it has. */
  itemCount: number;
  /** Items that it has: the first 1,000. */
  items: (number)[];
  /** Name of the job. */
  job: string;
  /** Beginning of the last error. */
  lastError?: string;
  /** When the last error came. */
  lastErrorTime?: string;
  /** The last tick that was begun. */
  lastTick?: string;
  /** Whether it leads. */
  leader: boolean;
  /** Whether it only finishes what it runs. */
  leaving?: boolean;
  /** The next tick. */
  nextTick?: string;
  /** Since when no tick begins. Left out if the job is not paused. */
  paused?: DumpPause;
  /** Whether the instance is in the registry. */
  registered: boolean;
  /** Items that it runs: the first 1,000. */
  running: (number)[];
  /** How many items it runs. */
  runningCount: number;
  /** How its session with the store stands. */
  session: string;
  /** Why it has stopped. Left out if it goes on. */
  stopped?: string;
  /** Items that should have begun and have not. Left out if there are none. */
  waiting?: (DumpWaiting)[];
}
export interface DumpWaiting {
  /** Number of the item. */
  item: number;
  /** Since when it waits. */
  since: string;
  /** What it waits for. */
  why?: string;
}
export interface DurationsInfo {
  /** Whether there are no older ones. */
  all: boolean;
  /** How many were looked at. */
  executions: number;
  /** How long the longest took, in seconds. */
  maxSeconds: number;
  /** Half of them took no longer, in seconds. */
  p50Seconds: number;
  /** 95 of 100 took no longer, in seconds. */
  p95Seconds: number;
  /** 99 of 100 took no longer, in seconds. */
  p99Seconds: number;
  /** Start of the oldest of them. */
  since?: string;
}
export interface Effect {
  /** What is wrong with the first of the kind. It may quote texts of others. */
  cause: string;
  /** Id of the instance that the first of the kind is about. */
  instance?: string;
  /** Items that all of the kind are about, ascending: the first 100. Left out if there are none. */
  items?: (number)[];
  /** What kind of finding it would be by itself. */
  kind: string;
  /** How many more of the kind there are. */
  more?: number;
  /** How many more items. */
  moreItems?: number;
  /** How bad it is: info, warning or critical. */
  severity: string;
  /** Since when, at the earliest. Left out if nothing in the store tells. */
  since?: string;
}
export interface EventInfo {
  /** How it is. */
  after?: string;
  /** How it was. */
  before?: string;
  /** Who it was: of what operators do. */
  by?: string;
  /** More about it: what has changed, or whom it is about. */
  detail?: string;
  /** Text of the error. */
  error?: string;
  /** The instance that has ended, or where an operator was. */
  from?: string;
  /** Id of the event. Ids sort by time. */
  id: string;
  /** Id of the instance that has seen it. Left out if none has. */
  instance?: string;
  /** Number of the item, of a tick that was made up or skipped. */
  item?: number;
  /** Items that it is about. Left out if there are none. */
  items?: (number)[];
  /** Name of the job. Left out if it is about the namespace. */
  job?: string;
  /** What has happened: claimed, released, started, retried, finished, made up, skipped, recovered, joined, left, session, leads, items, configured, paused, commanded, due, fault, missed, operated, or a word of a later version. */
  kind: string;
  /** Whether it is the end of what has begun before. */
  over?: boolean;
  /** Tick that it is about. */
  tick?: string;
  /** How many ticks it is about. */
  ticks?: number;
  /** When it happened, by the clock of who has seen it. */
  time: string;
  /** What is more about it, in a word or two. */
  what?: string;
  /** Why, as the operator has said. */
  why?: string;
}
export interface ExecutionInfo {
  /** Address of the host that has run it. */
  address?: string;
  /** How many attempts there were. Left out if nobody has told. */
  attempts?: number;
  /** When its handler was called, by the clock of its instance. */
  begun?: string;
  /** How long it took, in seconds, with the pauses between attempts. */
  durationSeconds: number;
  /** When it has ended, by the clock of its instance. Left out while it runs. */
  ended?: string;
  /** Text of its last error. */
  error?: string;
  /** Name of the host that has run it. */
  hostname?: string;
  /** Id of the execution. */
  id: string;
  /** Id of the instance that has run it. A JVM does not tell. */
  instance?: string;
  /** Number of the item. */
  item: number;
  /** Name of the job. */
  job: string;
  /** Id of the execution that it repeats. */
  original?: string;
  /** How it has ended: OK, FAILED, PANIC, TIMEOUT, CUT or KILLED; RUNNING if nobody has told its end, LOST if its instance ended in the middle of it; or a word of a later version. */
  outcome: string;
  /** End of what the handler has kept; only of a single execution. */
  output?: string;
  /** Id of the request for which it ran. */
  request?: string;
  /** Why it ran: NORMAL_TRIGGER, MISFIRE, FAILOVER, MANUAL, RETRY or BACKFILL. Left out for a word of a later version. */
  source?: string;
  /** Task id, as ElasticJob has it. That of a JVM is of many executions. */
  taskId: string;
  /** Tick for which it ran. A JVM does not tell. */
  tick?: string;
  /** Its fencing token: that of a later execution is larger. A JVM does not tell. */
  token?: number;
  /** How long it waited for a thread before that, in seconds. */
  waitedSeconds: number;
}
export interface FailedChoice {
  /** Name of the job. */
  job: string;
  /** Those of its failures that are meant. Default: all. */
  runs?: (FailedChosen)[];
}
export interface FailedChosen {
  /** Number of the item. */
  item: number;
  /** Tick for which it has failed. */
  tick: string;
}
export interface FailedJob {
  /** How many items at ticks still fail: nothing has succeeded for the tick, and the item has not gone on to a later one. */
  failed: number;
  /** Name of the job. */
  job: string;
  /** When the newest of the failures has begun. */
  newest: string;
  /** How many items at ticks had no success, and the item has gone on to later ticks. */
  older?: number;
  /** The worst and newest first: 100 at most, and some 2,000 of all jobs, but one of each. */
  runs: (FailedRun)[];
  /** How many have succeeded since: by a failover, a retry or a backfill. */
  succeeded?: number;
}
export interface FailedPart {
  /** Whether it is a backfill, and not a retry. */
  backfill?: boolean;
  /** More about that. */
  error?: string;
  /** How many failures these are: items at ticks. */
  failures: number;
  /** Numbers of the items. */
  items: (number)[];
  /** Name of the job. */
  job: string;
  /** Id of the request for which they run. In a dry run nobody has it. */
  request?: string;
  /** Tick for which they run. Left out of what does not run, which may be of several. */
  tick?: string;
  /** Why there is none: denied, no-failure (it has run again a moment ago), paused, disabled, no-instance, waiting (it runs, or was asked for a moment ago), older (not without older), no-tick (of a JVM), too-many (for one job at a time), refused. */
  why?: string;
}
export interface FailedRun {
  /** When that has begun, by the clock of its instance. */
  begun?: string;
  /** Text of its error. */
  error?: string;
  /** Its id in the history. */
  execution?: string;
  /** Number of the item. */
  item: number;
  /** How the newest execution without success has ended: FAILED, PANIC, TIMEOUT, CUT or LOST. */
  outcome: string;
  /** Address of its server. */
  server?: string;
  /** What has become of it. */
  state: "FAILED" | "OLDER" | "SUCCEEDED";
  /** Tick for which it has failed. A JVM does not tell. */
  tick?: string;
  /** How many executions for the tick have failed, as far as they are known. */
  times: number;
  /** Whether the item runs for the tick now, is to be failed over, or has requests before it. */
  waits?: boolean;
}
export interface Failures {
  /** Names of jobs with failures that the namespace does not have: they were removed, or are of another namespace with the same history. */
  elsewhere?: (string)[];
  /** Whether the history is not looked at because it is also that of another namespace: it knows jobs by their names only. */
  hidden?: boolean;
  /** Why the history could not be read. Only the last execution of each item is known then. */
  historyError?: string;
  /** Jobs with failures: 500 at most. */
  jobs: (FailedJob)[];
  /** How many jobs with failures are left out. */
  more?: number;
  /** Whether there is no history. Only the last execution of each item is known then. */
  noHistory?: boolean;
  /** Set if there were so many failures that none from before then was looked at. */
  since?: string;
}
export interface FaultInfo {
  /** What is wrong. */
  cause: string;
  /** Id of the instance that sees it; that of a process, if a Runner cannot join the job. */
  instance: string;
  /** What kind of fault it is: configuration, clock, store, tree, starvation, strategy, calendar, or a word of a later version. */
  kind: string;
  /** Since when. */
  since?: string;
}
export interface FieldError {
  /** Where: path, query, header or body with the name behind it, or a field of a job's configuration. */
  field: string;
  /** What is wrong, and what is allowed. */
  reason: string;
}
export interface Finding {
  /** What a program can offer to do about it: resume, enable (its items, or all servers), enable-server and cancel (at its path), retry, reshard, clear stale, unpin, readmit, remove, edit (the settings), open-run, or a word of a later version. Left out if the advice is nothing of that. */
  action?: string;
  /** What to do about it. It may quote texts of others. */
  advice: string;
  /** What is wrong. It may quote texts of others. */
  cause: string;
  /** The command of elasticjob that does it. Left out if there is none, or if it is not certain that it is wanted. */
  command?: string;
  /** What is wrong only because of it, the worst first: one of each kind. Left out if there is nothing. */
  effects?: (Effect)[];
  /** Id of the instance that it is about. */
  instance?: string;
  /** Items that it is about, ascending: the first 100. Left out if it is about none. */
  items?: (number)[];
  /** Name of the job that it is about. */
  job?: string;
  /** What kind of finding it is, such as no-instance or item-overdue. */
  kind: string;
  /** How many more items it is about. */
  moreItems?: number;
  /** How many more of these there are. */
  moreOthers?: number;
  /** Other instances and nodes where the same is wrong for the same cause: the first 100. Left out if there are none. */
  others?: (Place)[];
  /** Path of the node that it is about, within the namespace. */
  path?: string;
  /** How bad it is with its effects: info, warning or critical. */
  severity: string;
  /** Since when. Left out if nothing in the store tells. */
  since?: string;
}
export interface GrantInfo {
  /** Patterns of names of jobs; * alone stands for all. */
  jobs: (string)[];
  /** Patterns of names that the console has for them; * stands for any text, and alone for all. */
  namespaces: (string)[];
  /** A higher one may do all that a lower one may. */
  role: "viewer" | "operator" | "admin";
}
export interface ImplementBody {
  /** Implementation that the job has to have now; may be empty. */
  from: string;
  /** The one that it gets. */
  to: string;
}
export interface InstanceInfo {
  /** Whether it works by an earlier configuration, and has not refused this one. */
  behind?: boolean;
  /** By how many seconds its clock is ahead of that of the store, certainly; negative if it is behind. */
  clockAhead?: number;
  /** Whether it gets no items because of its clock. */
  clockFar?: boolean;
  /** Whether it runs nothing, because its clock is farther off than the job allows. */
  clockOff?: boolean;
  /** Whether this host may have items of the job. */
  enabled: boolean;
  /** What of it cannot be read. */
  error?: string;
  /** Faults that it shows: the first 20. Left out if it shows none. */
  faults?: (FaultInfo)[];
  /** Id of the instance. */
  id: string;
  /** Items that it has, ascending. Left out if it has none. */
  items?: (number)[];
  /** Name of the job. */
  job: string;
  /** Whether it is a JVM member. The registry does not have protocol, old, revision, refuses, behind, clockOff, clockFar, clockAhead, version and process of such a one. */
  jvm?: boolean;
  /** Its labels: the first 100. Left out if it has none. */
  labels?: (string)[];
  /** Whether it leads. */
  leader?: boolean;
  /** Whether it only finishes what it runs. */
  leaving?: boolean;
  /** Whether it knows no kill, pause, request and pin, because its version is too old. */
  old?: boolean;
  /** Id of its process: see the list of processes. */
  process?: string;
  /** Version of the rules by which it shares the registry. */
  protocol?: number;
  /** Whether it has refused the configuration that the job has now. */
  refuses?: boolean;
  /** Revision of the configuration that its program has brought. */
  revision?: number;
  /** Items that it runs, ascending. Left out if it runs none. */
  running?: (number)[];
  /** Address of its host. */
  server: string;
  /** Session of its process with the store, in hexadecimal digits: its end removes the instance. Left out if it has none. */
  session?: string;
  /** Version of this module in its program. Left out if that does not know it. */
  version?: string;
  /** How many items it gets in proportion to others. Left out if it says nothing. */
  weight?: number;
}
export interface ItemInfo {
  /** Whether an operator has disabled it. */
  disabled?: boolean;
  /** What of it cannot be read. */
  error?: string;
  /** Id of the instance that has taken it over. */
  failover?: string;
  /** Id of the instance that has it, there or not. Left out if none has. */
  instance?: string;
  /** Number of the item, from 0. */
  item: number;
  /** Whether an operator has ended what runs. */
  killed?: boolean;
  /** Its last execution that has ended. Left out if the registry does not tell. */
  last?: LastRun;
  /** The last tick that counts as begun: one that nobody may run any more is among them, and so is the time when the first Go instance joined JVM members. What has run is in last. */
  lastTick?: string;
  /** Whether a tick came while it ran. */
  misfire?: boolean;
  /** Its parameter. */
  parameter?: string;
  /** Where it belongs. Left out if it is not pinned. */
  pin?: PinInfo;
  /** Ids of requests that it is not through with, in the order of its turns. Left out if there are none. */
  requests?: (string)[];
  /** What runs now. Left out if nothing does. */
  run?: RunInfo;
  /** Address of that instance's host. */
  server?: string;
  /** How it is, in one word. The first that holds counts: DISABLED, RUNNING, SHARDING_FLAG (nobody has it), PENDING (it waits for its tick). */
  status: string;
  /** Whether it waits to be run again, because it was cut short. */
  waits?: boolean;
}
export interface ItemResult {
  /** When its last execution has ended, by the clock of its instance. */
  ended?: string;
  /** Beginning of the last error, or why the item was skipped. */
  error?: string;
  /** How many of them without success. */
  failed: number;
  /** Number of the item. */
  item: number;
  /** How it has ended: OK, FAILED, PANIC, TIMEOUT, CUT, KILLED or SKIPPED, or a word of a later version. */
  outcome: string;
  /** How many ticks were run. */
  runs: number;
  /** Of the last execution. */
  taskId?: string;
  /** Fencing token of the last execution. */
  token?: number;
}
export interface ItemsBody {
  /** Numbers of the items. */
  items: (number)[];
}
export interface JobInfo {
  /** Whether the execution that has ended last began more than a minute, and the jitter, after its tick. */
  begunLate?: boolean;
  /** Whether each instance runs at each tick. */
  broadcast?: boolean;
  /** How many calendars there are whose days it leaves out. */
  calendars?: number;
  /** Why the configuration cannot be read. The other fields have what could be read then. */
  configError?: string;
  /** Its first cron expression. Left out for a one-off job. */
  cron?: string;
  /** What the configuration says of the job, for people: its first 255 bytes. */
  description?: string;
  /** How many items an operator has disabled. */
  disabledItems?: number;
  /** How many of them an operator has disabled. */
  disabledServers?: number;
  /** Whether no tick comes any more, because the configuration gives the job an end. */
  expired?: boolean;
  /** How many items had no success with their last execution. */
  failing?: number;
  /** Kind and cause of the oldest fault. */
  fault?: string;
  /** How many faults its instances show. */
  faults?: number;
  /** Whether the status is OK, and the job is not paused, expired, faulty, failing or late. */
  healthy?: boolean;
  /** What runs the job: a class, or a type such as SCRIPT. */
  implementation?: string;
  /** How many instances are there. */
  instances: number;
  /** How many of them are JVM members. */
  jvm?: number;
  /** Whether only JVM members can have the job, because of its name. */
  jvmOnly?: boolean;
  /** Only instances with this label have items. Left out if all may. */
  label?: string;
  /** The execution that has ended last. Left out if the registry has none. */
  last?: LastRun;
  /** Id of the instance that leads. Left out if none does. */
  leader?: string;
  /** How many instances only finish what they run. They are not among those that are there. */
  leaving?: number;
  /** How many expressions it has beside that one. */
  moreCrons?: number;
  /** Name of the job. */
  name: string;
  /** The next tick. Left out for a one-off job, during a pause, and if none comes. */
  next?: string;
  /** Why the next tick cannot be told. */
  nextError?: string;
  /** Since when no tick begins. Left out if the job is not paused. */
  paused?: PauseInfo;
  /** How many items are pinned. */
  pins?: number;
  /** How many triggers, retries and backfills have items that are not through. */
  requests?: number;
  /** How many items run. */
  running: number;
  /** How many servers the job knows. */
  servers: number;
  /** How many items the job is to have. */
  shardingTotalCount: number;
  /** How the job is, in one word. The first that holds counts: CRASHED (no instance is there, and one has ended in the middle of an execution), STOPPED (no instance is there any more), NEVER_STARTED (there never was one), DISABLED (all servers are disabled), SHARDING_FLAG (items are to be assigned), OK. */
  status: string;
  /** Zone of the expressions: an IANA name, or an offset. Left out if it is that of each process. */
  timeZone?: string;
  /** Version of the configuration: it grows with each change. */
  version: number;
  /** How many items wait to be run again, because they were cut short. */
  waiting?: number;
}
export interface JobOutcome {
  /** Entries of the audit. None if all was as it should be already. */
  changes: (Change)[];
  /** Whether the server was not enabled for the job, because that is disabled as a whole. */
  disabled?: boolean;
  /** Why the job is not as it was to be. */
  error?: JobProblem;
  /** Name of the job. */
  job: string;
  /** Id of the request that a trigger has made. */
  request?: string;
}
export interface JobProblem {
  /** As that of a problem. */
  code: string;
  /** What is wrong, for people. */
  detail: string;
  /** Status that it would be if it were the only job. */
  status: number;
}
export interface JobServer {
  /** Whether it may have items of the job. */
  enabled: boolean;
  /** Ids of its instances of the job, ascending. Left out if it has none. */
  instances?: (string)[];
  /** Name of the job. */
  job: string;
  /** Address of the server. */
  server: string;
  /** Whether nobody knows what of the job runs there: monitorExecution is off. Only the list of the jobs on a server tells it. */
  unrecorded?: boolean;
}
export interface JobView {
  /** Whether the leader is asked to reshard the job. */
  asked?: boolean;
  /** Whether a JVM leader assigns them at this moment. */
  dealing?: boolean;
  /** Paths of nodes that strangers have left in the way: the first 100. Left out if there are none. */
  debris?: (string)[];
  /** The configuration as it stands in the registry: YAML, or JSON of elastic-job 2.1.x. Secrets in it are ***. */
  document: string;
  /** In a stream: why this may be incomplete or old. */
  doubt?: string;
  /** In a stream: since when this may be old. Left out if it is only incomplete. */
  doubtSince?: string;
  /** Faults of all its instances, the oldest first: the first 1,000. Left out if there are none. */
  faults?: (FaultInfo)[];
  /** Why the history does not tell when what runs has begun. */
  historyError?: string;
  /** What the list of jobs shows of it. */
  info: JobInfo;
  /** Its instances, by id: the first 1,000. */
  instances: (InstanceInfo)[];
  /** Its items, by number: the first 1,000. */
  items: (ItemInfo)[];
  /** What the lists leave out, which have 1,000 rows each: routes of their own have all. */
  more?: MoreParts;
  /** Its triggers, retries and backfills, the oldest first: the first 1,000. Left out if there are none. */
  requests?: (RequestState)[];
  /** Servers that it knows, by address: the first 1,000. */
  servers: (JobServer)[];
  /** Since when its schedule is in force. Left out if the leader has not recorded that. */
  since?: string;
  /** The next five ticks, also during a pause. Fewer, or left out, if no more come. */
  ticks?: (string)[];
  /** Ids of instances that are asked to run in ElasticJob's way, ascending. Left out if there are none. */
  triggers?: (string)[];
}
export interface JobsPage {
  /** When this was so, as far as the console knew: what was changed a moment before may be missing. With the header Cache-Control: no-cache the store is read. */
  asOf: string;
  /** Cursor of the next page: parameter after. Empty if this is the last one. */
  next?: string;
  /** Those of this page, in the order that was asked for. */
  rows: (JobInfo)[];
  /** Those of all jobs that are wanted and that you may see, on whichever page. */
  totals: Totals;
}
export interface KillBody {
  /** Have the items run again for the same tick, by whoever takes them over. */
  failover?: boolean;
  /** Items whose executions end. Default: all. */
  items?: (number)[];
  /** Scheduled time of the executions. Items that have not begun it do not begin it any more. */
  tick?: string;
  /** Fencing token of the executions. */
  token?: number;
}
export interface Killed {
  /** Entries of the audit that it has made. None if all was as it should be already. */
  changes: (Change)[];
  /** Whether nothing was changed: changes are what would be. */
  dryRun?: boolean;
  /** Items to which a kill was sent. */
  killed: (KilledRun)[];
}
export interface KilledRun {
  /** Who runs it. Empty if it waited to be taken over, or had not begun. */
  instance?: string;
  /** Number of the item. */
  item: number;
  /** Tick for which it runs, or would have run. */
  tick?: string;
  /** Fencing token of the execution. */
  token?: number;
}
export interface LaneInfo {
  /** A letter for each cell: o: executions have begun; f: some of them have failed; m: ticks were missed; x: both of that; a point: nothing. */
  cells: string;
  /** How many executions have begun. */
  executions: number;
  /** How many of them have failed. */
  failed: number;
  /** Name of the job. */
  job: string;
  /** How many ticks were missed; those of each item count by themselves. */
  missed: number;
}
export interface LanesInfo {
  /** When the first cell begins. */
  from: string;
  /** Those that you may see and of which something is known, by name. */
  jobs: (LaneInfo)[];
  /** Whether there are more jobs. */
  more: boolean;
  /** How many seconds a cell has: 900 if so many executions have begun that they are not read one by one. Then what runs, and what JVMs have written, is not among them. */
  step: number;
}
export interface LastRun {
  /** When its handler was called, by the clock of its instance. Left out by members of earlier versions. */
  begun?: string;
  /** When it has ended, by the clock of its instance. */
  ended?: string;
  /** Beginning of its error. */
  error?: string;
  /** Number of the item. */
  item: number;
  /** Id of the execution that it repeats. */
  original?: string;
  /** How it has ended: OK, FAILED, PANIC, TIMEOUT, CUT or KILLED, or a word of a later version. */
  outcome: string;
  /** Id of the request for which it ran. */
  request?: string;
  /** Why it ran: NORMAL_TRIGGER, MISFIRE, FAILOVER, MANUAL, RETRY or BACKFILL, or a word of a later version. */
  source?: string;
  /** Id of the execution in the history and in logs. */
  taskId?: string;
  /** Tick for which it ran. */
  tick?: string;
  /** Its fencing token: that of a later execution is larger. */
  token?: number;
}
export interface LineInfo {
  /** DEBUG, INFO, WARN or ERROR, or one in between such as INFO+1. */
  level: string;
  /** Parameter after, for the lines that follow. */
  number: number;
  /** The line with its attributes: 4,000 bytes at most. */
  text: string;
  /** When it was written, by the clock of its instance. */
  time: string;
}
export interface ListCountInfo {
  /** All of them, in the order that the operation says. */
  rows: (CountInfo)[];
}
export interface ListDatabaseConnection {
  /** All of them, in the order that the operation says. */
  rows: (DatabaseConnection)[];
}
export interface ListExecutionInfo {
  /** All of them, in the order that the operation says. */
  rows: (ExecutionInfo)[];
}
export interface ListJobServer {
  /** All of them, in the order that the operation says. */
  rows: (JobServer)[];
}
export interface ListLineInfo {
  /** All of them, in the order that the operation says. */
  rows: (LineInfo)[];
}
export interface ListMissedInfo {
  /** All of them, in the order that the operation says. */
  rows: (MissedInfo)[];
}
export interface ListNamespaceConnection {
  /** All of them, in the order that the operation says. */
  rows: (NamespaceConnection)[];
}
export interface ListNamespaceInfo {
  /** All of them, in the order that the operation says. */
  rows: (NamespaceInfo)[];
}
export interface ListSessionInfo {
  /** All of them, in the order that the operation says. */
  rows: (SessionInfo)[];
}
export interface ListString {
  /** All of them, in the order that the operation says. */
  rows: (string)[];
}
export interface ListTokenInfo {
  /** All of them, in the order that the operation says. */
  rows: (TokenInfo)[];
}
export interface ListUserInfo {
  /** All of them, in the order that the operation says. */
  rows: (UserInfo)[];
}
export interface LogIn {
  /** When it ends at the latest. */
  expires: string;
  /** Name of the user. */
  name: string;
  /** Key of the session. It is no secret. */
  session: string;
}
export interface LogInBody {
  /** Name of the user. */
  name: string;
  /** His password. */
  password: string;
}
export interface LogOut {
  /** Where the log-in at the provider ends. It sends the browser back to the console then. Missing for who has logged in otherwise, if the console's settings have no logoutURL, and if the provider offers no log-out, or is away. */
  providerURL?: string;
}
export interface MadeToken {
  /** What the list of tokens shows of it. */
  info: TokenInfo;
  /** For header Authorization: Bearer. It cannot be seen again. */
  token: string;
}
export interface Me {
  /** Where the request came from. */
  address?: string;
  /** What you may do. */
  grants: (GrantInfo)[];
  /** Whether you can change your password here. */
  hasPassword: boolean;
  /** As the audit has it. */
  name: string;
  /** That you may see nothing, for no grants were given to you, and who can give them; for people. Missing if you have some. */
  noGrants?: string;
  /** Key of the session. */
  session?: string;
  /** Name of the API token that was sent. */
  token?: string;
  /** Name in the users file; missing for who is known elsewhere alone. */
  user?: string;
  /** What narrows the grants: those of the token. */
  within?: (GrantInfo)[];
}
export interface MemberFacts {
  /** Address of the server. */
  address: string;
  /** How much of that has data, in bytes. Left out if it is unknown. */
  inUse?: number;
  /** Whether it leads the others, or is alone. */
  leads?: boolean;
  /** The next version without defects that are known to do harm. Left out if this one has none. */
  mended?: string;
  /** How large the database may become, in bytes. Left out if it is unknown. */
  quota?: number;
  /** Whether it could not be reached, or did not answer in time. */
  silent?: boolean;
  /** How large its database is, in bytes. Left out if it is unknown. */
  size?: number;
  /** Whether this program does not work with that version. */
  unsupported?: boolean;
  /** Its version. Left out if it is unknown. */
  version?: string;
  /** Why it has told nothing, or that it is not well. Left out if all is well. */
  why?: string;
}
export interface MissedInfo {
  /** Ticks for which an execution has made up: one for all that an item had missed. */
  madeUp: number;
  /** Ticks that nobody runs, by the reason: item disabled, servers disabled, too late, while running, begun with another item, schedule changed, or a word of a later version. */
  skipped: Record<string, number>;
  /** When the hour or day begins. */
  start: string;
}
export interface MoreParts {
  /** How many faults are left out. */
  faults?: number;
  /** How many instances are left out. */
  instances?: number;
  /** How many items are left out. */
  items?: number;
  /** How many requests are left out. */
  requests?: number;
  /** How many servers are left out. */
  servers?: number;
}
export interface NamespaceConnection {
  /** Name of the database with the history of its jobs. */
  database?: string;
  /** Members of the store. */
  endpoints?: (string)[];
  /** Why it is away. */
  error?: string;
  /** It is of the console's start, and cannot be changed here. */
  fixed?: boolean;
  /** ZooKeeper: what others may do with what the console makes there. */
  grants?: string;
  /** Kind of the store. */
  kind?: string;
  /** Name that the console has for it. */
  name: string;
  /** Namespace within the store. */
  namespace?: string;
  /** ***, or a reference. */
  password?: string;
  /** How it stands: idle (nobody has asked for it), connecting, connected or away. */
  phase: string;
  /** Since when it is in this phase. */
  since: string;
  /** Without it connections are not encrypted. */
  tls?: TLSBody;
  /** Name by which the console logs in. */
  user?: string;
}
export interface NamespaceConnectionBody {
  /** Name of the database with the history of its jobs. */
  database?: string;
  /** host:port of the members of the store. */
  endpoints: (string)[];
  /** ZooKeeper: what others may do with what the console makes there. */
  grants?: string;
  /** Kind of the store. */
  kind: "etcd" | "zookeeper";
  /** Namespace within the store. */
  namespace: string;
  /** A password, or a reference ${env:NAME} or ${file:/path} that the console's options allow. Answers never have it: they have ***, which in a request keeps the one there is, unless kind, endpoints, user or TLS change. */
  password?: string;
  /** Without it connections are not encrypted. */
  tls?: TLSBody;
  /** User and password are both there, or none. */
  user?: string;
}
export interface NamespaceInfo {
  /** Whether you may see all of its jobs. */
  allJobs: boolean;
  /** Name of the database with the history of its jobs. */
  database?: string;
  /** Name that the console has for it, for paths and grants. */
  name: string;
}
export interface NewToken {
  /** How long it counts, in days. */
  days?: number;
  /** They narrow those of the user, at each request. None leaves them as they are. */
  grants?: (GrantInfo)[];
  /** Name of the token: letters, digits, and any of . _ @ + - are allowed. */
  name: string;
  /** It counts until it is revoked. */
  neverExpires?: boolean;
}
export interface NewUser {
  /** What he may do: nothing that you may not yourself. */
  grants: (GrantInfo)[];
  /** Name of the user: letters, digits, and any of . _ @ + - are allowed. */
  name: string;
  /** 12 to 256 bytes. Without one he cannot log in by a password. */
  password?: string;
}
export type Nothing = Record<string, unknown>;
export interface PageAuditEntry {
  /** Cursor of the next page: parameter after. Empty if this is the last one. */
  next?: string;
  /** Those of this page, in the order that the operation says. */
  rows: (AuditEntry)[];
}
export interface PageCalendarInfo {
  /** Cursor of the next page: parameter after. Empty if this is the last one. */
  next?: string;
  /** Those of this page, in the order that the operation says. */
  rows: (CalendarInfo)[];
}
export interface PageEventInfo {
  /** Cursor of the next page: parameter after. Empty if this is the last one. */
  next?: string;
  /** Those of this page, in the order that the operation says. */
  rows: (EventInfo)[];
}
export interface PageExecutionInfo {
  /** Cursor of the next page: parameter after. Empty if this is the last one. */
  next?: string;
  /** Those of this page, in the order that the operation says. */
  rows: (ExecutionInfo)[];
}
export interface PageInstanceInfo {
  /** Cursor of the next page: parameter after. Empty if this is the last one. */
  next?: string;
  /** Those of this page, in the order that the operation says. */
  rows: (InstanceInfo)[];
}
export interface PageItemInfo {
  /** Cursor of the next page: parameter after. Empty if this is the last one. */
  next?: string;
  /** Those of this page, in the order that the operation says. */
  rows: (ItemInfo)[];
}
export interface PageJobServer {
  /** Cursor of the next page: parameter after. Empty if this is the last one. */
  next?: string;
  /** Those of this page, in the order that the operation says. */
  rows: (JobServer)[];
}
export interface PageProcessInfo {
  /** Cursor of the next page: parameter after. Empty if this is the last one. */
  next?: string;
  /** Those of this page, in the order that the operation says. */
  rows: (ProcessInfo)[];
}
export interface PageRemovedJob {
  /** Cursor of the next page: parameter after. Empty if this is the last one. */
  next?: string;
  /** Those of this page, in the order that the operation says. */
  rows: (RemovedJob)[];
}
export interface PageRequestState {
  /** Cursor of the next page: parameter after. Empty if this is the last one. */
  next?: string;
  /** Those of this page, in the order that the operation says. */
  rows: (RequestState)[];
}
export interface PageServerInfo {
  /** Cursor of the next page: parameter after. Empty if this is the last one. */
  next?: string;
  /** Those of this page, in the order that the operation says. */
  rows: (ServerInfo)[];
}
export interface PageStatusInfo {
  /** Cursor of the next page: parameter after. Empty if this is the last one. */
  next?: string;
  /** Those of this page, in the order that the operation says. */
  rows: (StatusInfo)[];
}
export interface PasswordChange {
  /** 12 to 256 bytes. */
  new: string;
  /** The password until now. */
  old: string;
}
export interface PauseBody {
  /** Disable servers with JVM members until the pause ends, because they know no pause. */
  disableJVM?: boolean;
  /** Run each item once when the pause ends, if ticks came meanwhile. Default: they are skipped. */
  makeUp?: boolean;
  /** Why, for people. */
  why?: string;
}
export interface PauseInfo {
  /** Who has paused it. */
  by?: string;
  /** Whether each item runs once when the pause ends, if ticks came meanwhile. */
  makeUp?: boolean;
  /** Since when the job is paused. */
  since: string;
  /** Why, as he has said. */
  why?: string;
}
export interface Paused {
  /** Entries of the audit that it has made. None if all was as it should be already. */
  changes: (Change)[];
  /** Servers that were disabled. */
  disabled?: (string)[];
  /** Whether nothing was changed: changes are what would be. */
  dryRun?: boolean;
  /** JVM members that go on running ticks. */
  jvm?: (string)[];
  /** Go members that are too old to know a pause, and go on. */
  old?: (string)[];
  /** Since when the job is paused. */
  since: string;
}
export interface PinBody {
  /** Instances at this address. */
  address?: string;
  /** Id of an instance. */
  instance?: string;
  /** Instances with this label. */
  label?: string;
  /** Whether the item has no owner while no such instance is there. Default: it is assigned like any other then. */
  strict?: boolean;
}
export interface PinInfo {
  /** Address of the instances that it belongs to. */
  address?: string;
  /** Who has pinned it. */
  by?: string;
  /** Why the pin cannot be read. Then it has no effect. */
  error?: string;
  /** Whether there is such an instance. */
  holds: boolean;
  /** Id of the instance that it belongs to. */
  instance?: string;
  /** Label of the instances that it belongs to. */
  label?: string;
  /** Whether nobody has it while no such instance is there. */
  strict?: boolean;
}
export interface Place {
  /** Id of the instance. */
  instance?: string;
  /** Path of the node, within the namespace. */
  path?: string;
}
export interface Plan {
  /** The document as it would be written, with *** for secrets. */
  after: string;
  /** The document as it stands in the registry, with *** for secrets. */
  before?: string;
  /** Fields that would have other values. None for a job that is new, or whose configuration cannot be read. */
  changes: (Difference)[];
  /** Name of the job. */
  job: string;
  /** Whether there is no such job, so it would be created. */
  new?: boolean;
  /** The next ticks as it would be. Left out if there are none. */
  ticksAfter?: (string)[];
  /** The next ticks as it is now. Left out if there are none. */
  ticksBefore?: (string)[];
  /** Version of the configuration that was compared. Left out if there is none. */
  version?: number;
  /** What the change does beside, or does not, in a sentence each. Left out if there are none. */
  warnings?: (string)[];
}
export interface PlanRequest {
  /** The configuration by ElasticJob's keys; or give the document. */
  config?: Configuration;
  /** The configuration as text: YAML or JSON, by ElasticJob's keys. */
  document?: string;
  /** How many ticks are told. Default 5. */
  ticks?: number;
  /** Version that the configuration has to have. Default: any, or none. */
  version?: number;
}
export interface Problem {
  /** What has changed all the same: entries of the audit. */
  changes?: (Change)[];
  /** Kind of the problem, for programs. It does not change between versions. */
  code: string;
  /** What is wrong, for people. */
  detail: string;
  /** What is wrong with which part of the request: the first ones. */
  errors?: (FieldError)[];
  /** Status of the answer. */
  status: number;
  /** What the status means. */
  title: string;
  /** Kind of the problem, as a URI: it ends with the code. */
  type: string;
}
export interface ProcessInfo {
  /** Properties of the types that describe theirs. Left out if none does. */
  described?: (PropertyInfo)[];
  /** Why nothing of this can be read, but the id. */
  error?: string;
  /** Id of the process. */
  id: string;
  /** How many items it has, of all jobs. */
  items: number;
  /** Its labels. Left out if it has none. */
  labels?: (string)[];
  /** How many more of them there are. */
  moreDescribed?: number;
  /** How many more of them there are. */
  moreLabels?: number;
  /** How many more of them there are. */
  moreOffers?: number;
  /** Types and implementations whose jobs it serves, if it is a Runner. Left out if it is none. */
  offers?: (string)[];
  /** Address of its host. */
  server?: string;
}
export interface PropertyInfo {
  /** Values that are allowed, for people. */
  allowed?: string;
  /** What counts if it is left out or empty. */
  default?: string;
  /** What it is for, for people. */
  meaning?: string;
  /** Name of the property. One that ends with .* stands for all that begin so. */
  name: string;
  /** Whether it must be there, and not empty. */
  required?: boolean;
  /** Whether a reference to what the process has is wanted: ${env:NAME}. */
  secret?: boolean;
  /** Name by which the process offers the type. */
  type: string;
}
export interface Readmit {
  /** Also if it was moved to another namespace, and does not run there any more. */
  moved?: boolean;
}
export interface RemovedJob {
  /** When it was removed. */
  at?: string;
  /** Who has removed it. */
  by?: string;
  /** Why nothing of this can be told. */
  error?: string;
  /** Whether it was removed because it had no tick left. */
  expired?: boolean;
  /** Id of the migration with which it is on its way. */
  migration?: string;
  /** Name of the job. */
  name: string;
  /** That of its configuration. A program with a higher one sets the job up again. */
  revision?: number;
  /** Why, as he has said. */
  why?: string;
}
export interface Report {
  /** When the examination was begun. */
  at: string;
  /** What was found: the worst first, then by job, kind, instance and path. */
  findings: (Finding)[];
  /** How many jobs were examined; 0 for those who may see only some. */
  jobs: number;
  /** How often the registry was read: 1, or 2 if something looked wrong. */
  looks: number;
  /** How many more findings there are. */
  more?: number;
  /** Why the history has not told all, to those who may see all jobs. Left out if it has, or if there is none. */
  noHistory?: string;
  /** What the store tells of itself, to those who may see all jobs. Left out if it tells nothing. */
  store?: StoreFacts;
}
export interface RequestDetail {
  /** When it was asked. */
  at: string;
  /** Who has asked. */
  by?: string;
  /** When all items were through, or when it was cancelled. Left out before that. */
  ended?: string;
  /** Those of the items of which a run has failed, ascending. Left out if there are none. */
  failed?: (number)[];
  /** Id of the request. */
  id: string;
  /** Items that it is for, ascending. */
  items: (number)[];
  /** How the items have ended, when all are through. */
  results?: (ItemResult)[];
  /** Those of them that run for it now, ascending. Left out if there are none. */
  running?: (number)[];
  /** What it is: MANUAL (a trigger), RETRY or BACKFILL. */
  source: string;
  /** Those of them that are through, ascending. Left out if there are none. */
  through?: (number)[];
  /** Those of them that wait: to begin, for their next tick, or to be run again; ascending. Left out if there are none. */
  waiting?: (number)[];
  /** What the first item waits for that waits. */
  why?: string;
}
export interface RequestState {
  /** When it was asked. */
  at: string;
  /** Who has asked. */
  by?: string;
  /** When all items were through, or when it was cancelled. Left out before that. */
  ended?: string;
  /** Those of the items of which a run has failed, ascending. Left out if there are none. */
  failed?: (number)[];
  /** Id of the request. */
  id: string;
  /** Items that it is for, ascending. */
  items: (number)[];
  /** Those of them that run for it now, ascending. Left out if there are none. */
  running?: (number)[];
  /** What it is: MANUAL (a trigger), RETRY or BACKFILL. */
  source: string;
  /** Those of them that are through, ascending. Left out if there are none. */
  through?: (number)[];
  /** Those of them that wait: to begin, for their next tick, or to be run again; ascending. Left out if there are none. */
  waiting?: (number)[];
  /** What the first item waits for that waits. */
  why?: string;
}
export interface Requested {
  /** Items that they run although they were not asked for. */
  beside?: (number)[];
  /** Entries of the audit that it has made. None if all was as it should be already. */
  changes: (Change)[];
  /** Whether nothing was changed: changes are what would be. */
  dryRun?: boolean;
  /** Id of the request. In a dry run nobody has it. */
  id: string;
  /** Instances that own the items now. */
  instances?: (string)[];
  /** Items that run, ascending. */
  items: (number)[];
  /** JVM members among them. Each runs all of its items, without the parameter. */
  jvm?: (string)[];
  /** What each of them runs for, one after the other; none: for the time at which it begins. */
  ticks?: (string)[];
  /** Whether the request was made before, with the same key. */
  wasThere?: boolean;
}
export interface ResumeBody {
  /** Whether each item runs once for those that it has missed. Default: as the pause says. */
  makeUp?: boolean;
}
export interface RetriedFailures {
  /** What runs again. */
  begun: (FailedPart)[];
  /** Entries of the audit that it has made. None if all was as it should be already. */
  changes: (Change)[];
  /** Whether nothing was changed: changes are what would be. */
  dryRun?: boolean;
  /** What does not run again, with the reason. */
  left: (FailedPart)[];
  /** Whether there may be more failures than were looked at. */
  more?: boolean;
}
export interface RetryBody {
  /** Items to run again if they have failed; also if they were cut short or killed. Default: all that have failed. */
  items?: (number)[];
  /** Replaces the parameter of the job in these executions. */
  parameter?: string;
  /** Scheduled time of the executions that have failed. Default: the latest one for which an item has failed. */
  tick?: string;
}
export interface RetryFailuresBody {
  /** Executions that begin at this time or later. */
  from: string;
  /** Jobs, or some of their failures. Default: all. */
  jobs?: (FailedChoice)[];
  /** Also for ticks that the item has gone on from since: by backfills, one for each tick. */
  older?: boolean;
  /** Before this time. Default: the end. */
  to?: string;
}
export interface Root {
  /** Paths, by name; {namespace} and {job} stand for names. */
  links: Record<string, string>;
  /** Version of the program. */
  version: string;
}
export interface Run {
  /** When its handler was called. Left out if it is not known. */
  begun?: string;
  /** When it has ended. Left out while it runs. */
  ended?: string;
  /** Id of the execution. */
  id: string;
  /** Id of the instance that has run it. Left out if it is not known. */
  instance?: string;
  /** Number of the item. */
  item: number;
  /** How it has ended, as that of an execution. */
  outcome: string;
  /** Why it ran, as that of an execution. */
  source?: string;
}
export interface RunInfo {
  /** When its handler was called, by the clock of its instance. Only a history tells, and no stream. */
  begun?: string;
  /** Id of the instance that runs it; may be empty. */
  instance: string;
  /** Whether its instance is gone, and it is about to be recovered. */
  lost?: boolean;
  /** Id of the request for which it runs. */
  request?: string;
  /** Id of the execution in the history and in logs. */
  taskId?: string;
  /** Tick for which it runs; of a trigger, when it was claimed. A JVM member does not tell. */
  tick?: string;
  /** Its fencing token, for kill. */
  token?: number;
}
export interface ServerChanged {
  /** Whether nothing was changed: changes are what would be. */
  dryRun?: boolean;
  /** How many jobs are not as they were to be. */
  failed: number;
  /** By job. */
  outcomes: (JobOutcome)[];
  /** Why jobs are left out that were not tried. */
  untried?: string;
}
export interface ServerInfo {
  /** In how many of them an operator has disabled it. */
  disabledJobs?: number;
  /** How many instances it has. One process counts once for all its jobs, if it is of a JVM. */
  instances: number;
  /** How many items its instances have. */
  items: number;
  /** How many jobs know it. */
  jobs: number;
  /** How many of them run. */
  running: number;
  /** Its address. */
  server: string;
}
export interface ServersBody {
  /** All that the job has. */
  all?: boolean;
  /** Addresses. */
  servers?: (string)[];
}
export interface SessionInfo {
  /** Where he logged in. */
  address?: string;
  /** When it has begun. */
  begun: string;
  /** When it ends at the latest. */
  expires: string;
  /** It is no secret. */
  key: string;
  /** Whether the request came by it. */
  mine: boolean;
  /** When it was last used. */
  used: string;
  /** Name of the user. */
  user: string;
}
export interface SetPasswordBody {
  /** 12 to 256 bytes. */
  new: string;
}
export interface SettingsBody {
  /** The configuration by ElasticJob's keys; or give the document. */
  config?: Configuration;
  /** Instead of config: the same as text, YAML or JSON, as the registry has it. */
  document?: string;
  /** Of a new job: what runs it, such as a class, or SCRIPT. Default: the name of the job. Implement changes it later. */
  implementation?: string;
}
export interface SettingsChanged {
  /** Entries of the audit that it has made. None if all was as it should be already. */
  changes: (Change)[];
  /** Whether the job was created. */
  created?: boolean;
  /** Whether nothing was changed: changes are what would be. */
  dryRun?: boolean;
}
export interface SettingsInfo {
  /** The configuration with its defaults, by ElasticJob's keys. It is left out if it cannot be read. */
  config?: Configuration;
  /** The configuration as it stands in the registry: YAML, or JSON of elastic-job 2.1.x. */
  document: string;
  /** Why the configuration cannot be read. */
  error?: string;
  /** What is wrong with which field. */
  errors?: (FieldError)[];
  /** What runs the job: a class, or a type such as SCRIPT. */
  implementation?: string;
  /** Name of the job. */
  job: string;
  /** Version of the configuration; the ETag has it, too. */
  version: number;
}
export interface ShutDown {
  /** Entries of the audit that it has made. None if all was as it should be already. */
  changes: (Change)[];
  /** Whether nothing was changed: changes are what would be. */
  dryRun?: boolean;
  /** Ids of the instances that were told to leave. */
  instances: (string)[];
}
export interface ShutdownBody {
  /** All instances of the job. */
  all?: boolean;
  /** Ids. */
  instances?: (string)[];
  /** Addresses, whose instances leave. */
  servers?: (string)[];
  /** Why, for people. */
  why?: string;
}
export interface StatusInfo {
  /** Address of the host. */
  address?: string;
  /** Which attempt it was, from 1. A JVM does not tell. */
  attempt?: number;
  /** Id of the change. */
  id: string;
  /** Id of the instance. A JVM does not tell. */
  instance?: string;
  /** Items of the execution, as text. */
  items: string;
  /** Name of the job. */
  job: string;
  /** What was told beside: the error of one that has failed, say. */
  message?: string;
  /** Task id of the execution that it repeats. */
  original?: string;
  /** Who has written it. */
  source?: string;
  /** State that it got: TASK_STAGING, TASK_DROPPED, TASK_RUNNING, TASK_FINISHED, TASK_ERROR, TASK_FAILED, TASK_LOST or TASK_KILLED. */
  state: string;
  /** Task id of the execution. */
  taskId: string;
  /** When it was so. */
  time?: string;
  /** READY or FAILOVER. */
  type: string;
}
export interface StoreFacts {
  /** Alarms of the store, in its own words. Left out if there are none. */
  alarms?: (string)[];
  /** Whether it drops old states of its nodes: yes, no or unknown. */
  compacts: string;
  /** Names of jobs that ElasticJob's own registry for etcd keeps in the store, some of them if there are many. */
  elasticJob?: (string)[];
  /** Its servers. */
  members: (MemberFacts)[];
  /** Which store it is: etcd or ZooKeeper. */
  product: string;
  /** Whether the console may read the namespace: yes, no or unknown. */
  reads: string;
  /** Whether the console may write in the namespace: yes, no or unknown. */
  writes: string;
}
export interface TLSBody {
  /** Path of a file with the authorities that are trusted, in a folder that the console's options allow. Default those of the system. */
  cacert?: string;
  /** Path of a file with a client's certificate. */
  cert?: string;
  /** Path of the file with its private key. */
  key?: string;
  /** Name in the servers' certificates. Default the host. */
  serverName?: string;
}
export interface TicksInfo {
  /** Why they cannot be told. */
  error?: string;
  /** Also during a pause. None for a one-off job, or if no more come. */
  rows: (string)[];
}
export interface TokenInfo {
  /** When it was made. Left out if that is not known. */
  created?: string;
  /** Whether it counts no longer. */
  expired: boolean;
  /** Missing if it never does. */
  expires?: string;
  /** They narrow those of the user. None leaves them as they are. */
  grants: (GrantInfo)[];
  /** Name of the token. */
  name: string;
  /** When it was last used, to the minute. */
  used?: string;
  /** Name of the user whose token it is. */
  user: string;
}
export interface Totals {
  /** How many have begun late the execution that has ended last. */
  begunLate: number;
  /** How many have the status CRASHED. */
  crashed: number;
  /** How many have the status DISABLED. */
  disabled: number;
  /** How many have items that had no success with their last execution. */
  failing: number;
  /** How many have faults, or a configuration that cannot be read. */
  faulty: number;
  /** How many instances they have, together. One process counts in each of its jobs. */
  instances: number;
  /** How many items they are to have, together. */
  items: number;
  /** How many jobs. */
  jobs: number;
  /** How many have the status NEVER_STARTED. */
  neverStarted: number;
  /** How many are healthy. */
  ok: number;
  /** How many are paused. */
  paused: number;
  /** How many of their items run. */
  running: number;
  /** How many have the status SHARDING_FLAG. */
  shardingFlag: number;
  /** How many have the status STOPPED. */
  stopped: number;
}
export interface TriggerBody {
  /** Ids of instances whose items run. Default: all. */
  instances?: (string)[];
  /** Items to run. Default: all. */
  items?: (number)[];
  /** Replaces the parameter of the job in these executions. */
  parameter?: string;
}
export interface UserInfo {
  /** When he was added. Left out if that is not known. */
  created?: string;
  /** Whether he cannot log in. */
  disabled: boolean;
  /** What he may do. */
  grants: (GrantInfo)[];
  /** Whether he can log in by a password. */
  hasPassword: boolean;
  /** Name of the user. */
  name: string;
  /** How many go on. */
  sessions: number;
  /** His API tokens. */
  tokens: (TokenInfo)[];
}
export interface UserRights {
  /** Disabling him ends his sessions. */
  disabled: boolean;
  /** What he may do: nothing that you may not yourself. */
  grants: (GrantInfo)[];
}
export interface Operations {
  "GET ": { in: {  }, body: undefined, out: Root };
  "GET /connections/databases": { in: {  }, body: undefined, out: ListDatabaseConnection };
  "DELETE /connections/databases/{connection}": { in: { "connection": string; "If-Match"?: string }, body: undefined, out: undefined };
  "GET /connections/databases/{connection}": { in: { "connection": string }, body: undefined, out: DatabaseConnection };
  "PUT /connections/databases/{connection}": { in: { "connection": string; "If-Match"?: string; "If-None-Match"?: "*" }, body: DatabaseConnectionBody, out: DatabaseConnection };
  "POST /connections/databases/{connection}/test": { in: { "connection": string }, body: DatabaseConnectionBody, out: ConnectionTest };
  "GET /connections/namespaces": { in: {  }, body: undefined, out: ListNamespaceConnection };
  "DELETE /connections/namespaces/{connection}": { in: { "connection": string; "If-Match"?: string }, body: undefined, out: undefined };
  "GET /connections/namespaces/{connection}": { in: { "connection": string }, body: undefined, out: NamespaceConnection };
  "PUT /connections/namespaces/{connection}": { in: { "connection": string; "If-Match"?: string; "If-None-Match"?: "*" }, body: NamespaceConnectionBody, out: NamespaceConnection };
  "POST /connections/namespaces/{connection}/test": { in: { "connection": string }, body: NamespaceConnectionBody, out: ConnectionTest };
  "GET /cron": { in: { "expression": string; "timeZone"?: string; "language"?: "en" | "zh"; "count"?: number }, body: undefined, out: CronInfo };
  "POST /login": { in: {  }, body: LogInBody, out: LogIn };
  "POST /logout": { in: {  }, body: undefined, out: LogOut };
  "GET /me": { in: {  }, body: undefined, out: Me };
  "PUT /me/password": { in: {  }, body: PasswordChange, out: undefined };
  "GET /me/sessions": { in: {  }, body: undefined, out: ListSessionInfo };
  "DELETE /me/sessions/{session}": { in: { "session": string }, body: undefined, out: undefined };
  "GET /me/tokens": { in: {  }, body: undefined, out: ListTokenInfo };
  "POST /me/tokens": { in: {  }, body: NewToken, out: MadeToken };
  "DELETE /me/tokens/{token}": { in: { "token": string }, body: undefined, out: undefined };
  "GET /namespaces": { in: {  }, body: undefined, out: ListNamespaceInfo };
  "GET /namespaces/{namespace}/audit": { in: { "namespace": string; "after"?: string; "limit"?: number; "job"?: string; "by"?: string; "action"?: string; "from"?: string; "to"?: string }, body: undefined, out: PageAuditEntry };
  "GET /namespaces/{namespace}/calendars": { in: { "namespace": string; "after"?: string; "limit"?: number }, body: undefined, out: PageCalendarInfo };
  "DELETE /namespaces/{namespace}/calendars/{calendar}": { in: { "namespace": string; "calendar": string; "dryRun"?: boolean; "If-Match"?: string; "force"?: boolean }, body: undefined, out: Changed };
  "GET /namespaces/{namespace}/calendars/{calendar}": { in: { "namespace": string; "calendar": string }, body: undefined, out: CalendarDetail };
  "PUT /namespaces/{namespace}/calendars/{calendar}": { in: { "namespace": string; "calendar": string; "dryRun"?: boolean; "If-Match"?: string; "If-None-Match"?: "*" }, body: CalendarBody, out: CalendarChanged };
  "GET /namespaces/{namespace}/calendars/{calendar}/plan": { in: { "namespace": string; "calendar": string; "from"?: string; "days"?: number }, body: undefined, out: CalendarPlan };
  "POST /namespaces/{namespace}/calendars:plan": { in: { "namespace": string; "from"?: string; "days"?: number }, body: CalendarBody, out: CalendarPlan };
  "GET /namespaces/{namespace}/failures": { in: { "namespace": string; "from": string; "to"?: string }, body: undefined, out: Failures };
  "POST /namespaces/{namespace}/failures/retry": { in: { "namespace": string; "dryRun"?: boolean }, body: RetryFailuresBody, out: RetriedFailures };
  "GET /namespaces/{namespace}/findings": { in: { "namespace": string; "severity"?: "info" | "warning" | "critical"; "job"?: string; "limit"?: number }, body: undefined, out: Report };
  "GET /namespaces/{namespace}/history/addresses": { in: { "namespace": string; "prefix"?: string; "limit"?: number }, body: undefined, out: ListString };
  "GET /namespaces/{namespace}/history/columns": { in: { "namespace": string; "job": string; "from": string; "to": string; "limit"?: number }, body: undefined, out: ColumnsInfo };
  "GET /namespaces/{namespace}/history/counts": { in: { "namespace": string; "from"?: string; "to"?: string; "job"?: string; "step"?: "hour" | "day"; "timeZone"?: string }, body: undefined, out: ListCountInfo };
  "GET /namespaces/{namespace}/history/durations": { in: { "namespace": string; "from"?: string; "to"?: string; "job"?: string }, body: undefined, out: DurationsInfo };
  "GET /namespaces/{namespace}/history/events": { in: { "namespace": string; "after"?: string; "limit"?: number; "from"?: string; "to"?: string; "job"?: string; "instance"?: string; "kinds"?: (string)[]; "by"?: string; "what"?: string }, body: undefined, out: PageEventInfo };
  "GET /namespaces/{namespace}/history/executions": { in: { "namespace": string; "after"?: string; "limit"?: number; "from"?: string; "to"?: string; "job"?: string; "items"?: (number)[]; "instance"?: string; "address"?: string; "source"?: "NORMAL_TRIGGER" | "MISFIRE" | "FAILOVER" | "MANUAL" | "RETRY" | "BACKFILL"; "outcomes"?: ("OK" | "FAILED" | "PANIC" | "TIMEOUT" | "CUT" | "KILLED" | "RUNNING" | "LOST")[]; "request"?: string }, body: undefined, out: PageExecutionInfo };
  "GET /namespaces/{namespace}/history/executions.csv": { in: { "namespace": string; "from"?: string; "to"?: string; "job"?: string; "items"?: (number)[]; "instance"?: string; "address"?: string; "source"?: "NORMAL_TRIGGER" | "MISFIRE" | "FAILOVER" | "MANUAL" | "RETRY" | "BACKFILL"; "outcomes"?: ("OK" | "FAILED" | "PANIC" | "TIMEOUT" | "CUT" | "KILLED" | "RUNNING" | "LOST")[]; "request"?: string; "limit"?: number }, body: undefined, out: string };
  "GET /namespaces/{namespace}/history/executions/{execution}": { in: { "namespace": string; "execution": string }, body: undefined, out: ExecutionInfo };
  "GET /namespaces/{namespace}/history/executions/{execution}/chain": { in: { "namespace": string; "execution": string }, body: undefined, out: ListExecutionInfo };
  "GET /namespaces/{namespace}/history/executions/{execution}/lines": { in: { "namespace": string; "execution": string; "after"?: number; "limit"?: number }, body: undefined, out: ListLineInfo };
  "GET /namespaces/{namespace}/history/jobs": { in: { "namespace": string; "prefix"?: string; "limit"?: number }, body: undefined, out: ListString };
  "GET /namespaces/{namespace}/history/lanes": { in: { "namespace": string; "from": string; "to": string }, body: undefined, out: LanesInfo };
  "GET /namespaces/{namespace}/history/missed": { in: { "namespace": string; "from"?: string; "to"?: string; "job"?: string; "step"?: "hour" | "day"; "timeZone"?: string }, body: undefined, out: ListMissedInfo };
  "GET /namespaces/{namespace}/history/statuses": { in: { "namespace": string; "after"?: string; "limit"?: number; "from"?: string; "to"?: string; "job"?: string; "taskId"?: string; "type"?: "READY" | "FAILOVER"; "state"?: string }, body: undefined, out: PageStatusInfo };
  "GET /namespaces/{namespace}/instances": { in: { "namespace": string; "after"?: string; "limit"?: number }, body: undefined, out: PageInstanceInfo };
  "GET /namespaces/{namespace}/jobs": { in: { "namespace": string; "after"?: string; "limit"?: number; "search"?: string; "server"?: string; "label"?: string; "implementation"?: string; "status"?: ("OK" | "CRASHED" | "STOPPED" | "NEVER_STARTED" | "DISABLED" | "SHARDING_FLAG")[]; "paused"?: boolean; "faulty"?: boolean; "failing"?: boolean; "sort"?: "name" | "status" | "next" | "ended" | "running" | "failing"; "Cache-Control"?: string }, body: undefined, out: JobsPage };
  "DELETE /namespaces/{namespace}/jobs/{job}": { in: { "namespace": string; "job": string; "dryRun"?: boolean; "If-Match"?: string; "why"?: string }, body: undefined, out: Changed };
  "GET /namespaces/{namespace}/jobs/{job}": { in: { "namespace": string; "job": string }, body: undefined, out: JobView };
  "POST /namespaces/{namespace}/jobs/{job}/backfill": { in: { "namespace": string; "job": string; "dryRun"?: boolean; "Idempotency-Key"?: string }, body: BackfillBody, out: Requested };
  "GET /namespaces/{namespace}/jobs/{job}/causes": { in: { "namespace": string; "job": string; "from": string; "to"?: string }, body: undefined, out: CausesInfo };
  "POST /namespaces/{namespace}/jobs/{job}/clear/failovers": { in: { "namespace": string; "job": string; "dryRun"?: boolean }, body: ClearFailoversBody, out: ClearedItems };
  "POST /namespaces/{namespace}/jobs/{job}/clear/misfires": { in: { "namespace": string; "job": string; "dryRun"?: boolean }, body: Nothing, out: Changed };
  "POST /namespaces/{namespace}/jobs/{job}/clear/servers": { in: { "namespace": string; "job": string; "dryRun"?: boolean }, body: ClearServersBody, out: ClearedServers };
  "POST /namespaces/{namespace}/jobs/{job}/clear/stale": { in: { "namespace": string; "job": string; "dryRun"?: boolean }, body: Nothing, out: ClearedNodes };
  "GET /namespaces/{namespace}/jobs/{job}/dump": { in: { "namespace": string; "job": string; "mask"?: boolean }, body: undefined, out: Dump };
  "POST /namespaces/{namespace}/jobs/{job}/implement": { in: { "namespace": string; "job": string; "dryRun"?: boolean; "If-Match"?: string }, body: ImplementBody, out: Changed };
  "GET /namespaces/{namespace}/jobs/{job}/info": { in: { "namespace": string; "job": string }, body: undefined, out: JobInfo };
  "GET /namespaces/{namespace}/jobs/{job}/instances": { in: { "namespace": string; "job": string; "after"?: string; "limit"?: number }, body: undefined, out: PageInstanceInfo };
  "GET /namespaces/{namespace}/jobs/{job}/items": { in: { "namespace": string; "job": string; "after"?: string; "limit"?: number }, body: undefined, out: PageItemInfo };
  "POST /namespaces/{namespace}/jobs/{job}/items/disable": { in: { "namespace": string; "job": string; "dryRun"?: boolean }, body: ItemsBody, out: Changed };
  "POST /namespaces/{namespace}/jobs/{job}/items/enable": { in: { "namespace": string; "job": string; "dryRun"?: boolean }, body: ItemsBody, out: Changed };
  "POST /namespaces/{namespace}/jobs/{job}/items/{item}/disable": { in: { "namespace": string; "job": string; "dryRun"?: boolean; "item": number }, body: undefined, out: Changed };
  "POST /namespaces/{namespace}/jobs/{job}/items/{item}/enable": { in: { "namespace": string; "job": string; "dryRun"?: boolean; "item": number }, body: undefined, out: Changed };
  "DELETE /namespaces/{namespace}/jobs/{job}/items/{item}/pin": { in: { "namespace": string; "job": string; "dryRun"?: boolean; "item": number }, body: undefined, out: Changed };
  "PUT /namespaces/{namespace}/jobs/{job}/items/{item}/pin": { in: { "namespace": string; "job": string; "dryRun"?: boolean; "item": number }, body: PinBody, out: Changed };
  "POST /namespaces/{namespace}/jobs/{job}/kill": { in: { "namespace": string; "job": string; "dryRun"?: boolean }, body: KillBody, out: Killed };
  "GET /namespaces/{namespace}/jobs/{job}/latest": { in: { "namespace": string; "job": string; "after"?: number; "limit"?: number }, body: undefined, out: ListExecutionInfo };
  "POST /namespaces/{namespace}/jobs/{job}/pause": { in: { "namespace": string; "job": string; "dryRun"?: boolean }, body: PauseBody, out: Paused };
  "POST /namespaces/{namespace}/jobs/{job}/plan": { in: { "namespace": string; "job": string }, body: PlanRequest, out: Plan };
  "POST /namespaces/{namespace}/jobs/{job}/readmit": { in: { "namespace": string; "job": string; "dryRun"?: boolean }, body: Readmit, out: Changed };
  "GET /namespaces/{namespace}/jobs/{job}/requests": { in: { "namespace": string; "job": string; "after"?: string; "limit"?: number }, body: undefined, out: PageRequestState };
  "GET /namespaces/{namespace}/jobs/{job}/requests/{request}": { in: { "namespace": string; "job": string; "request": string; "wait"?: number }, body: undefined, out: RequestDetail };
  "POST /namespaces/{namespace}/jobs/{job}/requests/{request}/cancel": { in: { "namespace": string; "job": string; "request": string; "dryRun"?: boolean }, body: undefined, out: Changed };
  "POST /namespaces/{namespace}/jobs/{job}/reshard": { in: { "namespace": string; "job": string; "dryRun"?: boolean }, body: Nothing, out: Changed };
  "POST /namespaces/{namespace}/jobs/{job}/resume": { in: { "namespace": string; "job": string; "dryRun"?: boolean }, body: ResumeBody, out: Changed };
  "POST /namespaces/{namespace}/jobs/{job}/retry": { in: { "namespace": string; "job": string; "dryRun"?: boolean; "Idempotency-Key"?: string }, body: RetryBody, out: Requested };
  "GET /namespaces/{namespace}/jobs/{job}/servers": { in: { "namespace": string; "job": string; "after"?: string; "limit"?: number }, body: undefined, out: PageJobServer };
  "POST /namespaces/{namespace}/jobs/{job}/servers/disable": { in: { "namespace": string; "job": string; "dryRun"?: boolean }, body: DisableServersBody, out: Changed };
  "POST /namespaces/{namespace}/jobs/{job}/servers/enable": { in: { "namespace": string; "job": string; "dryRun"?: boolean }, body: ServersBody, out: Changed };
  "POST /namespaces/{namespace}/jobs/{job}/servers/remove": { in: { "namespace": string; "job": string; "dryRun"?: boolean }, body: ServersBody, out: Changed };
  "GET /namespaces/{namespace}/jobs/{job}/settings": { in: { "namespace": string; "job": string }, body: undefined, out: SettingsInfo };
  "PATCH /namespaces/{namespace}/jobs/{job}/settings": { in: { "namespace": string; "job": string; "dryRun"?: boolean; "If-Match"?: string }, body: ConfigurationPatch, out: SettingsChanged };
  "PUT /namespaces/{namespace}/jobs/{job}/settings": { in: { "namespace": string; "job": string; "dryRun"?: boolean; "If-Match"?: string; "If-None-Match"?: "*" }, body: SettingsBody, out: SettingsChanged };
  "POST /namespaces/{namespace}/jobs/{job}/shutdown": { in: { "namespace": string; "job": string; "dryRun"?: boolean }, body: ShutdownBody, out: ShutDown };
  "GET /namespaces/{namespace}/jobs/{job}/ticks": { in: { "namespace": string; "job": string; "count"?: number }, body: undefined, out: TicksInfo };
  "POST /namespaces/{namespace}/jobs/{job}/trigger": { in: { "namespace": string; "job": string; "dryRun"?: boolean; "Idempotency-Key"?: string }, body: TriggerBody, out: Requested };
  "GET /namespaces/{namespace}/jobs/{job}/watch": { in: { "namespace": string; "job": string; "patches"?: boolean; "Last-Event-ID"?: string; "lastEventId"?: string }, body: undefined, out: (unknown)[] };
  "GET /namespaces/{namespace}/jobs/{job}/why": { in: { "namespace": string; "job": string; "at"?: string; "item"?: number }, body: undefined, out: Answer };
  "POST /namespaces/{namespace}/jobs:batch": { in: { "namespace": string; "dryRun"?: boolean; "Idempotency-Key"?: string }, body: BatchBody, out: BatchChanged };
  "GET /namespaces/{namespace}/processes": { in: { "namespace": string; "after"?: string; "limit"?: number }, body: undefined, out: PageProcessInfo };
  "GET /namespaces/{namespace}/removed": { in: { "namespace": string; "after"?: string; "limit"?: number }, body: undefined, out: PageRemovedJob };
  "GET /namespaces/{namespace}/servers": { in: { "namespace": string; "after"?: string; "limit"?: number }, body: undefined, out: PageServerInfo };
  "POST /namespaces/{namespace}/servers/{address}/disable": { in: { "namespace": string; "address": string; "dryRun"?: boolean; "why"?: string }, body: undefined, out: ServerChanged };
  "POST /namespaces/{namespace}/servers/{address}/enable": { in: { "namespace": string; "address": string; "dryRun"?: boolean; "why"?: string }, body: undefined, out: ServerChanged };
  "GET /namespaces/{namespace}/servers/{address}/jobs": { in: { "namespace": string; "address": string }, body: undefined, out: ListJobServer };
  "POST /namespaces/{namespace}/servers/{address}/remove": { in: { "namespace": string; "address": string; "dryRun"?: boolean; "why"?: string }, body: undefined, out: ServerChanged };
  "POST /namespaces/{namespace}/servers/{address}/shutdown": { in: { "namespace": string; "address": string; "dryRun"?: boolean; "why"?: string }, body: undefined, out: ServerChanged };
  "GET /namespaces/{namespace}/watch": { in: { "namespace": string; "Last-Event-ID"?: string; "lastEventId"?: string }, body: undefined, out: (unknown)[] };
  "GET /openapi.json": { in: {  }, body: undefined, out: Record<string, unknown> };
  "GET /openapi.yaml": { in: {  }, body: undefined, out: string };
  "GET /sessions": { in: { "user"?: string }, body: undefined, out: ListSessionInfo };
  "DELETE /sessions/{session}": { in: { "session": string }, body: undefined, out: undefined };
  "GET /users": { in: {  }, body: undefined, out: ListUserInfo };
  "POST /users": { in: {  }, body: NewUser, out: UserInfo };
  "DELETE /users/{user}": { in: { "user": string }, body: undefined, out: undefined };
  "GET /users/{user}": { in: { "user": string }, body: undefined, out: UserInfo };
  "PUT /users/{user}": { in: { "user": string; "If-Match"?: string }, body: UserRights, out: UserInfo };
  "PUT /users/{user}/password": { in: { "user": string }, body: SetPasswordBody, out: undefined };
  "GET /users/{user}/tokens": { in: { "user": string }, body: undefined, out: ListTokenInfo };
  "POST /users/{user}/tokens": { in: { "user": string }, body: NewToken, out: MadeToken };
  "DELETE /users/{user}/tokens/{token}": { in: { "user": string; "token": string }, body: undefined, out: undefined };
}
