# What --guest-image names: the program that runs inside, where an init container takes it from, and where a volume of the
# image has it.
#
#   make guest && docker build -t registry.example/agent-sandbox-guest:1 -f build/deploy/guest.Dockerfile bin/guest
FROM scratch
COPY sandbox-guest /sandbox-guest
COPY sandbox-guest /agent-sandbox
