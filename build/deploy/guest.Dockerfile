# What --guest-image names: the program that runs inside, where an init container takes it from, and where a volume of the
# image has it.
#
#   make guest && docker build -t registry.example/agent-sandbox-guest:1 -f deploy/guest.Dockerfile guest/bin
FROM scratch
COPY guest-* /sandbox-guest
COPY guest-* /agent-sandbox
