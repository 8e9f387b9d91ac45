package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ticks of the processor's time in a second, as Linux tells them.
const ticks = 100

// usage is what a process has used since it began. Where the machine does not tell it is zero.
type usage struct {
	cpu     float64 // seconds
	peakMiB float64 // of resident memory
}

func usageOf(pid int) usage {
	var u usage
	if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		_, rest, _ := strings.Cut(string(raw), ") ") // the name before it may have blanks
		if fields := strings.Fields(rest); len(fields) > 12 {
			for _, field := range fields[11:13] {
				n, _ := strconv.ParseFloat(field, 64)
				u.cpu += n / ticks
			}
		}
	}
	if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
		for line := range strings.Lines(string(raw)) {
			if text, is := strings.CutPrefix(line, "VmHWM:"); is {
				n, _ := strconv.ParseFloat(strings.Fields(text)[0], 64)
				u.peakMiB = n / 1024
			}
		}
	}
	return u
}
