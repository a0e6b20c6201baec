package jobfile

import (
	"log/slog"
	"math"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/job/allow"
	"github.com/elasticjob-go/elasticjob/strategy"
	"github.com/elasticjob-go/elasticjob/trace"
)

// Keys that this package asks for by name.
const (
	keyRegistry = "registry"
	keyNode     = "node"
	keyAllow    = "allow"
	keyLog      = "log"
	keyJobs     = "jobs"
	keyDefaults = "defaults"
	keyProfiles = "profiles"
	keyProps    = "props"
	keyTracing  = "tracing"
	keyMetrics  = "metrics"
	keyDump     = "dump"
	keyHealth   = "health"

	keyCalendars = "calendars"
)

const (
	second = time.Second
	minute = time.Minute
)

// document is what the files say, all together.
type document struct {
	registry registrySection
	node     nodeSection
	allow    map[string]*allow.Rule // by patterns of jobs' names; nil: there is no such section
	log      *logSection
	jobs     map[string]*declared
	tracing  *section
	metrics  *section
	dump     *section
	health   *healthSection

	calendars map[string]*Calendar
}

// fields are the keys of a file.
func (d *document) fields() fields {
	return append(d.profileFields(), field{key: keyProfiles, shape: named{func(string) shape {
		return shared{new(document).profileFields(), "profile"}
	}}, meaning: "What comes on top of all files if a profile is chosen (ELASTICJOB_PROFILES), by its name. The same keys as in a file."})
}

// profileFields are the keys of a profile.
func (d *document) profileFields() fields {
	return fields{
		{key: keyRegistry, shape: d.registry.fields(), meaning: "The registry centre: exactly one of etcd, zookeeper and memory. A change needs a restart."},
		{key: keyNode, shape: d.node.fields(), meaning: "This process. A change needs a restart."},
		{key: keyAllow, shape: named{d.rule}, meaning: "What configurations of jobs, whoever writes them, may make this process use, by patterns of jobs' names such as pay-*: a job has what all patterns together say that match its name. Default: everything; with node.serve nothing. See package job/allow. A change needs a restart."},
		{key: keyLog, shape: part[logSection]{&d.log, (*logSection).fields}, meaning: "The log, on standard error. A change needs a restart."},
		{key: keyDefaults, shape: shared{new(declared).fields(), "job"}, meaning: "What all jobs have, unless they say something else."},
		{key: keyJobs, shape: named{d.job}, meaning: "The jobs, by name."},
		{key: keyCalendars, shape: named{d.calendar}, meaning: "Calendars of the namespace, by name: each is the text of a document, such as ${file:holidays.yaml}; see package job/calendar. elasticjob apply writes them; a process that runs the jobs does not."},
		{key: keyTracing, shape: part[section]{&d.tracing, (*section).tracingFields}, meaning: "What is told of each execution. A change needs a restart."},
		{key: keyMetrics, shape: part[section]{&d.metrics, (*section).metricsFields}, meaning: "Counters of the jobs. A change needs a restart."},
		{key: keyDump, shape: part[section]{&d.dump, (*section).dumpFields}, meaning: "Shows how the jobs stand in this process, beside what the registry has of them: see package job/dump. A change needs a restart."},
		{key: keyHealth, shape: part[healthSection]{&d.health, (*healthSection).fields}, meaning: "Answers probes: GET /live and /ready, and /faults for alerts. See package job/health. A change needs a restart."},
	}
}

// job returns the shape of a job of a name, and keeps the job.
func (d *document) job(name string) shape {
	j := &declared{}
	j.config.Name = name
	if d.jobs == nil {
		d.jobs = map[string]*declared{}
	}
	d.jobs[name] = j
	return shared{j.fields(), "job"}
}

// calendar returns the shape of a calendar of a name, and keeps the calendar.
func (d *document) calendar(name string) shape {
	c := &Calendar{Name: name}
	if d.calendars == nil {
		d.calendars = map[string]*Calendar{}
	}
	d.calendars[name] = c
	return text{&c.Document}
}

// registrySection has exactly one of its fields.
type registrySection struct {
	etcd      *etcdSection
	zookeeper *zkSection
	memory    *memory.Config
}

func (s *registrySection) fields() fields {
	return fields{
		{key: "etcd", shape: part[etcdSection]{&s.etcd, (*etcdSection).fields}, meaning: "etcd 3.5 or later."},
		{key: "zookeeper", shape: part[zkSection]{&s.zookeeper, (*zkSection).fields}, meaning: "ZooKeeper 3.5 or later."},
		{key: "memory", shape: part[memory.Config]{&s.memory, memoryFields}, meaning: "For trying out: the jobs of this process alone, and all is lost when it ends."},
	}
}

// namespace returns that of the store; empty if the files name none.
func (s *registrySection) namespace() string {
	switch {
	case s.etcd != nil:
		return s.etcd.config.Namespace
	case s.zookeeper != nil:
		return s.zookeeper.config.Namespace
	case s.memory != nil:
		return s.memory.Namespace
	}
	return ""
}

