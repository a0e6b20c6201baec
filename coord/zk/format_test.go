package zk_test

import (
	"crypto/tls"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/elasticjob-go/elasticjob/coord/zk"
)

// No way to print a configuration or a registry shows a secret.
func TestSecretsAreNotPrinted(t *testing.T) {
	cfg := zk.Config{Digest: "user:secret", OtherDigests: []string{"former:secret"}, TLS: &tls.Config{Certificates: []tls.Certificate{{PrivateKey: "secret"}}}, Namespace: "jobs"}
	r := dial(t, zk.Config{Digest: "user:secret"})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, value := range []any{cfg, &cfg, []zk.Config{cfg}, r, []any{r}, map[string]*zk.Registry{"r": r}} {
			got := fmt.Sprintf(verb, value)
			if strings.Contains(got, "secret") || strings.Contains(got, fmt.Sprintf("%x", "secret")) {
				t.Errorf("%s of a %T: %s", verb, value, got)
			}
		}
	}
	if got := fmt.Sprint(cfg); !strings.Contains(got, `"jobs"`) || !strings.Contains(got, "Digest: yes, OtherDigests: 1, Grants: 0, TLS: yes") {
		t.Errorf("got %s", got)
	}
	for _, value := range []any{cfg, r} {
		line, err := zapcore.NewJSONEncoder(zapcore.EncoderConfig{}).EncodeEntry(zapcore.Entry{}, []zapcore.Field{zap.Any("value", value)})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line.String(), "secret") {
			t.Errorf("logged: %s", line)
		}
	}
}
