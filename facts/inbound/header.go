package inbound

import (
	"bytes"

	"connectorcore/facts"

	"github.com/cockroachdb/errors"
	"github.com/vmihailenco/msgpack/v5"
)

// headerForm is a header as it is stored: an array of a version and the lines, each an array of name and value.
type headerForm struct {
	Version uint8
	Lines   []headerLine
}

type headerLine struct {
	Name  string
	Value string
}

const headerVersion = 1

// EncodeHeader writes the lines of a header for a Receipt, in the order in which they stand.
func EncodeHeader(lines []facts.HeaderLine) ([]byte, error) {
	form := headerForm{Version: headerVersion, Lines: []headerLine{}}
	for _, line := range lines {
		form.Lines = append(form.Lines, headerLine(line))
	}
	var b bytes.Buffer
	encoder := msgpack.NewEncoder(&b)
	encoder.UseArrayEncodedStructs(true)
	if err := encoder.Encode(form); err != nil {
		return nil, errors.Wrap(err, "a receipt's header")
	}
	return b.Bytes(), nil
}

// DecodeHeader reads what EncodeHeader wrote.
func DecodeHeader(stored []byte) ([]facts.HeaderLine, error) {
	var form headerForm
	if err := msgpack.Unmarshal(stored, &form); err != nil {
		return nil, errors.Wrap(err, "a stored receipt's header")
	}
	if form.Version != headerVersion {
		return nil, errors.AssertionFailedf("a stored receipt's header has version %d", form.Version)
	}
	lines := make([]facts.HeaderLine, len(form.Lines))
	for i, line := range form.Lines {
		lines[i] = facts.HeaderLine(line)
	}
	return lines, nil
}
