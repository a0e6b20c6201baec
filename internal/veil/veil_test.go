package veil

import (
	"strings"
	"testing"
)

func TestValue(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"email.password", "x", Veil},
		{"dingtalk.secret", "x", Veil},
		{"wechat.webhook", "https://h/send?key=x", Veil},
		{"webhook.header.Authorization", "Bearer x", Veil},
		{"my.apiKey", "x", Veil},
		{"email.password", "${env:MAIL}", "${env:MAIL}"},
		{"email.password", "a${b", Veil},
		{"webhook.header.Authorization", "Bearer ${env:TOKEN}", Veil},
		{"webhook.url", "https://u:p@h/${env:PATH}", "https://u:***@h/${env:PATH}"},
		{"email.password", "", ""},
		{"email.password.old", "x", Veil},
		{"api_token_2", "x", Veil},
		{"tls_key_pem", "-----BEGIN PRIVATE KEY-----", Veil},
		{"token.url", "https://h/", "https://h/"},
		{"tokens.per.second", "3", "3"},
		{"url", "u:p@tcp(h:3306)/d?parseTime=true", "u:***@tcp(h:3306)/d?parseTime=true"},
		{"url", "u:p@q/r@tcp(h:3306)/d", "u:***@tcp(h:3306)/d"},
		{"url", "u@tcp(h:3306)/d", "u@tcp(h:3306)/d"},
		{"url", "https://token@h/a", "https://***@h/a"},
		{"url", "postgres://u@h/d", "postgres://u@h/d"},
		{"url", "https://hooks.slack.com/services/T0/B0/x?y=z", "https://hooks.slack.com/***?y=z"},
		{"url", "https://discord.com/api/webhooks/1/x", "https://discord.com/api/webhooks/***"},
		{"url", "https://open.feishu.cn/open-apis/bot/v2/hook/x", "https://open.feishu.cn/open-apis/bot/***"},
		{"url", "https://api.telegram.org/bot1:x/send", "https://api.telegram.org/bot***"},
		{"description", "asks (a) and mails: b@c(d)", "asks (a) and mails: b@c(d)"},
		{"webhook.method", "POST", "POST"},
		{"webhook.url", "https://u:p@h/a?b=c", "https://u:***@h/a?b=c"},
		{"url", "jdbc:mysql://h/d?user=u&password=p&ssl=true", "jdbc:mysql://h/d?user=u&password=***&ssl=true"},
		{"url", "https://h/send?key=p", "https://h/send?key=***"},
		{"url", "jdbc:mysql://h/d?password=a,b)c&ssl=true", "jdbc:mysql://h/d?password=***&ssl=true"},
		{"url", "jdbc:mysql://address=(host=h)(user=u)(password=p)/d", "jdbc:mysql://address=(host=h)(user=u)(password=***)/d"},
		{"url", "jdbc:mysql://(host=h,password=p,port=1)/d", "jdbc:mysql://(host=h,password=***,port=1)/d"},
		{"url", "jdbc:oracle:thin:u/p@//h:1521/d", "jdbc:oracle:thin:u/***@//h:1521/d"},
		{"url", "jdbc:oracle:thin:@h:1521:d", "jdbc:oracle:thin:@h:1521:d"},
		{"http.url", "http://h:8080/a", "http://h:8080/a"},
		{"cron", "0/5 * * * * ?", "0/5 * * * * ?"},
	} {
		if got := Value(tt.name, tt.value); got != tt.want {
			t.Errorf("%s: %s = %q, want %q", tt.name, tt.value, got, tt.want)
		}
	}
}

func TestDocument(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"jobName: a\ncron:   '0 0 * * * ?' # each hour\n", "jobName: a\ncron:   '0 0 * * * ?' # each hour\n"},
		{"jobName: a\nprops:\n  email.password: p # mine\n  x: y\n", "jobName: a\nprops:\n  email.password: '***' # mine\n  x: y\n"},
		{`{"jobName":"a","props":{"email.password":"p"}}`, `{"jobName": "a", "props": {"email.password": "***"}}` + "\n"},
		{"props:\n  email.password: |\n    p\n    q\n", "props:\n  email.password: '***'\n"},
		{"props: {email.password: 123456}", "props: {email.password: '***'}\n"},
		{"extra:\n- type: T\n  token: p\n- [a, b]\n", "extra:\n  - type: T\n    token: '***'\n  - [a, b]\n"},
		{"props: [\n  email.password: p\n", "props: [\n  email.password: ***\n"},
		{`{"a": [, "smtpPassword" : "p\"q", "pin": 1, "token":5, "b": "c"}`, `{"a": [, "smtpPassword" : "***", "pin": 1, "token":"***", "b": "c"}`},
		{"", ""},
		{"a: &x p\nsecret: *x\n", "a: &x '***'\nsecret: *x\n"},
		{"token: {a: [p, {b: p}]}", "token: {a: ['***', {b: '***'}]}\n"},
		{"? secret\n: p\n", "secret: '***'\n"},
		{"secret: !!binary cA==\n", "secret: '***'\n"},
		{"secret: p\n---\nsecret: p\n", "secret: ***\n---\nsecret: ***\n"},
	} {
		if got := Document(tt.text); got != tt.want {
			t.Errorf("%q\n= %q, want\n  %q", tt.text, got, tt.want)
		}
	}
}

