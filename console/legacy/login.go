package legacy

import "net/http"

// loggedIn is what a log-in of 3.x returns.
type loggedIn struct {
	AccessToken string `json:"accessToken"`
	Username    string `json:"username"`
}

func (a *api) login(r *http.Request, _ dialect) (any, error) {
	if a.check == nil {
		return nil, errNoLogin
	}
	var body struct {
		Username string `json:"username"`
		Password string `json:"password"`
	}
	if _, err := decode(r, &body); err != nil {
		return nil, err
	}
	user, token, err := a.check(r, body.Username, body.Password)
	if err != nil {
		return nil, err
	}
	return loggedIn{AccessToken: token, Username: user}, nil
}

// Casdoor is one of the providers of OpenID Connect.
func noCasdoor(*http.Request, dialect) (any, error) { return nil, errCasdoor }
