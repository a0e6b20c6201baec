package world

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"
)

// LogIn logs a user of the world in at a console, and returns the cookies of the session.
func LogIn(t testing.TB, url, user string) []*http.Cookie {
	t.Helper()
	body, err := json.Marshal(map[string]string{"name": user, "password": Password})
	if err != nil {
		t.Fatal(err)
	}
	once := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // nothing is left of it
	answer, err := once.Post(url+"/api/v1/login", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode != http.StatusOK {
		t.Fatalf("%s logs in: %s", user, answer.Status)
	}
	return answer.Cookies()
}
