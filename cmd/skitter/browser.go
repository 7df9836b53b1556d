package main

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
)

// openBrowser shows a file in the browser of whoever sits there: what BROWSER
// names, else what the system has for it.
func openBrowser(file string) error {
	opener := []string{"xdg-open"}
	switch {
	case os.Getenv("BROWSER") != "":
		opener = []string{os.Getenv("BROWSER")}
	case runtime.GOOS == "darwin":
		opener = []string{"open"}
	case runtime.GOOS == "windows":
		opener = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return errors.New("there is no display, and BROWSER names no browser")
	}
	cmd := exec.Command(opener[0], append(opener[1:], file)...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // so that no zombie is left
	return nil
}
