package pack

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

func (co *Callout) holes() []string {
	if co.path == nil {
		return nil
	}
	return co.path.holes
}

func (c check) callout(co *Callout) {
	origin, err := url.Parse(co.Origin)
	if err != nil || origin.Host == "" || origin.Scheme+"://"+origin.Host != co.Origin {
		c.fault("origin", "this is no origin", "write https://HOST, without a path")
	} else {
		if origin.Scheme != "https" {
			c.fault("origin", "a call goes over TLS", "write https://")
		}
		if !slices.Contains(co.AllowedHosts, origin.Host) {
			c.fault("allowed_hosts", fmt.Sprintf("the host %s of the origin is not among them", origin.Host), "add it")
		}
	}
	if !strings.HasPrefix(co.Path, "/") || strings.ContainsAny(co.Path, "?# \\") || strings.Contains(co.Path, "//") ||
		slices.ContainsFunc(strings.Split(co.Path, "/"), func(part string) bool { return part == "." || part == ".." }) {
		c.fault("path", "this is no absolute path", "begin with a slash; a query belongs into the push contract")
	}
	co.path = c.template(co.Path, "path", func(string) bool { return true }, "")
	if a := co.Authentication; a != nil {
		c.bans(a.Prefix != "" && a.Form != "header", "authentication.prefix", "bearer and basic have their own")
	}
	var names []string
	for i, header := range co.Headers {
		names = append(names, header.Name)
		c.reserved(header.Name, fmt.Sprintf("headers[%d].name", i), co)
	}
	c.unique(names, "headers", "header")
	if co.Timeouts.Response > co.Timeouts.Total || co.Timeouts.Connect > co.Timeouts.Total {
		c.fault("timeouts", "a part lasts longer than the whole", "let total_ms be the longest")
	}
}

// reservedHeaders are written by the egress adapter alone.
var reservedHeaders = []string{"authorization", "host", "content-length", "transfer-encoding", "connection", "te", "trailer",
	"upgrade", "expect", "proxy-authorization", "cookie", "content-type"}

func (c check) reserved(name, path string, co *Callout) {
	if slices.Contains(reservedHeaders, name) && name != "content-type" || co != nil && co.Authentication != nil && name == co.Authentication.Header {
		c.fault(path, fmt.Sprintf("the header %s is written by the egress adapter alone", name), "leave it out; a secret is declared by authentication")
	}
}

func (c check) push(p *Push, callout, query *Callout) {
	c.fillers(p.Request.Path, "request.path", callout, p.Callout.String())
	c.together(!p.Request.Body.IsZero(), p.Request.Form != "none", "request.body", "a body has a body_form, and a body_form has a body")
	var names []string
	for i, header := range p.Request.Headers {
		names = append(names, header.Name)
		c.reserved(header.Name, fmt.Sprintf("request.headers[%d].name", i), callout)
		if header.Name == p.Idempotency.Header {
			c.fault(fmt.Sprintf("request.headers[%d].name", i), "the idempotency header is written from the effect's own key", "leave it out")
		}
	}
	c.unique(names, "request.headers", "header")
	c.idempotency(p)
	for i := range p.Outcomes {
		c.outcome(&p.Outcomes[i], fmt.Sprintf("outcomes[%d]", i))
	}
	if !slices.ContainsFunc(p.Outcomes, func(o Outcome) bool { return o.Outcome == "confirmed" }) {
		c.fault("outcomes", "no answer confirms the effect", "say which status and body prove that it took place")
	}
	retries := slices.ContainsFunc(p.Outcomes, func(o Outcome) bool { return o.Outcome == "retry" })
	c.wants(len(p.Retry.Delays) > 0 || !retries, "retry.delays_seconds", "an outcome asks for a retry, and the schedule has none")
	if r := p.Reconcile; r != nil {
		c.fillers(r.Path, "reconcile.path", query, r.Callout.String())
		if query != nil && query.Method != "GET" {
			c.fault("reconcile.callout", "a reconciliation reads and changes nothing", "name a callout with the method GET")
		}
		c.wants(!r.Identity.IsZero() || p.Identity == nil || p.Identity.Presence == "optional", "reconcile.identity",
			"the contract wants a remote identity, so the query must prove one")
	}
	if p.Idempotency.Form == "none" && p.Reconcile == nil && p.SettledBy != "operator" {
		c.fault("reconcile", "an uncertain effect could never be settled: the provider takes no key and is asked nothing",
			"declare the query that finds the effect, or an idempotency key, or uncertain_settled_by: operator")
	}
}

// fillers demands that the holes of a callout's path are filled, each once and no other.
func (c check) fillers(fillers []Filler, path string, callout *Callout, name string) {
	var filled []string
	for i, filler := range fillers {
		filled = append(filled, filler.Name)
		if callout != nil && !slices.Contains(callout.holes(), filler.Name) {
			c.fault(fmt.Sprintf("%s[%d].name", path, i), fmt.Sprintf("the path of the callout %s has no {%s}", name, filler.Name),
				"its holes are "+strings.Join(callout.holes(), ", "))
		}
	}
	c.unique(filled, path, "hole")
	if callout == nil {
		return
	}
	for _, hole := range callout.holes() {
		if !slices.Contains(filled, hole) {
			c.fault(path, fmt.Sprintf("nothing fills {%s} of the callout %s", hole, name), "write its name and value")
		}
	}
}

// A provider forgets its key at some time. The margin keeps an exact repeat far from it (R36).
const marginShare = 4

func (c check) idempotency(p *Push) {
	i := &p.Idempotency
	keyed := i.Form != "none"
	const why = "a provider's key has a header, a lifetime and a margin; form: none has none of them"
	c.together(i.Header != "", keyed, "idempotency.header", why)
	c.together(i.Lifetime > 0, keyed, "idempotency.lifetime_seconds", why)
	c.together(i.Margin > 0, keyed, "idempotency.margin_seconds", why)
	least := (i.Lifetime + marginShare - 1) / marginShare
	if keyed && i.Margin > 0 && (i.Margin < least || i.Margin >= i.Lifetime) {
		c.fault("idempotency.margin_seconds", fmt.Sprintf("%d of %d seconds", i.Margin, i.Lifetime),
			fmt.Sprintf("a margin is a quarter of the lifetime at least, here %d, and less than the whole", least))
	}
	if keyed {
		c.reserved(i.Header, "idempotency.header", nil)
	}
}

func (c check) outcome(o *Outcome, path string) {
	if o.From > o.To {
		c.fault(path+".status_to", "the range is empty", "let status_to be status_from at least")
	}
	// 408 and every 5xx may come from a server that did the work, or replay the answer of one that did.
	proves := o.Outcome == "no_effect" || o.Outcome == "retry"
	if proves && (o.To >= 500 || o.From <= 408 && o.To >= 408) {
		c.fault(path+".outcome", "a status that may hide a finished work proves no absence of it",
			"an answer 408 or 5xx is uncertain; leave the range out")
	}
	if o.Outcome == "confirmed" && (o.From < 200 || o.To > 299) && o.When.ScalarText() == "true" {
		c.fault(path+".outcome", "a status beyond 2xx confirms nothing by itself", "add a condition on the answer's body")
	}
}
