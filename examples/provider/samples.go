package provider

import (
	"os"
	"path/filepath"
	"strings"

	"connectorcore/engine/pack"
	"connectorcore/engine/pack/form"
	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// Delivery is one delivery before it is signed.
type Delivery struct {
	Name    string
	Channel facts.Channel
	Header  []pack.Line // lower-case names
	Body    []byte
}

// sampleForm is samples/NAME.request.yaml.
type sampleForm struct {
	Channel facts.Channel `pack:"channel,required"`
	Headers []struct {
		Name  string `pack:"name,required,as=header"`
		Value string `pack:"value,required,as=line"`
	} `pack:"headers,max=64"`
	Body string `pack:"body,required,as=line"`
}

// Samples are the deliveries in the samples of a pack's folder, in the order of their names.
func Samples(folder string) ([]Delivery, error) {
	files, err := filepath.Glob(filepath.Join(folder, "samples", "*.request.yaml"))
	if err != nil {
		return nil, errors.Wrap(err, "provider: samples")
	}
	var all []Delivery
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, errors.Wrap(err, "provider: a sample")
		}
		report, one := &form.Report{}, sampleForm{}
		form.Decode(form.ReadYAML(file, raw, report), &one, report)
		if err := report.Err(); err != nil {
			return nil, err
		}
		delivery := Delivery{Name: strings.TrimSuffix(filepath.Base(file), ".request.yaml"), Channel: one.Channel}
		for _, line := range one.Headers {
			delivery.Header = append(delivery.Header, pack.Line{Name: strings.ToLower(line.Name), Value: line.Value})
		}
		if delivery.Body, err = os.ReadFile(filepath.Join(folder, "samples", filepath.Base(one.Body))); err != nil {
			return nil, errors.Wrap(err, "provider: a sample's body")
		}
		all = append(all, delivery)
	}
	return all, nil
}
