package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// TokenInfo is an API token of a user, without the token.
type TokenInfo struct {
	User    string      `json:"user" doc:"Name of the user whose token it is."`
	Name    string      `json:"name" doc:"Name of the token."`
	Grants  []GrantInfo `json:"grants" nullable:"false" doc:"They narrow those of the user. None leaves them as they are."`
	Created time.Time   `json:"created,omitzero" doc:"When it was made. Left out if that is not known."`
	Expires time.Time   `json:"expires,omitzero" doc:"Missing if it never does."`
	Expired bool        `json:"expired" doc:"Whether it counts no longer."`
	Used    time.Time   `json:"used,omitzero" doc:"When it was last used, to the minute."`
}

func tokenInfo(t access.TokenInfo) TokenInfo {
	return TokenInfo{t.User, t.Name, GrantInfos(t.Grants), t.Created, t.Expires, t.Expired, t.Used}
}

func tokenInfos(tokens []access.TokenInfo) []TokenInfo {
	infos := []TokenInfo{}
	for _, t := range tokens {
		infos = append(infos, tokenInfo(t))
	}
	return infos
}

// MadeToken is a token that was made.
type MadeToken struct {
	Token string    `json:"token" doc:"For header Authorization: Bearer. It cannot be seen again."`
	Info  TokenInfo `json:"info" doc:"What the list of tokens shows of it."`
}

// NewToken is a token to be made.
type NewToken struct {
	Name         string      `json:"name" maxLength:"100" doc:"Name of the token: letters, digits, and any of . _ @ + - are allowed."`
	Grants       []GrantInfo `json:"grants,omitempty" nullable:"false" maxItems:"100" doc:"They narrow those of the user, at each request. None leaves them as they are."`
	Days         int         `json:"days,omitempty" minimum:"1" maximum:"365" default:"90" doc:"How long it counts, in days."`
	NeverExpires bool        `json:"neverExpires,omitempty" doc:"It counts until it is revoked."`
}

// AddMyTokenInput is the request to make a token of one's own.
type AddMyTokenInput struct{ Body NewToken }

// AddTokenInput is the request to make a token of a user.
type AddTokenInput struct {
	InUser
	Body NewToken
}

// InToken is the part of a request that says which token it is about.
type InToken struct {
	Token string `path:"token" maxLength:"255" doc:"Name of the token." example:"deploy"`
}

// InUserToken is the same for a token of somebody.
type InUserToken struct {
	InUser
	InToken
}

func (a *API) addTokens() {
	if a.Access == nil {
		return
	}
	refused := []int{http.StatusForbidden, http.StatusConflict, http.StatusServiceUnavailable}
	mine, users := Prefix+"/me/tokens", usersPath+"/{user}/tokens"
	register(a, signedIn, huma.Operation{
		OperationID: "list-my-tokens", Method: http.MethodGet, Path: mine, Tags: tagAccess, Summary: "Your API tokens", Errors: []int{http.StatusForbidden},
	}, a.myTokens)
	register(a, signedIn, huma.Operation{
		OperationID: "add-my-token", Method: http.MethodPost, Path: mine, Tags: tagAccess, Summary: "Make an API token of yours", DefaultStatus: http.StatusCreated,
		Description: "A token cannot do it.", Errors: refused,
	}, a.addMyToken)
	register(a, signedIn, huma.Operation{
		OperationID: "revoke-my-token", Method: http.MethodDelete, Path: mine + "/{token}", Tags: tagAccess, Summary: "Revoke an API token of yours",
		Description: "A token can revoke itself, and no other one.", Errors: refused,
	}, a.revokeMyToken)
	everything := admin(route.Everything)
	register(a, everything, huma.Operation{
		OperationID: "list-tokens", Method: http.MethodGet, Path: users, Tags: tagAccess, Summary: "API tokens of a user",
	}, a.tokens)
	register(a, everything, huma.Operation{
		OperationID: "add-token", Method: http.MethodPost, Path: users, Tags: tagAccess, Summary: "Make an API token of a user", DefaultStatus: http.StatusCreated,
		Description: notByToken,
		Errors:      []int{http.StatusConflict},
	}, a.addToken)
	register(a, everything, huma.Operation{
		OperationID: "revoke-token", Method: http.MethodDelete, Path: users + "/{token}", Tags: tagAccess, Summary: "Revoke an API token of a user",
		Errors: []int{http.StatusConflict},
	}, a.revokeToken)
}

func (a *API) myTokens(ctx context.Context, _ *struct{}) (*answer[List[TokenInfo]], error) {
	p, err := person(ctx)
	if err != nil {
		return nil, err
	}
	return a.tokens(ctx, &InUser{p.User})
}

func (a *API) tokens(_ context.Context, in *InUser) (*answer[List[TokenInfo]], error) {
	user, err := a.Access.User(in.User)
	if err != nil {
		return nil, err
	}
	return listed(tokenInfos(user.Tokens)), nil
}

func (a *API) addMyToken(ctx context.Context, in *AddMyTokenInput) (*answer[MadeToken], error) {
	p, err := person(ctx)
	if err != nil {
		return nil, err
	}
	return a.addToken(ctx, &AddTokenInput{InUser{p.User}, in.Body})
}

func (a *API) addToken(ctx context.Context, in *AddTokenInput) (*answer[MadeToken], error) {
	grants, err := grantsOf(ctx, in.Body.Grants)
	if err != nil {
		return nil, err
	}
	user, err := a.Access.User(in.User)
	if err == nil {
		err = endsWithToken(ctx, in.User, user.Grants)
	}
	if err != nil {
		return nil, err
	}
	life := time.Duration(in.Body.Days) * 24 * time.Hour
	if in.Body.NeverExpires {
		life = access.Never
	}
	secret, info, err := a.Access.AddToken(ctx, actor(ctx), in.User, in.Body.Name, grants, life)
	if errors.Is(err, access.ErrInvalid) {
		return nil, refuse("body", "%v", err)
	}
	if err != nil {
		return nil, err
	}
	return &answer[MadeToken]{MadeToken{secret, tokenInfo(info)}}, nil
}

func (a *API) revokeMyToken(ctx context.Context, in *InToken) (*struct{}, error) {
	p := access.From(ctx)
	if p.Token == "" || p.Token != in.Token {
		var err error
		if p, err = person(ctx); err != nil {
			return nil, err
		}
	}
	return nil, a.Access.RevokeToken(ctx, actor(ctx), p.User, in.Token)
}

func (a *API) revokeToken(ctx context.Context, in *InUserToken) (*struct{}, error) {
	return nil, a.Access.RevokeToken(ctx, actor(ctx), in.User, in.Token)
}