const namespaceMeaning = "The part of the store that the jobs have: shop, or shop/jobs. Required."

// etcdSection is etcd's configuration, but for what is no text.
type etcdSection struct {
	config etcd.Config
	tls    *tlsSection
}

func (s *etcdSection) fields() fields {
	c := &s.config
	return fields{
		{key: "endpoints", shape: addresses{several{&c.Endpoints}, etcd.CheckEndpoint}, meaning: "Client addresses of the members: host:port, http://host:port or https://host:port. Required."},
		{key: "namespace", shape: text{&c.Namespace}, meaning: namespaceMeaning},
		{key: "sessionTimeout", shape: duration{to: &c.SessionTimeout, least: time.Millisecond}, meaning: "How long the session lives after its last renewal, in whole seconds. Default 10s."},
		{key: "dialTimeout", shape: duration{to: &c.DialTimeout, least: time.Millisecond}, meaning: "Bounds each attempt to connect. Default 5s."},
		{key: "requestTimeout", shape: duration{to: &c.RequestTimeout, least: time.Millisecond}, meaning: "Bounds each request. Default 5s."},
		{key: "username", shape: text{&c.Username}, meaning: "The user; needs a password."},
		{key: "password", shape: text{&c.Password}, meaning: "The password: better a reference, such as ${file:/run/secrets/etcd}."},
		{key: "tls", shape: part[tlsSection]{&s.tls, (*tlsSection).fields}, meaning: "Encrypts the connections; {} takes the system's certificate authorities."},
		{key: "syncInterval", shape: duration{to: &c.SyncInterval}, meaning: "How often the addresses that the members advertise are read. Default 0s, never."},
		{key: "allowOldServers", shape: flag(&c.AllowOldServers), meaning: "Accepts servers before etcd 3.5. Default false."},
	}
}

// zkSection is ZooKeeper's configuration, but for what is no text.
type zkSection struct {
	config zk.Config
	tls    *tlsSection
}

func (s *zkSection) fields() fields {
	c := &s.config
	return fields{
		{key: "servers", shape: addresses{several{&c.Servers}, zk.CheckServer}, meaning: "The members of the ensemble: host or host:port. Required."},
		{key: "namespace", shape: text{&c.Namespace}, meaning: namespaceMeaning},
		{key: "sessionTimeout", shape: duration{to: &c.SessionTimeout, least: time.Millisecond}, meaning: "How long the session lives after its last renewal. Default 10s."},
		{key: "dialTimeout", shape: duration{to: &c.DialTimeout, least: time.Millisecond}, meaning: "Bounds the first connection. Default 5s."},
		{key: "requestTimeout", shape: duration{to: &c.RequestTimeout, least: time.Millisecond}, meaning: "Bounds each request. Default 5s."},
		{key: "maxBackoff", shape: duration{to: &c.MaxBackoff, least: time.Millisecond}, meaning: "The longest wait between two attempts to connect. Default 1s."},
		{key: "digest", shape: text{&c.Digest}, meaning: "user:password: better a reference, such as ${file:/run/secrets/zookeeper}."},
		{key: "otherDigests", shape: several{&c.OtherDigests}, meaning: "Further users, each user:password, while the namespace changes its user. They need digest."},
		{key: "grants", shape: accessList{&c.Grants}, meaning: "What others may do with the nodes that this process creates: scheme:id:permissions, with commas between them, such as digest:reader:hash:r. They need digest."},
		{key: "tls", shape: part[tlsSection]{&s.tls, (*tlsSection).fields}, meaning: "Encrypts the connections; {} takes the system's certificate authorities."},
	}
}

func memoryFields(c *memory.Config) fields {
	return fields{{key: "namespace", shape: text{&c.Namespace}, meaning: namespaceMeaning}}
}

// nodeSection is this process.
type nodeSection struct {
	address, network             string
	labels                       []string
	weight, threads              int
	drain, cancelGrace           time.Duration
	earlyClaims, listenerTimeout time.Duration
	serve                        bool
}

func (s *nodeSection) fields() fields {
	return fields{
		{key: "address", shape: text{&s.address}, meaning: "The address by which operators disable this server; any text. Default: the address by which other hosts most likely know it."},
		{key: "network", shape: text{&s.network}, meaning: "Takes the address that this host has in this network: 10.1.0.0/16. Not together with address."},
		{key: "labels", shape: several{&s.labels}, meaning: "Labels of this process, for jobs that have a label."},
		{key: "weight", shape: integer{&s.weight, 1, strategy.MaxWeight}, meaning: "How large the share of items is with the strategy WEIGHTED. Default 1."},
		{key: "threads", shape: integer{&s.threads, 0, math.MaxInt32}, meaning: "How many items all jobs together run at a time. Default 0, no bound."},
		{key: "drain", shape: duration{to: &s.drain, zero: time.Nanosecond}, meaning: "How long handlers may run on when the process, or a job, is to end; 0s ends their contexts at once. Default 30s."},
		{key: "cancelGrace", shape: duration{to: &s.cancelGrace, zero: off}, meaning: "How long handlers have to return after their contexts have ended; let it be longer than script.grace. Default 1s."},
		{key: "earlyClaims", shape: duration{to: &s.earlyClaims, zero: off}, meaning: "Claims items up to this time before their tick, at most 10s; 0s claims at the tick. Default: as early as claims take, up to 1s."},
		{key: "listenerTimeout", shape: duration{to: &s.listenerTimeout, least: time.Millisecond}, meaning: "Bounds one call of a listener. Default 10s."},
		{key: "serve", shape: flag(&s.serve), meaning: "Also runs the jobs of the namespace that stand in no file here, if their type or implementation is one that this program has. Default false."},
	}
}

