package form

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Reader is a scalar that reads itself, such as an expression. It is implemented by a pointer.
type Reader interface {
	ParseScalar(text string, rule Rule) *Complaint
	ScalarText() string
	IsZero() bool
}

// Places remembers where the value of each path stands, for those who find a fault later.
type Places struct {
	at      map[string]At
	written map[string]bool
}

// Written tells whether the document has the path, with whatever value.
func (p Places) Written(path string) bool { return p.written[path] }

// Of is the place of a path, or of the nearest path above it.
func (p Places) Of(path string) At {
	for {
		if at, ok := p.at[path]; ok || path == "" {
			return at
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

// Decode fills a struct from a map, key by key as the struct's tags declare. It reports an unknown key with the
// nearest known one, a missing key, and every value that breaks its rule; it goes on after each.
func Decode(node *Node, into any, report *Report) Places {
	d := decoder{report: report, places: Places{map[string]At{}, map[string]bool{}}}
	d.structure(node, reflect.ValueOf(into).Elem(), "")
	return d.places
}

type decoder struct {
	report *Report
	places Places
}

func (d *decoder) complain(rule Rule, c *Complaint) {
	if c != nil {
		d.report.Add(rule.At, rule.Path, c.What, c.Hint)
	}
}

func (d *decoder) structure(node *Node, into reflect.Value, path string) {
	d.places.at[path] = node.At
	if node.Kind != Map {
		d.report.Add(node.At, path, "it is "+node.Kind.String()+" where a map is wanted", "its keys are "+strings.Join(names(into.Type()), ", "))
		return
	}
	meant := map[string]bool{} // keys that somebody wrote in another spelling; they are not missing as well
	for _, m := range node.Members {
		if known := names(into.Type()); !slices.Contains(known, m.Name) {
			meant[nearest(m.Name, known)] = true
			d.report.Add(m.At, join(path, m.Name), "the key is not known here", Among(m.Name, known))
		}
	}
	for i := range into.NumField() {
		rule, ok := ruleOf(into.Type().Field(i))
		if !ok {
			continue
		}
		at := node.At
		value := node.Get(rule.Name)
		if value != nil {
			at = value.At
		}
		rule = rule.in(join(path, rule.Name), at)
		d.places.at[rule.Path] = at
		d.places.written[rule.Path] = value != nil || meant[rule.Name]
		if value == nil && meant[rule.Name] {
			continue
		}
		d.field(value, into.Field(i), rule)
	}
}

// field decodes the value of a key, or what stands for it where the key is not there.
func (d *decoder) field(node *Node, into reflect.Value, rule Rule) {
	if node == nil {
		switch {
		case rule.Has("required"):
			d.report.Add(rule.At, rule.Path, "the key is missing", "write it: it has no default")
		case rule.Has("default"):
			d.scalar(rule.Option("default"), into, rule)
		case into.Kind() == reflect.Struct && !isScalar(into):
			d.structure(&Node{At: rule.At, Kind: Map}, into, rule.Path)
		}
		return
	}
	if node.Kind == Reported {
		return
	}
	if node.Kind == Nothing {
		d.report.Add(node.At, rule.Path, "the key has no value", "write one, or leave the key out")
		return
	}
	d.value(node, into, rule)
}

func (d *decoder) value(node *Node, into reflect.Value, rule Rule) {
	switch {
	case isScalar(into):
		if node.Kind != Scalar {
			d.report.Add(node.At, rule.Path, "it is "+node.Kind.String()+" where a single value is wanted", "")
			return
		}
		d.scalar(node.Text, into, rule)
	case into.Kind() == reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		d.structure(node, into.Elem(), rule.Path)
	case into.Kind() == reflect.Struct:
		d.structure(node, into, rule.Path)
	case into.Kind() == reflect.Slice:
		d.list(node, into, rule)
	}
}

func (d *decoder) list(node *Node, into reflect.Value, rule Rule) {
	if node.Kind != List {
		d.report.Add(node.At, rule.Path, "it is "+node.Kind.String()+" where a list is wanted", "begin each item with a dash")
		return
	}
	if len(node.Items) == 0 {
		d.report.Add(node.At, rule.Path, "the list is empty", "leave the key out, or write an item")
		return
	}
	d.complain(rule, rule.bounded(int64(len(node.Items)), "its items are"))
	into.Set(reflect.MakeSlice(into.Type(), len(node.Items), len(node.Items)))
	item := Rule{Name: rule.Name, options: map[string]string{}}
	for name, value := range rule.options {
		if name != "min" && name != "max" {
			item.options[name] = value
		}
		if inner, ok := strings.CutPrefix(name, "item_"); ok {
			item.options[inner] = value
		}
	}
	for i, each := range node.Items {
		path := fmt.Sprintf("%s[%d]", rule.Path, i)
		d.places.at[path] = each.At
		if each.Kind == Nothing {
			d.report.Add(each.At, path, "the item has no value", "write one, or delete the dash")
			continue
		}
		d.value(each, into.Index(i), item.in(path, each.At))
	}
}

func (d *decoder) scalar(text string, into reflect.Value, rule Rule) {
	switch target := into.Addr().Interface().(type) {
	case Reader:
		d.complain(rule, target.ParseScalar(text, rule))
	case encoding.TextUnmarshaler:
		if err := target.UnmarshalText([]byte(text)); err != nil {
			d.complain(rule, &Complaint{err.Error(), ""})
			return
		}
		d.complain(rule, rule.text(text))
	case *string:
		d.complain(rule, rule.text(text))
		*target = text
	case *int64:
		value, complaint := rule.integer(text)
		d.complain(rule, complaint)
		*target = value
	}
}

// isScalar tells whether a single value stands in a field.
func isScalar(field reflect.Value) bool {
	switch field.Addr().Interface().(type) {
	case Reader, encoding.TextUnmarshaler, *string, *int64:
		return true
	}
	return false
}

func names(of reflect.Type) []string {
	var all []string
	for i := range of.NumField() {
		if rule, ok := ruleOf(of.Field(i)); ok {
			all = append(all, rule.Name)
		}
	}
	return all
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Keys lists every key that a struct declares, with the keys of its maps behind a point: "ordering.position". Items
// of a list are shown by [].
func Keys(of any) []string { return keysOf(reflect.TypeOf(of), "") }

func keysOf(of reflect.Type, path string) []string {
	var all []string
	for i := range of.NumField() {
		rule, ok := ruleOf(of.Field(i))
		if !ok {
			continue
		}
		field, here := of.Field(i).Type, join(path, rule.Name)
		if field.Kind() == reflect.Slice {
			field, here = field.Elem(), here+"[]"
		}
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		all = append(all, here)
		if field.Kind() == reflect.Struct && !isScalar(reflect.New(field).Elem()) {
			all = append(all, keysOf(field, here)...)
		}
	}
	return all
}

// EachReader visits every present Reader of a struct.
func EachReader(in any, visit func(Reader) error) error {
	return eachReader(reflect.ValueOf(in).Elem(), visit)
}

func eachReader(in reflect.Value, visit func(Reader) error) error {
	if reader, ok := in.Addr().Interface().(Reader); ok {
		if reader.IsZero() {
			return nil
		}
		return visit(reader)
	}
	switch {
	case isScalar(in):
	case in.Kind() == reflect.Pointer && !in.IsNil():
		return eachReader(in.Elem(), visit)
	case in.Kind() == reflect.Slice:
		for i := range in.Len() {
			if err := eachReader(in.Index(i), visit); err != nil {
				return err
			}
		}
	case in.Kind() == reflect.Struct:
		for i := range in.NumField() {
			if _, ok := ruleOf(in.Type().Field(i)); !ok {
				continue
			}
			if err := eachReader(in.Field(i), visit); err != nil {
				return err
			}
		}
	}
	return nil
}
