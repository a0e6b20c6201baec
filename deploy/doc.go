// Package deploy tests what is deployed of this repository: the binaries that scripts/build makes, the image of the
// Dockerfile, and what compose.yaml starts. It needs no container engine: the tests carry out the instructions of the
// Dockerfile in a folder, and run its program with that folder as root, in namespaces of Linux. They need Linux, and
// root or the right to make user namespaces.
package deploy
