package etcd

import "testing"

func TestOldServers(t *testing.T) {
	for version, minimum := range map[string]string{
		"3.4.40":      "3.5.33",
		"3.5.0":       "3.5.33",
		"3.5.32":      "3.5.33",
		"3.5.33":      "",
		"3.6.13":      "3.6.14",
		"3.6.14":      "",
		"3.7.0":       "3.7.1",
		"3.7.0-rc.1":  "3.7.1",
		"3.7.3":       "",
		"3.8.0":       "",
		"4.0.0":       "",
		"2.3.8":       "3.5.33",
		"no version":  "",
		"3.10.0-beta": "",
	} {
		got, old := tooOld(version)
		if old != (minimum != "") || old && got != minimum {
			t.Errorf("%s: got the minimum %q, %v; want %q", version, got, old, minimum)
		}
	}
}
