package sqlite

import (
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
)

// The memory of the translated C is outside Go's: the collector neither moves
// nor frees it, so an address stays good until it is freed.

func malloc(tls *libc.TLS, n int) uintptr { return libc.Xmalloc(tls, types.Size_t(n)) }

// at is the pointer of an address. It goes by way of the address's own place
// because Go's vet cannot know that the memory does not move.
func at(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

func bytesAt(address uintptr, n int) []byte { return unsafe.Slice((*byte)(at(address)), n) }

func pointerAt(address uintptr) uintptr { return *(*uintptr)(at(address)) }
