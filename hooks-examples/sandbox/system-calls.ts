/**
 * A filter for system calls, which bubblewrap installs (`--seccomp`). A Unix socket can be used through any of its names, also
 * where everything is read-only, so that it helps little to hide known names: programs in the sandbox get no such sockets at all.
 */

/** A way to call a kernel: its name there, and the numbers of system calls. */
interface Architecture {
	/** `AUDIT_ARCH_…` of linux/audit.h. */
	audit: number;
	socket: number;
	socketpair: number;
	/** Refused as if the kernel did not have them. */
	missing: readonly number[];
}

/** The same number everywhere. A program could make sockets with it that no filter sees. */
const IO_URING_SETUP = 425;
/** Numbers from here on are those of x32, a third way to call the kernel of x64. */
const FIRST_OF_X32 = 0x40000000;

/**
 * `missing`: io_uring_setup; add_key, request_key and keyctl, because no namespace separates the keys of the user's login;
 * socketcall, whose arguments are in memory, where a filter does not see them.
 */
const X64: Architecture = { audit: 0xc000003e, socket: 41, socketpair: 53, missing: [IO_URING_SETUP, 248, 249, 250] };
const IA32: Architecture = {
	...{ audit: 0x40000003, socket: 359, socketpair: 360 },
	missing: [IO_URING_SETUP, 286, 287, 288, 102],
};
const ARM64: Architecture = {
	audit: 0xc00000b7,
	socket: 198,
	socketpair: 199,
	missing: [IO_URING_SETUP, 217, 218, 219],
};
const ARM: Architecture = {
	...{ audit: 0x40000028, socket: 281, socketpair: 288 },
	missing: [IO_URING_SETUP, 309, 310, 311, 102],
};

/** What the kernel of a machine runs, by `process.arch`. All are little-endian. */
const RUN_BY: Readonly<Record<string, readonly Architecture[]>> = { x64: [X64, IA32], arm64: [ARM64, ARM] };

const AF_UNIX = 1;
/** IPv4, IPv6, and netlink, which lists network interfaces. Others, such as AF_VSOCK, reach more than the network namespace. */
const FAMILIES = [2, 10, 16];
/** SOCK_STREAM and SOCK_SEQPACKET. A pair of datagram sockets could still send to any other socket. */
const PAIR_TYPES = [1, 5];
/** Without SOCK_CLOEXEC and SOCK_NONBLOCK. */
const TYPE_MASK = 0xf;

/** Offsets in `struct seccomp_data`; of an argument, those of the half that the kernel uses as an `int`. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;

/** Codes of linux/bpf_common.h. */
const LOAD = 0x20;
const AND = 0x54;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const RETURN = 0x06;

/** Results of linux/seccomp.h: of a refused call, with the error that it gets. */
const ALLOWED = 0x7fff0000;
const NO_SUCH_CALL = 0x00050000 | 38; // ENOSYS
const NO_SUCH_FAMILY = 0x00050000 | 97; // EAFNOSUPPORT

/** An instruction, or the label of the next one. Labels say where a comparison leads; without one, to the next instruction. */
type Line = string | readonly [code: number, operand: number, ifTrue?: string, ifFalse?: string];

/** The filter, as bubblewrap reads it; null for a machine whose numbers of system calls are not known here. */
export function systemCallFilter(arch: string): Buffer | null {
	const architectures = RUN_BY[arch];
	if (architectures === undefined) return null;
	return assemble([
		[LOAD, ARCHITECTURE],
		...architectures.flatMap(({ audit, socket, socketpair, missing }): Line[] => [
			[IF_EQUAL, audit, undefined, `after ${audit}`],
			[LOAD, NUMBER],
			[IF_AT_LEAST, FIRST_OF_X32, "missing"],
			...missing.map((number): Line => [IF_EQUAL, number, "missing"]),
			[IF_EQUAL, socket, "socket"],
			[IF_EQUAL, socketpair, "socketpair", "allowed"],
			`after ${audit}`,
		]),
		"missing",
		[RETURN, NO_SUCH_CALL],
		"socket",
		[LOAD, FIRST_ARGUMENT],
		...FAMILIES.map((family): Line => [IF_EQUAL, family, "allowed"]),
		[RETURN, NO_SUCH_FAMILY],
		"socketpair",
		[LOAD, FIRST_ARGUMENT],
		[IF_EQUAL, AF_UNIX, undefined, "refused"],
		[LOAD, SECOND_ARGUMENT],
		[AND, TYPE_MASK],
		...PAIR_TYPES.map((type): Line => [IF_EQUAL, type, "allowed"]),
		"refused",
		[RETURN, NO_SUCH_FAMILY],
		"allowed",
		[RETURN, ALLOWED],
	]);
}

/** @returns a list of `struct sock_filter` */
function assemble(lines: readonly Line[]): Buffer {
	const labels = new Map<string, number>();
	const instructions: Exclude<Line, string>[] = [];
	for (const line of lines) {
		if (typeof line === "string") labels.set(line, instructions.length);
		else instructions.push(line);
	}
	const bytes = Buffer.alloc(instructions.length * 8);
	for (const [at, [code, operand, ifTrue, ifFalse]] of instructions.entries()) {
		const distance = (label = "") => (labels.get(label) ?? at + 1) - at - 1;
		bytes.writeUInt16LE(code, at * 8);
		bytes.writeUInt8(distance(ifTrue), at * 8 + 2);
		bytes.writeUInt8(distance(ifFalse), at * 8 + 3);
		bytes.writeUInt32LE(operand, at * 8 + 4);
	}
	return bytes;
}
