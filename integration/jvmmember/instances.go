package jvmmember

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// instance is the value of an instance's node.
type instance struct {
	ID     string  `yaml:"jobInstanceId"`
	IP     string  `yaml:"serverIp"`
	Labels *string `yaml:"labels"`
}

func serverNode(ip string) string   { return "servers/" + ip }
func instanceNode(id string) string { return "instances/" + id }

func (m *Member) persistServer(enabled bool) {
	if m.shut.Load() {
		return
	}
	value := "DISABLED"
	if enabled {
		value = "ENABLED"
	}
	m.persist(serverNode(m.config.IP), value)
}

func (m *Member) persistInstance() {
	m.persistEphemeral(instanceNode(m.id), fmt.Sprintf("jobInstanceId: %s\nserverIp: %s\n", m.id, m.config.IP))
}

// readInstance reads the node of an instance; ok is false if it is not there. ElasticJob fails if
// it cannot read the value.
func (m *Member) readInstance(id string) (in instance, ok bool, err error) {
	text, there := m.cached(instanceNode(id))
	if !there {
		return instance{}, false, nil
	}
	if err := yaml.Unmarshal([]byte(text), &in); err != nil {
		return instance{}, false, fmt.Errorf("instance %s: %w", id, err)
	}
	return in, in.IP != "", nil
}

// availableInstances are those whose servers are enabled, in descending order.
func (m *Member) availableInstances() ([]instance, error) {
	var available []instance
	for _, id := range m.children("instances") {
		in, ok, err := m.readInstance(id)
		if err != nil {
			return nil, err
		}
		if ok && m.isEnabled(in.IP) {
			available = append(available, in)
		}
	}
	return available, nil
}

// isEnabled reads the state of a server; it waits up to a second for one that is not there yet.
func (m *Member) isEnabled(ip string) bool {
	state, _ := m.cached(serverNode(ip))
	for i := 0; state == "" && i < 10 && m.sleep(shortWait); i++ {
		state, _ = m.cached(serverNode(ip))
	}
	return state == "ENABLED"
}

// isAvailable reports whether a server is enabled and has an instance. ElasticJob compares the
// beginnings of the names, so that 10.0.0.1 is found in 10.0.0.12.
func (m *Member) isAvailable(ip string) bool {
	if !m.isEnabled(ip) {
		return false
	}
	for _, id := range m.children("instances") {
		if strings.HasPrefix(id, ip) {
			return true
		}
	}
	return false
}

func (m *Member) hasAvailableServers() bool {
	for _, ip := range m.children("servers") {
		if m.isAvailable(ip) {
			return true
		}
	}
	return false
}

// removeOfflineServers removes servers without an instance. 3.0.4 means to, but removes only those
// without a state; 3.0.5 removes those that have one, also DISABLED.
func (m *Member) removeOfflineServers() {
	ips := make(map[string]bool)
	for _, id := range m.children("instances") {
		ip, _, _ := strings.Cut(id, "@-@")
		ips[ip] = true
	}
	if len(ips) == 0 {
		return
	}
	for _, ip := range m.children("servers") {
		if ips[ip] {
			continue
		}
		state, _ := m.cached(serverNode(ip))
		if blank := strings.TrimSpace(state) == ""; blank == (m.config.Release == V304) {
			m.removeIfThere(serverNode(ip))
		}
	}
}
