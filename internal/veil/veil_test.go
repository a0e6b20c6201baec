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
		{"tokens.per.second", "3", "3"},
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
