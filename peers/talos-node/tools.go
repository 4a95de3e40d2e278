//go:build tools

// Go itself would not build this import, for the package is internal to Talos; it makes the pin complete.
package tools

import _ "github.com/siderolabs/talos/internal/app/machined"
