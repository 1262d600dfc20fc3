/** Images that models take, by their first bytes. */
const IMAGES: [mimeType: string, magic: RegExp][] = [
	["image/png", /^\x89PNG\r\n\x1a\n/],
	["image/jpeg", /^\xff\xd8\xff/],
	["image/gif", /^GIF8[79]a/],
	["image/webp", /^RIFF.{4}WEBP/s],
];

/** What other files without text are called. */
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

/** How much of a file is looked at. */
const SAMPLE_BYTES = 8192;

/** The type of an image that models take; undefined for all other files. */
export function imageType(bytes: Uint8Array): string | undefined {
	const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
	return IMAGES.find(([, magic]) => magic.test(start))?.[0];
}

/**
 * What a file is when it holds no text, such as "an SQLite database"; undefined for text. UTF-16 with a byte order mark
 * is text.
 */
export function binaryKind(bytes: Uint8Array): string | undefined {
	const sample = Buffer.from(bytes.subarray(0, SAMPLE_BYTES));
	if (utf16Encoding(sample) !== undefined) return undefined;
	const start = sample.toString("latin1", 0, 16);
	const known = BINARIES.find(([, magic]) => magic.test(start))?.[0];
	const hasNul = sample.includes(0);
	if (known !== undefined && (hasNul || !isMostlyText(sample) || known.includes("PDF"))) return known;
	return hasNul || !isMostlyText(sample) ? "a binary file" : undefined;
}

/** The encoding that a byte order mark of UTF-16 announces. */
export function utf16Encoding(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
	if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
	return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : undefined;
}

/** Few control characters: files of old single-byte encodings pass, compressed data does not. */
function isMostlyText(sample: Buffer): boolean {
	let controls = 0;
	for (const byte of sample) if (byte < 0x20 && (byte < 0x07 || byte > 0x0d) && byte !== 0x1b) controls++;
	return controls <= sample.length / 50;
}
