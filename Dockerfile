# docker build -t sortid . && docker run --rm sortid new scru128 -n 3
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 make build
RUN GOWORK=off go -C internal/release run . notices /src/bin/sortid >bin/THIRD-PARTY-NOTICES.txt

# Nothing but the command: no shell, no libraries. The certificates are for stores with TLS.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /src/LICENSE /src/bin/THIRD-PARTY-NOTICES.txt /usr/share/doc/sortid/
COPY --from=build /src/bin/sortid /usr/bin/sortid
USER 65532:65532
ENTRYPOINT ["/usr/bin/sortid"]
