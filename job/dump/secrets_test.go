package dump_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job/dump"
)

// jvmConfigs are configurations as JVMs write them, with hunter2 in place of each secret.
var jvmConfigs = map[string]string{
	"3.0": `cron: 0/5 * * * * ?
jobExtraConfigurations:
- !!org.apache.shardingsphere.elasticjob.tracing.yaml.YamlTracingConfiguration
  tracingStorageConfiguration: !!org.apache.shardingsphere.elasticjob.tracing.rdb.yaml.YamlDataSourceConfiguration
    dataSourceClassName: com.zaxxer.hikari.HikariDataSource
    props:
      jdbcUrl: jdbc:mysql://10.0.0.8:3306/history?user=settle&password=hunter2&useSSL=false
      password: hunter2
      username: settle
  type: RDB
jobName: settle
jobErrorHandlerType: EMAIL
props:
  email.password: hunter2
  oracle: jdbc:oracle:thin:settle/hunter2@//10.0.0.8:1521/HISTORY
  mysql: jdbc:mysql://address=(host=10.0.0.8)(user=settle)(password=hunter2)/history
  wechat.webhook: https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=hunter2
shardingTotalCount: 2
`,
	"2.1":                 `{"jobName":"settle","jobClass":"com.example.Settle","jobType":"SIMPLE","cron":"0/5 * * * * ?","shardingTotalCount":2,"jobParameter":"jdbc:mysql://settle:hunter2@10.0.0.8/d"}`,
	"2.1, cannot be read": `{"jobName":"settle","cron":"0/5 * * * * ?","smtpPassword":"hunter2","url":"jdbc:sqlserver://10.0.0.8;user=settle;password=hunter2;x=y`,
}

// What the port answers has no secrets, whether addresses are masked or not; a copy of the dump that somebody takes
// himself has none either, and says all the rest.
func TestSecrets(t *testing.T) {
	for version, config := range jvmConfigs {
		t.Run(version, func(t *testing.T) {
			s := newServed(t, dump.Options{})
			if _, err := s.reg.Commit(t.Context(), coord.Put("jvm/config", []byte(config)), coord.Put("jvm/servers/10.0.0.9", nil)); err != nil {
				t.Fatal(err)
			}
			s.serve(listen(t))
			answers := map[string]string{"line": s.netcat("dump@jvm\n", false)}
			for _, url := range []string{"/dump/jvm", "/dump/jvm?mask=false", "/dump/jvm?format=text", "/dump/jvm?format=text&mask=false"} {
				w := httptest.NewRecorder()
				s.service.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", url, nil))
				answers[url] = w.Body.String()
			}
			d, err := dump.Directly(t.Context(), s.reg, "jvm")
			if err != nil || d.Config != config {
				t.Fatalf("directly: %v, %s", err, d.Config)
			}
			d.Nodes[len(d.Nodes)-1].View = config
			before := fmt.Sprint(d)
			document, err := json.Marshal(d.WithoutSecrets())
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(d) != before {
				t.Error("the dump itself has changed")
			}
			answers["WithoutSecrets"] = string(document)
			for what, answer := range answers {
				if strings.Contains(answer, "hunter2") || !strings.Contains(answer, "***") {
					t.Errorf("%s:\n%s", what, answer)
				}
				if !strings.Contains(answer, "0/5 * * * * ?") || version == "3.0" && !strings.Contains(answer, "!!org.apache.shardingsphere.elasticjob.tracing.yaml.YamlTracingConfiguration") {
					t.Errorf("%s has lost what is no secret:\n%s", what, answer)
				}
			}
		})
	}
}
