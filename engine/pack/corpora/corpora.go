package corpora

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"connectorcore/engine/pack/form"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Corpora is samples/corpora.yaml of a pack: where real deliveries of its provider are published.
type Corpora struct {
	Channel  string `pack:"channel,required"`
	Event    string `pack:"event_header,required"`
	Delivery string `pack:"delivery_header,required"`
	Package  string `pack:"npm_package,required"`
	File     string `pack:"npm_file,required"`
	Module   string `pack:"go_module,required"`
	Folder   string `pack:"go_folder,required"`
}

// Real is one published delivery. Its publisher keeps the event and the body; the headers are made of these here.
type Real struct {
	Name   string
	Header []Line
	Body   []byte
}

// Line is one header line.
type Line struct{ Name, Value string }

// Named reads the corpora that the pack in a folder names. Most packs name none.
func Named(folder string) (named Corpora, any bool, err error) {
	file := filepath.Join(folder, "samples", "corpora.yaml")
	raw, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return named, false, nil
	case err != nil:
		return named, false, errors.Wrap(err, "corpora")
	}
	report := &form.Report{}
	form.Decode(form.ReadYAML(file, raw, report), &named, report)
	return named, true, report.Err()
}

func (c Corpora) real(name, event string, body []byte) Real {
	return Real{name, []Line{{c.Event, event}, {c.Delivery, "delivery-" + name}}, body}
}

// Examples are the deliveries of the npm package, which is packed into the user's cache once. Without npm or a registry,
// and without that cache, it fails and says what is missing.
func (c Corpora) Examples(ctx context.Context) ([]Real, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, errors.Wrap(err, "corpora: there is no place to keep them")
	}
	folder := filepath.Join(cache, "connectorcore", "corpora", strings.NewReplacer("/", "-", "@", "-").Replace(c.Package))
	archive, err := archiveIn(folder)
	if err != nil {
		if archive, err = c.fetch(ctx, folder); err != nil {
			return nil, err
		}
	}
	raw, err := unpacked(archive, c.File)
	if err != nil {
		return nil, err
	}
	var kinds []struct {
		Name     string           `json:"name"`
		Examples []jsontext.Value `json:"examples"`
	}
	if err := json.Unmarshal(raw, &kinds); err != nil {
		return nil, errors.Wrapf(err, "corpora: %s of %s", c.File, archive)
	}
	var all []Real
	for _, kind := range kinds {
		for i, body := range kind.Examples {
			all = append(all, c.real(fmt.Sprintf("%s-%02d", kind.Name, i), kind.Name, bytes.Clone(body)))
		}
	}
	return all, nil
}

// archiveIn is the one archive of a folder.
func archiveIn(folder string) (string, error) {
	archives, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	if err != nil || len(archives) == 0 {
		return "", errors.Newf("corpora: no archive in %s", folder)
	}
	return archives[0], nil
}

// fetch packs into a folder of its own and renames it, so that no reader ever sees half an archive. Whoever finds that
// another process was faster takes what that one left.
func (c Corpora) fetch(ctx context.Context, folder string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return "", errors.Wrap(err, "corpora: the cache")
	}
	fresh, err := os.MkdirTemp(filepath.Dir(folder), "fresh-")
	if err != nil {
		return "", errors.Wrap(err, "corpora: the cache")
	}
	defer func() { _ = os.RemoveAll(fresh) }()                                                                                                  // it is gone if it was renamed
	command := exec.CommandContext(ctx, "npm", "pack", "--silent", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=2000", c.Package) // offline says so soon
	command.Dir = fresh
	if out, err := command.CombinedOutput(); err != nil {
		return "", errors.Newf("corpora: %s is not in the cache, and `npm pack` could not fetch it: %v %s", c.Package, err, bytes.TrimSpace(out))
	}
	if err := os.Rename(fresh, folder); err != nil {
		if archive, taken := archiveIn(folder); taken == nil {
			return archive, nil
		}
		return "", errors.Wrap(err, "corpora: the cache")
	}
	return archiveIn(folder)
}

func unpacked(archive, file string) ([]byte, error) {
	packed, err := os.Open(archive)
	if err != nil {
		return nil, errors.Wrap(err, "corpora")
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		return nil, errors.Wrapf(err, "corpora: %s", archive)
	}
	reader := tar.NewReader(plain)
	for {
		header, err := reader.Next()
		if err != nil {
			return nil, errors.Wrapf(err, "corpora: %s holds no %s", archive, file)
		}
		if header.Name == file {
			content, err := io.ReadAll(reader)
			return content, errors.Wrapf(err, "corpora: %s of %s", file, archive)
		}
	}
}

// Captures are the deliveries in the Go module's testdata, which the module cache keeps. Those of other providers come
// with the name of their folder as their event.
func (c Corpora) Captures(ctx context.Context) (all []Real, err error) {
	scratch, err := os.MkdirTemp("", "corpora-")
	if err != nil {
		return nil, errors.Wrap(err, "corpora")
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	if err := os.WriteFile(filepath.Join(scratch, "go.mod"), []byte("module scratch\n\ngo 1.26\n"), 0o600); err != nil {
		return nil, errors.Wrap(err, "corpora")
	}
	command := exec.CommandContext(ctx, "go", "mod", "download", "-json", c.Module)
	command.Dir = scratch
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := command.Output()
	var module struct{ Dir, Error string }
	if told := json.Unmarshal(out, &module); err != nil || told != nil || module.Dir == "" {
		return nil, errors.Newf("corpora: %s is not in the module cache, and `go mod download` could not fetch it: %v %s", c.Module, errors.CombineErrors(err, told), module.Error)
	}
	files, err := filepath.Glob(filepath.Join(module.Dir, "testdata", "*", "*.json"))
	if err != nil {
		return nil, errors.Wrap(err, "corpora")
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			return nil, errors.Wrap(err, "corpora")
		}
		folder, name := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".json")
		event := folder
		if folder == c.Folder {
			event = strings.ReplaceAll(name, "-", "_")
		}
		all = append(all, c.real(folder+"-"+name, event, body))
	}
	return all, nil
}
