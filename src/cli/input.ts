import { fstatSync, statSync } from "node:fs";
import type { Readable } from "node:stream";
import type { ImageContent } from "@mariozechner/pi-ai";
import { resolveUserPath } from "../config/paths.js";
import { PiError } from "../errors.js";
import { binaryKind, imageType, utf16Encoding } from "../tools/file-type.js";
import { isNotFound, readRegularFile } from "../util/fs.js";

/** The prompts that a command line makes: the first with what was piped in and the files, the others after it. */
export interface PromptInput {
	/** Absent when there is nothing to send. */
	first?: { text: string; images: ImageContent[] };
	rest: string[];
}

/** What goes into the first prompt. */
export interface PromptParts {
	/** What was piped in. */
	stdin?: string;
	files?: LoadedFiles;
	messages: readonly string[];
}

/** `@file` arguments, read. */
export interface LoadedFiles {
	/** A `<file name="…">` block per file. */
	text: string;
	images: ImageContent[];
}

/** How paths in arguments are understood. */
export interface PathBase {
	cwd: string;
	home: string;
}

/** How long to wait for what is piped in. */
export interface StdinOptions {
	/** ms to wait for the first byte; absent waits until the other side ends or sends. */
	silenceMs?: number;
	signal?: AbortSignal;
}

/** Providers count the 5 MB in base64. */
const MAX_IMAGE_BYTES = (5 * 1024 * 1024 * 3) / 4;
const MAX_TEXT_BYTES = 10 * 1024 * 1024;

/** Puts the parts together: what was piped in, then files, then the first message. */
export function composePrompt({ stdin = "", files, messages }: PromptParts): PromptInput {
	const [message = "", ...rest] = messages;
	const text = [stdin, files?.text ?? "", message]
		.map((part) => part.replace(/^\s*\n|\s+$/g, ""))
		.filter(Boolean)
		.join("\n\n");
	const images = files?.images ?? [];
	return text === "" && images.length === 0 ? { rest } : { first: { text, images }, rest };
}

/**
 * Reads `@file` arguments: images as images, everything else as text.
 * @throws PiError `bad_arguments` for a file that is missing, binary or too large
 */
export async function loadFileArguments(files: readonly string[], base: PathBase): Promise<LoadedFiles> {
	const loaded: LoadedFiles = { text: "", images: [] };
	const blocks: string[] = [];
	for (const file of files) {
		const path = resolveUserPath(file, base.cwd, base.home);
		const bytes = await readArgument(path, file);
		const mimeType = imageType(bytes);
		if (mimeType !== undefined) {
			if (bytes.length > MAX_IMAGE_BYTES) throw tooLarge(file, MAX_IMAGE_BYTES);
			loaded.images.push({ type: "image", mimeType, data: bytes.toString("base64") });
			blocks.push(`<file name="${path}">(image)</file>`);
			continue;
		}
		const kind = binaryKind(bytes);
		if (kind !== undefined) {
			throw new PiError("bad_arguments", `@${file} is ${kind}, neither text nor an image that models take`);
		}
		const text = new TextDecoder(utf16Encoding(bytes) ?? "utf-8").decode(bytes); // drops the byte order mark
		blocks.push(`<file name="${path}">\n${text}${text.endsWith("\n") ? "" : "\n"}</file>`);
	}
	loaded.text = blocks.join("\n");
	return loaded;
}

/**
 * The text of an option that takes a text or a file: the content when it names a file, else itself.
 * @throws PiError `file_unreadable` when the file is there and cannot be read
 */
export async function textOrFile(value: string, base: PathBase): Promise<string> {
	if (value.includes("\n") || value.length > 1024) return value;
	const path = resolveUserPath(value, base.cwd, base.home);
	try {
		const bytes = await readRegularFile(path, { maxBytes: MAX_TEXT_BYTES });
		return bytes.toString("utf8").replace(/^\ufeff/, "");
	} catch (error) {
		if (isNotFound(error) || statSync(path, { throwIfNoEntry: false })?.isDirectory()) return value;
		throw error;
	}
}

/** True when something is piped or redirected into a descriptor: never for a terminal or a device such as /dev/null. */
export function isPiped(descriptor = 0): boolean {
	try {
		const stats = fstatSync(descriptor);
		return stats.isFIFO() || stats.isFile() || stats.isSocket();
	} catch {
		return false; // closed
	}
}

/**
 * Reads what is piped in, to its end. A pipe that is open and silent must not keep a prompt waiting that has text of
 * its own: give `silenceMs` then.
 * @returns null when nothing came in time
 * @throws PiError `bad_arguments` when it is more than 10 MB
 */
export async function readPipedText(
	stream: Readable,
	{ silenceMs, signal }: StdinOptions = {},
): Promise<string | null> {
	const started = await firstChunk(stream, silenceMs, signal);
	if (started === "silent") {
		stream.destroy();
		return null;
	}
	const chunks: Buffer[] = [];
	let size = 0;
	for await (const chunk of stream) {
		signal?.throwIfAborted();
		const bytes = Buffer.from(chunk);
		size += bytes.length;
		if (size > MAX_TEXT_BYTES) throw tooLarge("what is piped in", MAX_TEXT_BYTES);
		chunks.push(bytes);
	}
	return Buffer.concat(chunks)
		.toString("utf8")
		.replace(/^\ufeff/, "");
}

/** Waits until there is something to read or the end, without taking it. */
function firstChunk(
	stream: Readable,
	silenceMs: number | undefined,
	signal?: AbortSignal,
): Promise<"ready" | "silent"> {
	return new Promise((resolve, reject) => {
		if (stream.readableLength > 0 || stream.readableEnded) return resolve("ready");
		const settle = (run: () => void) => () => {
			clearTimeout(timer);
			stream.off("readable", ready).off("end", ready).off("error", failed);
			signal?.removeEventListener("abort", aborted);
			run();
		};
		const ready = settle(() => resolve("ready"));
		const failed = settle(() => resolve("ready")); // reading it reports the error
		const aborted = settle(() => reject(signal?.reason));
		const timer =
			silenceMs === undefined
				? undefined
				: setTimeout(
						settle(() => resolve("silent")),
						silenceMs,
					);
		stream.on("readable", ready).on("end", ready).on("error", failed);
		if (signal?.aborted) aborted();
		else signal?.addEventListener("abort", aborted);
	});
}

async function readArgument(path: string, file: string): Promise<Buffer> {
	try {
		return await readRegularFile(path, { maxBytes: MAX_TEXT_BYTES });
	} catch (cause) {
		throw new PiError("bad_arguments", `Cannot read @${file}`, {
			cause,
			hint: isNotFound(cause) ? "check the path; a message that begins with @ goes behind --" : undefined,
		});
	}
}

function tooLarge(what: string, max: number): PiError {
	return new PiError("bad_arguments", `${what} is larger than ${max / 1024 / 1024} MB`, {
		hint: "name the file in the message, so that the model reads what it needs",
	});
}
