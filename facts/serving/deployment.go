package serving

import (
	"database/sql/driver"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// Class is what a deployment is for. Nothing changes it, and it is inside the scope digest, so that no evidence of one
// class can stand for the other (R39). The zero Class is none.
type Class uint8

// The classes.
const (
	// Conformance walks its gates without a predecessor and reaches only the destinations that its deployment lists.
	Conformance Class = iota + 1
	// Production is activated by the cutover protocol only.
	Production
)

var classNames = []string{"", "conformance", "production"}

// ParseClass reads a class by its stable name.
func ParseClass(name string) (Class, error) {
	n, err := scan(classNames, []byte(name), "deployment class")
	return Class(n), err
}

// String is the stable name, "no class" for the zero Class.
func (c Class) String() string { return named(classNames, uint8(c), "no class") }

// Value is the class as it is stored.
func (c Class) Value() (driver.Value, error) { return bind(classNames, uint8(c), "deployment class") }

// Scan reads a stored class and refuses any other bytes.
func (c *Class) Scan(source any) error {
	n, err := scan(classNames, source, "deployment class")
	*c = Class(n)
	return err
}

// Destination is one place that a conformance deployment may call: a host with its port, or Loopback. Whoever calls
// compares it after the name was resolved.
type Destination struct{ text string }

// Loopback is every port of every loopback address.
var Loopback = Destination{"loopback"}

var hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

// ParseDestination reads "loopback", "host:port" or "address:port" in its one spelling: a host in lower case, an
// address as Go prints it, a port from 1 to 65535 without leading zeros.
func ParseDestination(text string) (Destination, error) {
	if text == Loopback.text {
		return Loopback, nil
	}
	refuse := facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("egress destination"), "want loopback, host:port or address:port in lower case")
	at := strings.LastIndexByte(text, ':')
	if at < 0 || len(text) > facts.KeyMaxBytes {
		return Destination{}, refuse
	}
	port, err := strconv.ParseUint(text[at+1:], 10, 16)
	if err != nil || port == 0 || strconv.FormatUint(port, 10) != text[at+1:] {
		return Destination{}, refuse
	}
	if address, err := netip.ParseAddrPort(text); err == nil && address.String() == text {
		return Destination{text}, nil
	}
	if host := text[:at]; !hostName.MatchString(host) || strings.Trim(host, "0123456789.") == "" {
		return Destination{}, refuse
	}
	return Destination{text}, nil
}

// String is the exact text.
func (d Destination) String() string { return d.text }

// Deployment is the one immutable row that says what this installation is.
//
// Spec: none; rule R39.
type Deployment struct {
	ID           facts.DeploymentID
	Class        Class
	Organization facts.Organization
	Installation facts.ApplicationInstallation
	Workload     facts.Workload
	// Destinations are what a conformance deployment may call, in ascending order, each once. A production deployment
	// lists none, because its egress is not limited here.
	Destinations Destinations
}

// Destinations are stored as lines of text.
type Destinations []Destination

// maxDestinations bounds the list, so that it stays a thing that a person reads.
const maxDestinations = 64

// Value is one line a destination.
func (d Destinations) Value() (driver.Value, error) {
	lines := make([]string, len(d))
	for i, one := range d {
		lines[i] = one.text
	}
	return []byte(strings.Join(lines, "\n")), nil
}

// Scan reads stored lines.
func (d *Destinations) Scan(source any) error {
	raw, ok := source.([]byte)
	if !ok {
		return errors.AssertionFailedf("a column of destinations held %T, want bytes", source)
	}
	*d = nil
	if len(raw) == 0 {
		return nil
	}
	for line := range strings.SplitSeq(string(raw), "\n") {
		one, err := ParseDestination(line)
		if err != nil {
			return errors.Wrap(err, "a stored egress destination")
		}
		*d = append(*d, one)
	}
	return nil
}

// Check refuses, with ConfigurationInvalid, a deployment that is not complete.
func (d Deployment) Check() error {
	fault := ""
	switch {
	case d.ID.IsZero():
		fault = "it has no id"
	case d.Class != Conformance && d.Class != Production:
		fault = "its class is neither conformance nor production"
	case d.Organization.IsZero() || d.Installation.IsZero() || d.Workload.IsZero():
		fault = "it names no organization, no installation or no workload"
	case d.Class == Production && len(d.Destinations) > 0:
		fault = "a production deployment lists no destinations"
	case d.Class == Conformance && len(d.Destinations) == 0:
		fault = "a conformance deployment lists at least one destination; loopback is the usual one"
	case len(d.Destinations) > maxDestinations:
		fault = "it lists more than 64 destinations"
	case !slices.IsSortedFunc(d.Destinations, compareDestinations) || len(slices.Compact(slices.Clone(d.Destinations))) != len(d.Destinations):
		fault = "its destinations are not in ascending order, each once"
	case slices.Contains(d.Destinations, Destination{}):
		fault = "a destination is empty"
	default:
		return nil
	}
	return facts.Refuse(facts.ConfigurationInvalid, facts.OfInput("deployment"), "%s", fault)
}

func compareDestinations(a, b Destination) int { return strings.Compare(a.text, b.text) }

// Scope is the ServingScopeDigest: what an epoch, a barrier and every certificate are about. The deployment's class is
// inside it.
type Scope struct{ facts.Digest }

// Founded is a deployment with the scope that it derives to, as it is stored.
type Founded struct {
	Deployment
	Scope Scope
}
