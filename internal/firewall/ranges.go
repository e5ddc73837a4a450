package firewall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"time"
)

const (
	metaTimeout = 15 * time.Second
	metaBytes   = 8 << 20 // it has 0.2 MB today
	maxRanges   = 4096
	// A wider range does not belong to one company, so the answer must be forged.
	minBits4, minBits6 = 12, 28
)

// fetchRanges returns the ranges that GitHub publishes for git, its site and its API.
// The answer is hostile input: a range that is wide or special is an error.
func fetchRanges(ctx context.Context, client *http.Client, url string) ([]netip.Prefix, error) {
	ctx, cancel := context.WithTimeout(ctx, metaTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, resp.Status)
	}
	var meta struct {
		Git []netip.Prefix `json:"git"`
		Web []netip.Prefix `json:"web"`
		API []netip.Prefix `json:"api"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, metaBytes)).Decode(&meta); err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	all := append(append(meta.Git, meta.Web...), meta.API...)
	if len(all) == 0 || len(all) > maxRanges {
		return nil, fmt.Errorf("%s lists %d ranges", url, len(all))
	}
	for _, p := range all {
		if err := checkRange(p); err != nil {
			return nil, fmt.Errorf("%s: range %s %w", url, p, err)
		}
	}
	return all, nil
}

func checkRange(p netip.Prefix) error {
	a := p.Addr()
	switch {
	case !p.IsValid(), p != p.Masked(), a.Is4In6():
		return errors.New("is malformed")
	case a.Is4() && p.Bits() < minBits4, a.Is6() && p.Bits() < minBits6:
		return errors.New("is too wide")
	case !a.IsGlobalUnicast(), a.IsPrivate():
		return errors.New("is not public")
	}
	return nil
}

// newPlainClient returns a client that uses no proxy of the environment and follows no
// redirect: either would let another server choose GitHub's addresses.
func newPlainClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
