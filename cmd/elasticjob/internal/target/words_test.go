package target_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
)

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		context  string
		settings target.Settings
		want     string
	}{
		{want: ""},
		{context: "prod", want: " --context prod"},
		{
			settings: target.Settings{Store: "etcd+tls://a:2379,b:2379/shop", User: "o'neil", Password: "secret", CACert: "/etc/my ca.pem", History: "sqlite:h.db"},
			want:     ` --store etcd+tls://a:2379,b:2379/shop --user 'o'\''neil' --cacert '/etc/my ca.pem'`,
		},
	} {
		if got := tt.settings.Words(tt.context); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
