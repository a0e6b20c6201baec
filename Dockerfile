# The command elasticjob: docker build -t elasticjob . See docs/operate/compose.md.
FROM --platform=$BUILDPLATFORM golang:1.26.8 AS build
ARG TARGETOS TARGETARCH
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -buildid=" -o dist/elasticjob ./cmd/elasticjob && \
    go run -trimpath ./deploy/licenses -o dist/LICENSES dist/elasticjob
# A named volume starts with what the image has at its path: a folder of the image's user, and an empty database,
# because the console opens only one that is there.
RUN mkdir -p dist/data dist/history && touch dist/history/history.db

FROM gcr.io/distroless/static:nonroot
COPY --from=build /src/dist/elasticjob /src/dist/LICENSES /
COPY --from=build --chown=65532:65532 /src/dist/data /data
COPY --from=build --chown=65532:65532 /src/dist/history /history
USER 65532:65532
ENTRYPOINT ["/elasticjob"]
