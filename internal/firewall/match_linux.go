package firewall

import (
	"encoding/binary"

	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// The expressions that rules are made of. They use register 1 alone.

func equal(b ...byte) expr.Any { return compare(expr.CmpOpEq, b...) }

func compare(op expr.CmpOp, b ...byte) expr.Any {
	return &expr.Cmp{Op: op, Register: 1, Data: b}
}

func meta(key expr.MetaKey) expr.Any { return &expr.Meta{Key: key, Register: 1} }

func payload(base expr.PayloadBase, offset, length uint32) expr.Any {
	return &expr.Payload{DestRegister: 1, Base: base, Offset: offset, Len: length}
}

func all(parts ...[]expr.Any) []expr.Any {
	var out []expr.Any
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func verdict(kind expr.VerdictKind) []expr.Any { return []expr.Any{&expr.Verdict{Kind: kind}} }

func accept() []expr.Any { return verdict(expr.VerdictAccept) }

// viaLoopback matches packets of loopback in one direction: key is MetaKeyIIFNAME or MetaKeyOIFNAME.
func viaLoopback(key expr.MetaKey) []expr.Any {
	name := make([]byte, unix.IFNAMSIZ)
	copy(name, "lo")
	return []expr.Any{meta(key), equal(name...)}
}

// family is an address family with the position of its addresses.
type family struct {
	proto        byte // NFPROTO
	ether        [2]byte
	source, dest uint32
	length       uint32
	any4or6      string
}

func ipv4() family {
	return family{unix.NFPROTO_IPV4, [2]byte{0x08, 0x00}, 12, 16, 4, "4"}
}

func ipv6() family {
	return family{unix.NFPROTO_IPV6, [2]byte{0x86, 0xdd}, 8, 24, 16, "6"}
}

func (f family) is() []expr.Any {
	return []expr.Any{meta(expr.MetaKeyNFPROTO), equal(f.proto)}
}

// framed matches in the netdev family. A process that makes frames itself can name one protocol to the kernel
// and write another into the header, so both are compared.
func framed(ether [2]byte) []expr.Any {
	return []expr.Any{
		meta(expr.MetaKeyPROTOCOL), equal(ether[:]...),
		payload(expr.PayloadBaseLLHeader, 12, 2), equal(ether[:]...),
	}
}

func (f family) to(set string, id uint32) []expr.Any   { return f.in(f.dest, set, id) }
func (f family) from(set string, id uint32) []expr.Any { return f.in(f.source, set, id) }

func (f family) in(offset uint32, set string, id uint32) []expr.Any {
	return []expr.Any{
		payload(expr.PayloadBaseNetworkHeader, offset, f.length),
		&expr.Lookup{SourceRegister: 1, SetName: set, SetID: id},
	}
}

func transport(proto byte) []expr.Any {
	return []expr.Any{meta(expr.MetaKeyL4PROTO), equal(proto)}
}

// ports compares the destination's port (offset 2), or the source's (offset 0).
func ports(offset uint32, first, last uint16) []expr.Any {
	low, high := binary.BigEndian.AppendUint16(nil, first), binary.BigEndian.AppendUint16(nil, last)
	read := payload(expr.PayloadBaseTransportHeader, offset, 2)
	if first == last {
		return []expr.Any{read, equal(low...)}
	}
	return []expr.Any{read, compare(expr.CmpOpGte, low...), compare(expr.CmpOpLte, high...)}
}

func state(bits uint32) []expr.Any {
	return []expr.Any{
		&expr.Ct{Key: expr.CtKeySTATE, Register: 1},
		&expr.Bitwise{
			SourceRegister: 1, DestRegister: 1, Len: 4,
			Mask: binary.NativeEndian.AppendUint32(nil, bits), Xor: make([]byte, 4),
		},
		compare(expr.CmpOpNeq, 0, 0, 0, 0),
	}
}

// icmpType is the first byte of ICMP and of ICMPv6.
func icmpType(first, last byte) []expr.Any {
	return []expr.Any{
		payload(expr.PayloadBaseTransportHeader, 0, 1),
		compare(expr.CmpOpGte, first), compare(expr.CmpOpLte, last),
	}
}

// neighbor is IPv6's ARP: solicitation and advertisement, from this link (RFC 4861 §7.1).
func neighbor() []expr.Any {
	return all(
		transport(unix.IPPROTO_ICMPV6),
		[]expr.Any{payload(expr.PayloadBaseNetworkHeader, 7, 1), equal(255)},
		icmpType(135, 136),
	)
}

// reject refuses a packet with an answer, so that a program fails at once instead of waiting.
func reject(tcp bool) []expr.Any {
	r := &expr.Reject{Type: unix.NFT_REJECT_ICMPX_UNREACH, Code: unix.NFT_REJECT_ICMPX_ADMIN_PROHIBITED}
	if tcp {
		r = &expr.Reject{Type: unix.NFT_REJECT_TCP_RST}
	}
	return []expr.Any{&expr.Counter{}, r}
}
