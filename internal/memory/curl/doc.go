// Package curl is the programs curl and wget for a machine in memory, with the options, messages and exit
// statuses of curl 7.88 and GNU Wget 1.21.
//
// They never dial: the code that registers them passes a [Way], which decides which servers can be
// reached. What would choose another way (a proxy, an address for a name, a socket, an interface) is
// refused. Files are those of the machine.
//
// HTTP/1.1 is spoken here, and not by net/http, because curl shows header fields as they came and sends them
// in an order that servers and scripts have seen for decades. HTTP/2 is not offered; a server takes HTTP/1.1 then.
package curl
