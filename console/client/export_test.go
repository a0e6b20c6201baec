package client

// Strict has the client refuse answers with a field that its types do not have.
func (c *Client) Strict() { c.strict = true }
