import {
	chmodSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { gzipSync } from "node:zlib";

/** Content of a file: text, bytes, a value to write as JSON, a symbolic link, or a file that can be executed. */
export type FileContent =
	| string
	| Uint8Array
	| { readonly json: unknown }
	| { readonly link: string }
	| { readonly program: string };

/** Files of a package by relative path. A tarball has the paths as they are, hostile ones included. */
export type FileMap = Readonly<Record<string, FileContent>>;

/** A package in memory. */
export interface PackageFixture {
	readonly name: string;
	readonly version: string;
	/** Contains package.json. */
	readonly files: FileMap;
}

/** Defines a package with a manifest and other files. */
export function definePackage(
	manifest: { readonly name: string; readonly version?: string } & Readonly<Record<string, unknown>>,
	files: FileMap,
): PackageFixture {
	const { name, version = "1.0.0", ...rest } = manifest;
	return { name, version, files: { "package.json": { json: { name, version, ...rest } }, ...files } };
}

/** Bytes of a file; empty for a link. */
export function bytesOf(content: FileContent): Buffer {
	if (typeof content === "string") return Buffer.from(content);
	if (content instanceof Uint8Array) return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
	if ("json" in content) return Buffer.from(`${JSON.stringify(content.json, null, "\t")}\n`);
	return Buffer.from("program" in content ? content.program : "");
}

function modeOf(content: FileContent): number {
	return typeof content === "object" && "program" in content ? 0o755 : 0o644;
}

function linkOf(content: FileContent): string | null {
	return typeof content === "object" && "link" in content ? content.link : null;
}

/**
 * Writes files into a directory, which is created if missing, and replaces those that exist.
 * @throws Error for a path outside the directory, which only a tarball can have
 */
export function writePackage(directory: string, files: FileMap): void {
	for (const [path, content] of Object.entries(files)) {
		const target = resolve(directory, path);
		if (!target.startsWith(`${resolve(directory)}${sep}`)) throw new Error(`${path} is outside ${directory}`);
		mkdirSync(dirname(target), { recursive: true });
		const link = linkOf(content);
		if (link !== null) symlinkSync(link, target);
		else {
			writeFileSync(target, bytesOf(content));
			chmodSync(target, modeOf(content));
		}
	}
}

/** Reads a directory, without `node_modules` and `.git`. */
export function readPackage(directory: string): PackageFixture {
	const files: Record<string, FileContent> = {};
	const read = (dir: string) => {
		for (const name of readdirSync(dir).sort()) {
			if (name === "node_modules" || name === ".git") continue;
			const path = join(dir, name);
			const found = lstatSync(path);
			if (found.isDirectory()) read(path);
			else if (found.isSymbolicLink()) files[relative(directory, path)] = { link: readlinkSync(path) };
			else files[relative(directory, path)] = readFileSync(path);
		}
	};
	read(directory);
	const { name, version } = manifestOf({ files });
	return { name, version, files };
}

/** The package.json of a package. @throws Error for one without name and version */
export function manifestOf({ files }: Pick<PackageFixture, "files">): { name: string; version: string } {
	const manifest: unknown = JSON.parse(bytesOf(files["package.json"] ?? "null").toString());
	if (
		typeof manifest !== "object" ||
		manifest === null ||
		!("name" in manifest && typeof manifest.name === "string") ||
		!("version" in manifest && typeof manifest.version === "string")
	)
		throw new Error("package.json has no name or no version");
	return { ...manifest, name: manifest.name, version: manifest.version };
}

const BLOCK = 512;

/** Packs files like `npm pack`: a compressed tarball whose paths start with `package/`. */
export function packTarball(files: FileMap): Buffer {
	const blocks = Object.entries(files).flatMap(([path, content]) => {
		const data = bytesOf(content);
		const padding = Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK);
		return [header(`package/${path}`, content, data.length), data, padding];
	});
	return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]));
}

/** The header of a file in a tarball (ustar). @throws Error for a path that is too long for it */
function header(path: string, content: FileContent, size: number): Buffer {
	const block = Buffer.alloc(BLOCK);
	const link = linkOf(content);
	if (Buffer.byteLength(path) > 100) throw new Error(`${path} is too long for a tarball`);
	const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, "0")}\0`;
	block.write(path, 0);
	block.write(octal(modeOf(content), 8), 100);
	block.write(octal(0, 8), 108);
	block.write(octal(0, 8), 116);
	block.write(octal(size, 12), 124);
	block.write(octal(499_162_500, 12), 136); // the date that npm writes
	block.write(" ".repeat(8), 148);
	block.write(link === null ? "0" : "2", 156);
	block.write(link ?? "", 157);
	block.write("ustar\x0000", 257);
	const checksum = block.reduce((sum, byte) => sum + byte, 0);
	block.write(`${checksum.toString(8).padStart(6, "0")}\0 `, 148);
	return block;
}