// logSection is the log.
type logSection struct{ level, format string }

func (s *logSection) fields() fields {
	s.level, s.format = slog.LevelInfo.String(), formatText
	return fields{
		{key: "level", shape: oneOf{&s.level, []string{"DEBUG", "INFO", "WARN", "ERROR"}}, meaning: "The least level. Default INFO."},
		{key: "format", shape: oneOf{&s.format, []string{formatText, formatJSON}}, meaning: "text or json. Default text."},
	}
}

const (
	formatText = "text"
	formatJSON = "json"
)

// section is tracing, metrics or dump.
type section struct {
	off              bool
	typ, listen      string
	token, line      string // of dump
	database         string // of tracing
	keep             time.Duration
	include, exclude []string
	jobs             trace.Filter // of include and exclude
}

func (s *section) common(typ, types string) fields {
	s.typ = typ
	return fields{
		{key: "enabled", shape: unless(&s.off), meaning: "false switches the section off. Default true."},
		{key: "type", shape: text{&s.typ}, meaning: types + " Default " + typ + "."},
		{key: "include", shape: patterns{&s.include}, meaning: "Patterns of the jobs that it is for, such as settle-*. Not together with exclude. Default: all."},
		{key: "exclude", shape: patterns{&s.exclude}, meaning: "Patterns of the jobs that it is not for. Not together with include."},
	}
}

func (s *section) tracingFields() fields {
	return append(s.common(typeLog, "LOG writes a line for each execution, at its end; SQL keeps the history in a database: elasticjob run has it, and a program that imports trace/sqltrace/sqlfile. The program may have more types."),
		field{key: "database", shape: text{&s.database}, meaning: "The database of a type that has one: better a reference, such as ${file:/run/secrets/history}. Of SQL: sqlite:/path/to/file, mysql:user:password@tcp(host:3306)/database, or postgres://user:password@host/database."},
		field{key: "keep", shape: duration{to: &s.keep, least: time.Hour}, meaning: "How long the database keeps what was written. Default: that of the type; of SQL 2160h, which is 90 days."})
}

func (s *section) metricsFields() fields {
	return append(s.common(typePrometheus, "PROMETHEUS answers GET /metrics: elasticjob run has it, and a program that imports trace/prom/promfile. EXPVAR shows counters as JSON, of 10,000 jobs at most, and is in each program: GET /debug/vars. The program may have more types."),
		field{key: "listen", shape: listen{text{&s.listen}}, meaning: "Where PROMETHEUS, or EXPVAR, listens: host:port. There is no access control, so let it be 127.0.0.1 or a private network. Sections may share it."})
}

func (s *section) dumpFields() fields {
	return append(s.common(typeHTTP, "HTTP answers GET /dump, /dump/{job}, /jobs, /jobs/{job} and /log/{job}."),
		field{key: "listen", shape: listen{text{&s.listen}}, meaning: "Where it listens: host:port. Without a token it has to be a loopback address, such as 127.0.0.1:8080. Sections may share it; the token is for dump only. Required."},
		field{key: "line", shape: listen{text{&s.line}}, meaning: "Where ElasticJob's line dump@job is answered: host:port, which no section shares; without a token a loopback address. Default: nowhere."},
		field{key: "token", shape: text{&s.token}, meaning: "What clients have to give: better a reference, such as ${file:/run/secrets/dump}. 16 to 200 letters, digits and -._~+/=. Default: none, and everybody on this machine may ask."})
}

// healthSection answers probes.
type healthSection struct {
	off    bool
	listen string
}

func (s *healthSection) fields() fields {
	return fields{
		{key: "enabled", shape: unless(&s.off), meaning: "false switches the section off. Default true."},
		{key: "listen", shape: listen{text{&s.listen}}, meaning: "Where it listens: host:port. There is no access control, so let it be 127.0.0.1 or a private network. Sections may share it. Required."},
	}
}

// The types of sections that are built in, and the default of metrics, which a program imports.
const (
	typeLog        = "LOG"
	typeExpvar     = "EXPVAR"
	typeHTTP       = "HTTP"
	typePrometheus = "PROMETHEUS"
)

// homeOf returns the package that has a type of sections which is not built in; empty if we have none.
func homeOf(typ string) string {
	return map[string]string{typePrometheus: "trace/prom/promfile", "SQL": "trace/sqltrace/sqlfile"}[typ]
}
