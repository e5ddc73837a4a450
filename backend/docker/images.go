package docker

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"slices"

	"github.com/seed434b0696/agent-sandbox/backend/docker/image"
	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/policy"
)

// inspect describes an image, with the programs of the commands. It reads the files of each image once.
func (d *Driver) inspect(ctx context.Context, c *engine.Client, name string, commands []policy.Command) (*image.Image, error) {
	found, err := image.Find(ctx, c, name)
	if err != nil {
		return nil, err
	}
	names := commandNames(commands)
	if known, ok := d.loadImage(found.ID, names); ok {
		known.Name = name
		return known, nil
	}
	if err := found.Learn(ctx, c, ownLabels(), names); err != nil {
		return nil, err
	}
	return found, d.storeImage(found)
}

// commandNames returns the names of the commands, sorted.
func commandNames(commands []policy.Command) []string {
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// imageID is the form of image IDs.
const imageID = `^(sha256:)?[0-9a-f]{64}$`

// imageFile returns the file that caches the description of an image, "" for an ID of another form.
func (d *Driver) imageFile(id string) string {
	if !regexp.MustCompile(imageID).MatchString(id) {
		return ""
	}
	return d.dir("images", id[len(id)-64:]+".json")
}

// loadImage returns the cached description of an image if it has the named commands.
func (d *Driver) loadImage(id string, names []string) (*image.Image, bool) {
	file := d.imageFile(id)
	if file == "" {
		return nil, false
	}
	data, err := os.ReadFile(file)
	var i image.Image
	if err != nil || json.Unmarshal(data, &i) != nil || i.ID != id {
		return nil, false
	}
	for _, name := range names {
		if _, ok := i.Programs[name]; !ok {
			return nil, false
		}
	}
	return &i, true
}

// storeImage caches the description of an image.
func (d *Driver) storeImage(i *image.Image) error {
	file := d.imageFile(i.ID)
	if file == "" {
		return nil // without a cache the image is read each time
	}
	for name, programs := range i.Programs {
		if programs == nil {
			i.Programs[name] = []string{}
		}
	}
	data, err := json.Marshal(i)
	if err != nil {
		return err
	}
	return writeFile(file, data, 0o600)
}
