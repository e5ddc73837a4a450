package shell

import "time"

// local returns the time in the zone of TZ; names of zones that are not known are UTC.
func (sh *interp) local(t time.Time) time.Time {
	tz, ok := sh.lookupEnv("TZ")
	if sh.m.zone == nil || !ok {
		return t.UTC()
	}
	if loc := sh.m.zone(tz); loc != nil {
		return t.In(loc)
	}
	return t.UTC()
}
