//go:build unix && !linux

package runtimeapi

import "syscall"

// attributes puts a process into a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
