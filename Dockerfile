# To run any command: docker build -t sortid . && docker run --rm sortid new scru128 -n 3
#
# Without a command, the image runs the server on port 8420. The server needs a file of tokens
# that the user 65532 can read:
#
#   docker run --rm sortid serve token shop 2>tokens    # prints the token
#   docker run -d --name sortid --read-only --cap-drop ALL --security-opt no-new-privileges \
#     -p 8420:8420 -v "$PWD/tokens:/etc/sortid/tokens:ro" sortid
#   curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8420/v1/ids/scru128
#
# To add a store, put its URL into the environment, where "ps" does not show the password:
#
#   export STORE_URL=postgres://ids:secret@db.example.org/ids
#   docker run -d --name sortid --read-only --cap-drop ALL --security-opt no-new-privileges \
#     -p 8420:8420 -v "$PWD/tokens:/etc/sortid/tokens:ro" -e STORE_URL \
#     sortid serve --listen :8420 --tokens /etc/sortid/tokens --store env:STORE_URL
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 make build
RUN packaging/notices.sh bin/sortid >bin/THIRD-PARTY-NOTICES.txt

# The image has only the command, without a shell or libraries. The certificates are for stores with
# TLS.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /src/LICENSE /src/bin/THIRD-PARTY-NOTICES.txt /usr/share/doc/sortid/
COPY --from=build /src/bin/sortid /usr/bin/sortid
USER 65532:65532
EXPOSE 8420
ENTRYPOINT ["/usr/bin/sortid"]
CMD ["serve", "--listen", ":8420", "--tokens", "/etc/sortid/tokens"]
