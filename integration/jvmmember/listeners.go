package jvmmember

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// Listener is one of the listeners of a job.
type Listener string

// The listeners, in the order in which ElasticJob registers them.
const (
	Election          Listener = "LeaderElection"
	Abdication        Listener = "LeaderAbdication"
	TotalChanged      Listener = "ShardingTotalCountChanged"
	ServersChanged    Listener = "ListenServersChanged"
	Crashed           Listener = "JobCrashed"
	FailoverChanged   Listener = "FailoverSettingsChanged"
	LegacyCrashed     Listener = "LegacyCrashedRunningItem"
	MonitoringChanged Listener = "MonitorExecutionSettingsChanged"
	ShutDown          Listener = "InstanceShutdownStatus"
	Triggered         Listener = "JobTriggerStatus"
	Rescheduled       Listener = "CronSettingChanged"
)

func registered() []Listener {
	return []Listener{
		Election, Abdication, TotalChanged, ServersChanged, Crashed, FailoverChanged, LegacyCrashed,
		MonitoringChanged, ShutDown, Triggered, Rescheduled,
	}
}

// ShuffledOrder is an order of the listeners for [Config.Order]; the same seed gives the same one.
func ShuffledOrder(seed uint64) []Listener {
	order := registered()
	r := rand.New(rand.NewPCG(seed, seed))
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// listen follows the cache, and tells the listeners of each change in their order, on one
// goroutine: while one of them waits, all others do. The queue keeps what happens meanwhile.
func (m *Member) listen() {
	q := queue{filled: make(chan struct{}, 1)}
	m.tasks.Go(func() { m.follow(&q) })
	order := m.config.Order
	if order == nil {
		order = registered()
	}
	for {
		e, ok := q.next(m.listening)
		if !ok {
			return
		}
		name, ok := strings.CutPrefix(e.path, m.config.Job+"/")
		if !ok {
			continue // the job's own node: nobody asks for it
		}
		e.path = name
		for _, l := range order {
			// What a listener fails with is logged in ElasticJob, and the next one is called.
			_ = m.tell(l, e)
		}
		if m.config.Told != nil {
			m.config.Told(e.path)
		}
	}
}

// tell calls a listener, whose conditions are in the order of ElasticJob: some of them send
// requests.
func (m *Member) tell(l Listener, e event) error {
	switch l {
	case Election:
		m.onElection(e)
	case Abdication:
		if m.isLeader() && e.path == serverNode(m.config.IP) && e.value == "DISABLED" {
			m.removeLeader()
		}
	case TotalChanged:
		return m.onTotal(e)
	case ServersChanged:
		return m.onServers(e)
	case Crashed:
		return m.onCrash(e)
	case FailoverChanged:
		return m.onFailoverChanged(e)
	case LegacyCrashed:
		return m.onLegacy(e)
	case MonitoringChanged:
		return m.onMonitoringChanged(e)
	case ShutDown:
		if !m.shut.Load() && !m.timer.isPaused() && e.path == instanceNode(m.id) && e.kind == deleted && !m.exists(instanceNode(m.id)) {
			m.shutDownInstance()
		}
	case Triggered:
		if e.path == "trigger/"+m.id && e.kind == added {
			m.removeIfThere("trigger/" + m.id)
			if !m.shut.Load() && !m.busy.Load() {
				m.timer.trigger()
			}
		}
	case Rescheduled:
		return m.onReschedule(e)
	}
	return nil
}

func (m *Member) onElection(e event) {
	if m.shut.Load() {
		return
	}
	active := !m.hasLeader() && e.path == serverNode(m.config.IP) && e.value != "DISABLED"
	if active || e.path == leaderNode && e.kind == deleted && m.isAvailable(m.config.IP) {
		m.electLeader()
	}
}

func (m *Member) onTotal(e event) error {
	if e.path != "config" || m.total.Load() == 0 {
		return nil
	}
	d, err := m.read(e.value)
	if err != nil {
		return err
	}
	if total := int64(d.ShardingTotalCount); total != m.total.Load() {
		m.setReshardingFlag()
		m.total.Store(total)
	}
	return nil
}

// serverPath is the path of a server with an address that ElasticJob knows: IPv4 only.
var serverPath = regexp.MustCompile(`^servers/((\d|[1-9]\d|1\d{2}|2[0-4]\d|25[0-5])(\.(1\d{2}|2[0-4]\d|25[0-5]|[1-9]\d|\d)){3})$`)

func (m *Member) onServers(e event) error {
	instances := strings.HasPrefix(e.path, "instances") && e.kind != updated
	if m.shut.Load() || !instances && !serverPath.MatchString(e.path) {
		return nil
	}
	still, err := m.keepsOwners()
	if err == nil && !still {
		m.setReshardingFlag()
	}
	return err
}

// keepsOwners reports whether the items stay where they are for ever.
func (m *Member) keepsOwners() (bool, error) {
	d, err := m.load(true)
	if err != nil {
		return false, err
	}
	return d.StaticSharding && len(m.children(shardingRoot)) > 0, nil
}

func (m *Member) onCrash(e event) error {
	if m.shut.Load() {
		return nil
	}
	if d, err := m.load(true); err != nil || !d.Failover {
		return err
	}
	id, ok := strings.CutPrefix(e.path, "instances/")
	if e.kind != deleted || !ok || id == m.id {
		return nil
	}
	taken, err := m.itemsIn("failovering", id)
	if err != nil {
		return err
	}
	for _, item := range taken {
		m.createIfNeeded(waitingNode(item))
		if m.config.Release != V304 {
			m.clearRunning([]int{item})
		}
		m.takeOver()
	}
	if len(taken) > 0 {
		return nil
	}
	ip, _, _ := strings.Cut(id, "@-@")
	items, err := m.crashed(id, ip)
	for _, item := range items {
		m.putUp(item)
		m.takeOver()
	}
	return err
}

func (m *Member) onFailoverChanged(e event) error {
	if e.path != "config" || e.kind != updated {
		return nil
	}
	d, err := m.read(e.value)
	if err != nil || d.Failover {
		return err
	}
	for _, item := range m.children(shardingRoot) {
		m.removeIfThere(shardingRoot + "/" + item + "/failover")
	}
	return nil
}

func (m *Member) onLegacy(e event) error {
	if e.kind != added || m.shut.Load() || e.path != instanceNode(m.id) {
		return nil
	}
	if d, err := m.load(true); err != nil || !d.Failover {
		return err
	}
	return m.takeOverLegacy()
}

func (m *Member) onMonitoringChanged(e event) error {
	if e.path != "config" || e.kind != updated {
		return nil
	}
	d, err := m.read(e.value)
	if err != nil || d.MonitorExecution {
		return err
	}
	items, err := m.allItems()
	m.clearRunning(items)
	return err
}

func (m *Member) onReschedule(e event) error {
	if e.path != "config" || e.kind != updated || m.shut.Load() {
		return nil
	}
	d, err := m.read(e.value)
	if err != nil || d.Cron == "" {
		return err
	}
	return m.timer.reschedule(d.Cron, d.TimeZone)
}

// knows reports whether every listener of an order is one of ElasticJob's, and none is missing.
func knows(order []Listener) bool {
	all := registered()
	return len(order) == len(all) && !slices.ContainsFunc(all, func(l Listener) bool { return !slices.Contains(order, l) })
}
