package repo

// Dockerfile is the Dockerfile that [Repo.Init] writes: the base image, with comments that show where to add
// steps.
const Dockerfile = `ARG BASE_IMAGE_TAG=latest
FROM agent-sandbox-base:${BASE_IMAGE_TAG}

# Optional: packages that this repository needs
# USER root
# RUN apt-get update && apt-get install -y --no-install-recommends \
#     <packages> \
#   && rm -rf /var/lib/apt/lists/*
# USER node

# Optional: global tools that only this repository needs
# RUN npm install -g <tool>@<version>

# ENTRYPOINT, USER and WORKDIR are those of the base
`
