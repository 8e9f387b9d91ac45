package drive

import (
	"connectorcore/engine/turns"
	"connectorcore/ledger/turn"
)

// item is a turn's item that says how large it is.
type item struct {
	turn.Item
	size turns.Size
}

// Size is what the item adds to its turn.
func (i item) Size() turns.Size { return i.size }

// The kinds of items, in the order of what they free.
const (
	completing turns.Kind = iota
	ending
	claiming
	materializing
	admitting
)

// kinds are their parts of an account's turns while others wait too: what ends work goes before what begins it, and
// nothing waits for ever.
var kinds = []turns.KindRule{
	{Name: "complete", Weight: 8}, {Name: "end", Weight: 4}, {Name: "claim", Weight: 4}, {Name: "materialize", Weight: 2}, {Name: "admit", Weight: 4},
}

// sized is an item of one or two rows.
func sized(of turn.Item, rows int) item {
	return item{of, turns.Size{Items: 1, Rows: rows, Bytes: 1024}}
}

// contentSize is what a content adds, with its Receipt. A content of more rows than a turn holds is cut there, and one of more
// bytes has a turn of its own.
func contentSize(content *turn.Content, body int) turns.Size {
	size := turns.Size{Items: 1, Rows: 3, Bytes: body + 1024}
	if content == nil {
		return size
	}
	for _, component := range content.Components {
		size.Rows += 2
		if component.Event == nil {
			continue
		}
		size.Bytes += len(component.Event.Payload)
		size.Rows += 4 * len(component.Event.Joins)
		for _, input := range component.Event.Inputs {
			size.Rows += 4
			if input.Order != nil {
				size.Rows += 4
			}
			size.Rows += 3 * len(input.Needs)
			size.Bytes += len(input.Bytes)
		}
	}
	size.Rows, size.Bytes = min(size.Rows, turn.MaxRows), min(size.Bytes, turn.MaxBytes)
	return size
}
