//go:build tools

package tools

import _ "github.com/siderolabs/discovery-service/cmd/discovery-service"
