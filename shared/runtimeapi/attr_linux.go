package runtimeapi

import "syscall"

// attributes puts a process into a group of its own, and has the system kill
// it when the thread that started it is gone.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
