package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"connectorcore/engine/pack/form"
)

// corpora is samples/corpora.yaml of a pack: where real deliveries of its provider are published.
type corpora struct {
	Channel  string `pack:"channel,required"`
	Event    string `pack:"event_header,required"`
	Delivery string `pack:"delivery_header,required"`
	Package  string `pack:"npm_package,required"`
	File     string `pack:"npm_file,required"`
	Module   string `pack:"go_module,required"`
	Folder   string `pack:"go_folder,required"`

	pack *Pack
}

// real is one published delivery.
type real struct {
	name     string
	delivery Delivery
}

// corporaOf finds the pack that names corpora.
func corporaOf(t testing.TB) corpora {
	t.Helper()
	for _, name := range shipped(t) {
		file := filepath.Join(packsFolder, name, samplesFolder, "corpora.yaml")
		raw, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		report, named := &form.Report{}, corpora{}
		form.Decode(form.ReadYAML(file, raw, report), &named, report)
		if report.Err() != nil {
			t.Fatal(report.Err())
		}
		named.pack = compiledPack(t, folderOf(name))
		return named
	}
	t.Fatal("no pack names a corpus of real deliveries")
	return corpora{}
}

func (c corpora) real(name, event string, body []byte) real {
	return real{name, Delivery{Header: []Line{{c.Event, event}, {c.Delivery, "delivery-" + name}}, Body: body}}
}

var fetching sync.Mutex

// examples are the deliveries of the npm package. It is packed into the user's cache once.
func (c corpora) examples(t testing.TB) []real {
	t.Helper()
	fetching.Lock()
	defer fetching.Unlock()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(cache, "connectorcore", "corpora", strings.NewReplacer("/", "-", "@", "-").Replace(c.Package))
	archives, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	if len(archives) == 0 {
		archives = c.fetch(t, folder)
	}
	var kinds []struct {
		Name     string           `json:"name"`
		Examples []jsontext.Value `json:"examples"`
	}
	if err := json.Unmarshal(unpacked(t, archives[0], c.File), &kinds); err != nil {
		t.Fatalf("%s of %s: %v", c.File, archives[0], err)
	}
	var all []real
	for _, kind := range kinds {
		for i, body := range kind.Examples {
			all = append(all, c.real(fmt.Sprintf("%s-%02d", kind.Name, i), kind.Name, bytes.Clone(body)))
		}
	}
	return all
}

// fetch packs into a folder of its own and renames it, so that no reader ever sees half an archive.
func (c corpora) fetch(t testing.TB, folder string) []string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(folder), "fresh-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(fresh)
	command := exec.Command("npm", "pack", "--silent", c.Package)
	command.Dir = fresh
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("the real deliveries are not in the cache and `npm pack %s` could not fetch them: %v: %s", c.Package, err, out)
	}
	if err := os.Rename(fresh, folder); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	archives, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("`npm pack %s` left no archive in %s: %v", c.Package, folder, err)
	}
	return archives
}

func unpacked(t testing.TB, archive, file string) []byte {
	t.Helper()
	packed, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	reader := tar.NewReader(plain)
	for {
		header, err := reader.Next()
		if err != nil {
			t.Fatalf("%s holds no %s: %v", archive, file, err)
		}
		if header.Name == file {
			content, err := io.ReadAll(reader)
			if err != nil {
				t.Fatal(err)
			}
			return content
		}
	}
}

// captures are the deliveries in the Go module's testdata. Those of other providers come with the name of their
// folder as their event, and must end in a closed code or in an event of their own.
func (c corpora) captures(t testing.TB) []real {
	t.Helper()
	scratch := t.TempDir()
	if err := os.WriteFile(filepath.Join(scratch, "go.mod"), []byte("module scratch\n\ngo 1.26\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("go", "mod", "download", "-json", c.Module)
	command.Dir = scratch
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := command.Output()
	if err != nil {
		t.Fatalf("`go mod download %s` could not fetch the real deliveries: %v", c.Module, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(module.Dir, "testdata", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []real
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Base(filepath.Dir(file))
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		event := folder
		if folder == c.Folder {
			event = strings.ReplaceAll(name, "-", "_")
		}
		all = append(all, c.real(folder+"-"+name, event, body))
	}
	return all
}