func TestRestore(t *testing.T) {
	const stored = "jobName: a\nprops:\n  email.password: it's \"p\"\n  webhook.url: https://u:p@h/\n  x: '1'\n"
	shown := Document(stored)
	if strings.Contains(shown, `"p"`) || strings.Contains(shown, ":p@") {
		t.Fatal(shown)
	}
	for _, tt := range []struct{ document, want, err string }{
		{shown, "jobName: a\nprops:\n  email.password: 'it''s \"p\"'\n  webhook.url: https://u:p@h/\n  x: '1'\n", ""},
		{strings.ReplaceAll(shown, "x: '1'", "x: '2'"), "jobName: a\nprops:\n  email.password: 'it''s \"p\"'\n  webhook.url: https://u:p@h/\n  x: '2'\n", ""},
		{"jobName: a\nprops:\n  email.password: new\n", "jobName: a\nprops:\n  email.password: new\n", ""},
		{"jobName: a\nprops:\n  other.password: '***'\n", "", "props.other.password: *** stands for a secret that is stored, and none is"},
		{"jobName: a\nprops:\n  webhook.url: https://u:***@other/\n", "jobName: a\nprops:\n  webhook.url: https://u:***@other/\n", ""},
		{"jobName: a\ndescription: '***'\n", "jobName: a\ndescription: '***'\n", ""},
		{"jobName: [***", "jobName: [***", ""},
		{"props:\n  email.password: &a '***'\n  x: *a\n", "", "*** stands for a secret that is stored: no alias is allowed beside it"},
		{"description: &a '***'\nprops:\n  email.password: *a\n", "", "*** stands for a secret that is stored: no alias is allowed beside it"},
		{"props:\n  email.password: &a '***'\n  ? *a\n  : x\n", "", "*** stands for a secret that is stored: no alias is allowed beside it"},
	} {
		got, err := Restore([]byte(tt.document), []byte(stored))
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%q: %v, want %s", tt.document, err, tt.err)
			}
			continue
		}
		if err != nil || string(got) != tt.want {
			t.Errorf("%q\n= %q, %v, want\n  %q", tt.document, got, err, tt.want)
		}
	}
}

// Whoever sees a secret as *** does not have it sent to a place of his own.
func TestRestoreAfterAMove(t *testing.T) {
	const stored = "props:\n  email.host: mail\n  email.password: p\n  email.subject: s\n  password: q\n  http.data: x\n  webhook.url: w\n  webhook.header.Authorization: Bearer x\nemail:\n  nested: {host: h, token: t}\n"
	shown := Document(stored)
	for _, tt := range []struct{ from, to, err string }{
		{"email.subject: s", "email.subject: t", ""},
		{"http.data: x", "http.data: x\n  http.uri: http://sink/", ""},
		{"email.host: mail", "email.host: sink", "props.email.password: *** stands for a secret that is stored, and props.email.host is another: give the secret itself"},
		{"  email.host: mail\n", "", "props.email.host is another"},
		{"email.subject: s", "email.subject: s\n  email.port: '25'", "props.email.port is another"},
		{"email.subject: s", "email.subject: s\n  email.useSsl: 'false'", "props.email.useSsl is another"},
		{"email.subject: s", "email.subject: s\n  email.serverName: sink", "props.email.serverName is another"},
		{"email.subject: s", "email.subject: s\n  url: http://sink/", "props.password: ***"},
		{"host: h", "host: sink", "email.nested.token: ***"},
		{"webhook.url: w", "webhook.url: sink", "props.webhook.header.Authorization: ***"},
		{"webhook.url: w", "webhook.url: w\n  host: sink", "props.password: ***"},
	} {
		document := strings.Replace(shown, tt.from, tt.to, 1)
		if document == shown {
			t.Fatalf("%q is not in %q", tt.from, shown)
		}
		_, err := Restore([]byte(document), []byte(stored))
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%q: %v, want %q", tt.to, err, tt.err)
		}
		if strings.HasPrefix(tt.err, "props.password") && strings.Contains(err.Error(), "email.password") {
			t.Errorf("%q: %v: what all properties have in common is no group", tt.to, err)
		}
	}
}

// A secret that was guessed is another one than the stored one, and is shown as it is.
func TestDisguise(t *testing.T) {
	const stored = "props:\n  email.password: p\n  url: https://u:p@h/\n  x: '1'\n"
	for _, tt := range []struct{ document, want string }{
		{stored, "props:\n  email.password: 'px'\n  url: https://u:x***@h/\n  x: '1'\n"},
		{"props:\n  email.password: wrong\n", "props:\n  email.password: wrong\n"},
		{"props:\n  other.password: p\n", "props:\n  other.password: p\n"},
		{"props: [", "props: ["},
		{"props:\n  email.password: !!binary cA==\n", "props:\n  email.password: px\n"},
	} {
		got, err := Disguise([]byte(tt.document), []byte(stored))
		if err != nil || strings.ReplaceAll(string(got), "'", "") != strings.ReplaceAll(tt.want, "'", "") || Document(string(got)) != Document(tt.document) {
			t.Errorf("%q\n= %q, %v, want\n  %q", tt.document, got, err, tt.want)
		}
	}
	for _, secret := range []string{"p", "wrong"} {
		for _, document := range []string{"description: &a " + secret + "\nprops:\n  email.password: *a\n", "x: &a {email.password: " + secret + "}\nprops:\n  <<: *a\n"} {
			if got, err := Disguise([]byte(document), []byte(stored)); err == nil {
				t.Errorf("%q = %q: an alias tells whether the secret was guessed", document, got)
			}
		}
	}
}
