/** Other binary file types. */
const BINARIES: [name: string, magic: RegExp][] = [
	["a PDF document", /^%PDF-/],
	["a ZIP archive (or a document or package made of one)", /^PK\x03\x04/],
	["a gzip archive", /^\x1f\x8b/],
	["an xz archive", /^\xfd7zXZ/],
	["a Zstandard archive", /^\x28\xb5\x2f\xfd/],
	["a bzip2 archive", /^BZh[1-9]/],
	["an executable (ELF)", /^\x7fELF/],
	["an executable (Mach-O)", /^(?:\xcf\xfa\xed\xfe|\xfe\xed\xfa\xcf|\xca\xfe\xba\xbe)/],
	["an executable (Windows)", /^MZ/],
	["a WebAssembly module", /^\0asm/],
	["an SQLite database", /^SQLite format 3\0/],
	["an image (TIFF)", /^(?:II\*\0|MM\0\*)/],
	["an image (BMP)", /^BM.{4}\0\0\0\0/s],
	["an image (AVIF or HEIC)", /^.{4}ftyp(?:avif|heic|heix|mif1)/s],
	["a video or audio file (MP4)", /^.{4}ftyp/s],
	["an audio file (Ogg)", /^OggS/],
	["an audio file (MP3)", /^ID3/],
];

/** Only the start of a file is checked. */
export const SAMPLE_BYTES = 8192;

/** Describes a binary file, such as "an SQLite database"; undefined for text, including UTF-16 with a byte order mark. */
export function binaryKind(bytes: Uint8Array): string | undefined {
	const sample = Buffer.from(bytes.subarray(0, SAMPLE_BYTES));
	if (utf16Encoding(sample) !== undefined) return undefined;
	const start = sample.toString("latin1", 0, 16);
	const known = BINARIES.find(([, magic]) => magic.test(start))?.[0];
	const hasNul = sample.includes(0);
	if (known !== undefined && (hasNul || !isMostlyText(sample) || known.includes("PDF"))) return known;
	return hasNul || !isMostlyText(sample) ? "a binary file" : undefined;
}

/** The encoding of a text with a UTF-16 byte order mark. */
export function utf16Encoding(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
	if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
	return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : undefined;
}

/** Whether control characters are rare, as in legacy single-byte encodings but not in compressed data. */
function isMostlyText(sample: Buffer): boolean {
	let controls = 0;
	for (const byte of sample) if (byte < 0x20 && (byte < 0x07 || byte > 0x0d) && byte !== 0x1b) controls++;
	return controls <= sample.length / 50;
}
