package pack

import (
	"bytes"
	"encoding/hex"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cockroachdb/errors"
	"go.yaml.in/yaml/v3"

	"connectorcore/engine/pack/form"
	"connectorcore/facts"
)

// sampleRequest is samples/NAME.request.yaml: the delivery that a sample is. Its body is the file beside it.
type sampleRequest struct {
	Channel facts.Channel `pack:"channel,required"`
	Headers []sampleLine  `pack:"headers,max=64"`
	Body    string        `pack:"body,required,as=line"`
}

type sampleLine struct {
	Name  string `pack:"name,required,as=header"`
	Value string `pack:"value,required,as=line"`
}

// golden is what a sample is expected to give, as samples/NAME.golden.yaml spells it.
type golden struct {
	TransportKey string            `yaml:"transport_key"`
	Refused      string            `yaml:"refused,omitempty"`
	Components   []goldenComponent `yaml:"components,omitempty"`
}

type goldenComponent struct {
	Refused   string        `yaml:"refused,omitempty"`
	Rule      string        `yaml:"rule,omitempty"`
	Kind      string        `yaml:"kind,omitempty"`
	Key       string        `yaml:"key,omitempty"`
	Locator   string        `yaml:"locator,omitempty"`
	Occurred  string        `yaml:"occurred_at,omitempty"`
	Partition string        `yaml:"partition,omitempty"`
	Position  string        `yaml:"position,omitempty"`
	Tie       string        `yaml:"tie_breaker,omitempty"`
	Routes    []goldenRoute `yaml:"routes,omitempty"`
}

type goldenRoute struct {
	Route    string `yaml:"route"`
	Refused  string `yaml:"refused,omitempty"`
	Grouping string `yaml:"grouping,omitempty"`
	Command  string `yaml:"command,omitempty"`
	Input    string `yaml:"input,omitempty"`
}

// application is one application input that a sample led to, for the proofs of order.
type application struct {
	sample string
	route  *Route
	event  facts.SourceEventKey
	input  Input
}

// sample runs one delivery through all interpreters.
func (p *Pack) sample(name string, request sampleRequest, body []byte) (golden, []application, error) {
	channel, ok := p.Channel(request.Channel)
	if !ok {
		return golden{}, nil, errors.Newf("pack: sample %s: there is no channel %q", name, request.Channel)
	}
	delivery := Delivery{Body: body}
	for _, line := range request.Headers {
		delivery.Header = append(delivery.Header, Line(line))
	}
	reading := channel.Read(delivery)
	key, err := reading.TransportKey()
	made := golden{TransportKey: key.String()}
	if err != nil {
		made.TransportKey = "(" + reasonOf(err) + ")"
	}
	components, err := reading.Extract()
	if err != nil {
		made.Refused = reasonOf(err)
		return made, nil, nil
	}
	var applications []application
	for _, component := range components {
		one, inputs := p.component(name, reading, component)
		made.Components, applications = append(made.Components, one), append(applications, inputs...)
	}
	return made, applications, nil
}

func (p *Pack) component(name string, reading *Reading, component Component) (goldenComponent, []application) {
	event, err := reading.Normalize(component, p.routes)
	if err != nil {
		return goldenComponent{Refused: reasonOf(err)}, nil
	}
	one := goldenComponent{
		Rule: event.Rule, Kind: event.Kind.String(), Key: event.Key.String(), Locator: event.Locator.String(),
		Occurred: shown(event.Occurrence), Partition: event.Partition.String(),
		Position: shown(event.Order.Position), Tie: shown(event.Order.TieBreaker),
	}
	var applications []application
	for _, m := range event.Matches {
		route := goldenRoute{Route: m.Route.Name.String(), Grouping: m.Grouping.String(), Command: m.Route.Command.Definition.String()}
		mapping, _ := p.Mapping(m.Route.Mapping)
		err := m.Refusal
		var input Input
		if err == nil {
			input, err = mapping.Project([]*Event{event})
		}
		if err == nil {
			_, err = m.Route.Needs(event)
		}
		if err != nil {
			route.Refused, route.Command = reasonOf(err), ""
		} else {
			route.Input = string(input.Bytes())
			applications = append(applications, application{name, m.Route, event.Key, input})
		}
		one.Routes = append(one.Routes, route)
	}
	return one, applications
}

// reasonOf is the closed code of a refusal and where it stands.
func reasonOf(err error) string {
	var refusal *facts.Refusal
	if errors.As(err, &refusal) {
		return refusal.Code.String() + " at " + refusal.Subject.String()
	}
	return err.Error()
}

func shown(p facts.SourcePosition) string {
	if p.IsZero() {
		return ""
	}
	if whole, ok := p.Integer(); ok {
		return "integer " + whole.String()
	}
	return p.Kind().String() + " " + hex.EncodeToString(p.Encoded())
}

// samples reads the requests of a pack's samples, in the order of their names.
func samples(folder fs.FS, visit func(name string, request sampleRequest, body []byte) error) error {
	files, err := fs.Glob(folder, samplesFolder+"/*.request.yaml")
	if err != nil {
		return errors.Wrap(err, "pack: reading its samples")
	}
	slices.Sort(files)
	report := &form.Report{}
	for _, file := range files {
		raw, err := fs.ReadFile(folder, file)
		if err != nil {
			return errors.Wrap(err, "pack: reading its samples")
		}
		node := form.ReadYAML(file, raw, report)
		if node == nil {
			continue
		}
		before := len(report.Faults())
		var request sampleRequest
		form.Decode(node, &request, report)
		if len(report.Faults()) > before {
			continue
		}
		body, err := fs.ReadFile(folder, path.Join(samplesFolder, path.Base(request.Body)))
		if err != nil {
			report.Add(node.Get("body").At, "body", "the body's file cannot be read", "put it beside the request, into samples/")
			continue
		}
		if err := visit(strings.TrimSuffix(path.Base(file), ".request.yaml"), request, body); err != nil {
			return err
		}
	}
	return report.Err()
}

func (g golden) text() (string, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(g); err != nil {
		return "", errors.Wrap(err, "pack: writing a golden file")
	}
	return out.String(), encoder.Close()
}
