package pack

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files of the shipped packs again")

const packsFolder = "../../packs"

// shipped are the packs of this repository, by the names of their folders.
func shipped(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir(packsFolder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	if len(names) < 2 {
		t.Fatalf("%d packs are shipped, want two of different shape at least", len(names))
	}
	return names
}

func folderOf(name string) fs.FS { return os.DirFS(filepath.Join(packsFolder, name)) }

func TestTheShippedPacksGiveWhatTheirGoldenFilesSay(t *testing.T) {
	for _, name := range shipped(t) {
		report, err := Test(folderOf(name))
		if err != nil {
			t.Errorf("%s:\n%v", name, err)
			continue
		}
		for file, text := range report.Goldens {
			if *rewrite {
				if err := os.WriteFile(filepath.Join(packsFolder, name, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, difference := range report.Differences {
			t.Errorf("%s: %s", name, difference)
		}
		for _, refuted := range report.Refutations {
			t.Errorf("%s: %s", name, refuted)
		}
		for _, route := range report.WithoutProof {
			t.Errorf("%s: no two samples try the proof of the route %s", name, route)
		}
		if report.Inputs == 0 {
			t.Errorf("%s: its samples lead to no input", name)
		}
	}
}
