package repo

// Dockerfile is the one that init writes: the base image and nothing else, with places for what a repository needs.
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
