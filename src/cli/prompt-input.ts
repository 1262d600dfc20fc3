import { constants, fstatSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { addAbortSignal, type Readable } from "node:stream";
import { findJsonError } from "../config/json-error.js";
import { resolveUserPath } from "../config/paths.js";
import { errorText, PiError, systemReason } from "../errors.js";
import { imageType } from "../images/image-header.js";
import type { SourceImage } from "../images/sent-image.js";
import { binaryKind, utf16Encoding } from "../tools/file-type.js";
import { plainOutput } from "../tools/output.js";
import { isNotFound, readRegularFile, statOrNull } from "../util/fs.js";
import { isRecord } from "../util/is-record.js";

/** Prompts of a command line. The first includes piped text and files. */
export interface PromptInput {
	/** Absent when there is nothing to send. */
	first?: { text: string; images: SourceImage[] };
	rest: string[];
}

/** Content of the first prompt. */
export interface PromptSources {
	/** Piped text. */
	stdin?: string;
	files?: LoadedFiles;
	messages: readonly string[];
}

/** Content of `@file` arguments. */
export interface LoadedFiles {
	/** A `<file name="…">` block per file. */
	text: string;
	images: SourceImage[];
}

/** Base directories for paths in arguments. */
export interface PathBase {
	cwd: string;
	home: string;
}

/** How long to wait for piped text. */
export interface StdinOptions {
	/** ms to wait for the first byte. Default: until the writer sends or closes. */
	silenceMs?: number;
	signal?: AbortSignal;
}

const MAX_TEXT_BYTES = 10 * 1024 * 1024;

/** Joins piped text, files and the first message, in this order. */
export function composePrompt({ stdin = "", files, messages }: PromptSources): PromptInput {
	const [message = "", ...rest] = messages;
	const text = [stdin, files?.text ?? "", message]
		.map((part) => withoutBlankStart(part).trimEnd())
		.filter(Boolean)
		.join("\n\n");
	const images = files?.images ?? [];
	return text === "" && images.length === 0 ? { rest } : { first: { text, images }, rest };
}

/**
 * Reads `@file` arguments: images as attachments, everything else as text.
 * @param signal stops the wait for the writer of a FIFO
 * @throws PiError `bad_arguments` for a file that is missing, binary or too large, and for stdin
 */
export async function loadFileArguments(
	files: readonly string[],
	base: PathBase,
	signal?: AbortSignal,
): Promise<LoadedFiles> {
	const loaded: LoadedFiles = { text: "", images: [] };
	const blocks: string[] = [];
	for (const file of files) {
		const path = resolveUserPath(file, base.cwd, base.home);
		const bytes = await readArgument(path, file, signal);
		const mimeType = imageType(bytes);
		if (mimeType !== undefined) {
			loaded.images.push({ type: "image", mimeType, data: bytes.toString("base64"), path });
			blocks.push(`<file name="${path}">(image)</file>`);
			continue;
		}
		if (bytes.length > MAX_TEXT_BYTES) throw tooLarge(`@${file}`, MAX_TEXT_BYTES);
		const text = textOf(bytes, `Cannot attach @${file}`, "text or a supported image");
		blocks.push(`<file name="${path}">\n${text}${text.endsWith("\n") ? "" : "\n"}</file>`);
	}
	loaded.text = blocks.join("\n");
	return loaded;
}

/** Decodes a text. @throws PiError `bad_arguments` for binary data */
function textOf(bytes: Buffer, failure: string, expected = "text"): string {
	const kind = binaryKind(bytes);
	if (kind !== undefined) throw new PiError("bad_arguments", `${failure}: it is ${kind}, not ${expected}`);
	return decodeText(bytes);
}

/** A text that can only be meant as a path: a prompt contains spaces. */
const PATH = /^(?:~|\.{1,2})?\/\S*$/;

/**
 * Resolves an option that accepts a text or a file: the content of the file if it exists, otherwise `value`.
 * @throws PiError `file_unreadable` when the file exists but cannot be read, `bad_arguments` for stdin, binary files, and for a
 * path without a file
 */
export async function textOrFile(value: string, base: PathBase): Promise<string> {
	if (value.includes("\n") || value.length > 1024) return value;
	const path = resolveUserPath(value, base.cwd, base.home);
	try {
		return await readText(path, value);
	} catch (error) {
		const isDirectory = statOrNull(path)?.isDirectory() === true;
		if (!isNotFound(error) && !isDirectory) throw error;
		if (!PATH.test(value)) return value;
		const problem = isDirectory ? `${value} is a directory` : `There is no file ${value}`;
		throw new PiError("bad_arguments", problem, { hint: "pass the path of a text file, or the text itself" });
	}
}

/** @param value how the command line names the file */
async function readText(path: string, value: string): Promise<string> {
	refuseStdin(path, value);
	const bytes = isFifo(path) ? await readFifo(path, value) : await readRegularFile(path, { maxBytes: MAX_TEXT_BYTES });
	return textOf(bytes, `Cannot read ${value}`);
}

/**
 * The JSON Schema that `--output-schema` names: a file, or the text itself if it begins with a brace.
 * @throws PiError `bad_arguments` naming what is wrong, and where
 */
export async function readSchemaOption(value: string, base: PathBase): Promise<Record<string, unknown>> {
	const isInline = value.trimStart().startsWith("{");
	const where = `--output-schema${isInline ? "" : ` ${value}`}`;
	const refused = (problem: string, hint: string) => new PiError("bad_arguments", `${where}: ${problem}`, { hint });
	let text = value;
	if (!isInline) {
		try {
			text = await readText(resolveUserPath(value, base.cwd, base.home), value);
		} catch (error) {
			throw refused(systemReason(error), "pass the path of a JSON file, or the schema itself");
		}
	}
	const fault = findJsonError(text);
	if (fault) throw refused(`${fault.line}:${fault.column}: ${fault.reason}`, "a schema is JSON");
	const schema: unknown = JSON.parse(text);
	const { describeSchemaProblem } = await import("../util/check-json.js");
	const problem = await describeSchemaProblem(schema);
	if (problem !== null || !isRecord(schema))
		throw refused(`no JSON Schema: ${problem}`, "it must be one of draft 2020-12");
	return schema;
}

/** Where the text on stdin comes from; null for terminals and devices such as /dev/null, and if stdin is closed. */
export function pipedSource(descriptor = 0): "pipe" | "socket" | "file" | null {
	try {
		const stats = fstatSync(descriptor);
		if (stats.isFIFO()) return "pipe";
		return stats.isSocket() ? "socket" : stats.isFile() ? "file" : null;
	} catch {
		return null; // closed
	}
}

/**
 * Reads piped text until its end. Pass `silenceMs` when the prompt has other text, so that an open but silent pipe does
 * not block it. Escape sequences and other control characters are removed, as from the output of a command.
 * @returns null when nothing arrived in time
 * @throws PiError `bad_arguments` for more than 10 MB and for binary data
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
	const bytes = await readToEnd(stream, "Text from stdin", signal);
	return plainOutput(textOf(bytes, "Cannot read stdin"));
}

/** @throws PiError `bad_arguments` for more than 10 MB; the stream is then destroyed */
async function readToEnd(stream: Readable, source: string, signal?: AbortSignal): Promise<Buffer> {
	const chunks: Buffer[] = [];
	let size = 0;
	if (signal) addAbortSignal(signal, stream);
	for await (const chunk of stream) {
		const bytes = Buffer.from(chunk);
		size += bytes.length;
		if (size > MAX_TEXT_BYTES) throw tooLarge(source, MAX_TEXT_BYTES);
		chunks.push(bytes);
	}
	return Buffer.concat(chunks);
}

/** @throws PiError `bad_arguments` for a path such as /dev/stdin: two readers would share the text */
function refuseStdin(path: string, name: string): void {
	const stats = statOrNull(path);
	if (stats === null || pipedSource() === null) return;
	const { dev, ino } = fstatSync(0);
	if (stats.dev !== dev || stats.ino !== ino) return;
	throw new PiError("bad_arguments", `Cannot read ${name}: it is stdin, which pi reads anyway`, {
		hint: "leave the name out",
	});
}

function isFifo(path: string): boolean {
	return statOrNull(path)?.isFIFO() === true;
}

/** Reads a FIFO, such as that of a process substitution, which can be read only once. Waits for its writers without a thread. */
function readFifo(path: string, source: string, signal?: AbortSignal): Promise<Buffer> {
	const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
	return readToEnd(new Socket({ fd, readable: true, writable: false }), source, signal);
}

/** Decodes UTF-8, or UTF-16 with a byte order mark. */
function decodeText(bytes: Uint8Array): string {
	return new TextDecoder(utf16Encoding(bytes) ?? "utf-8").decode(bytes); // strips the byte order mark
}

/** Waits for data or the end of the stream without consuming anything. */
function firstChunk(
	stream: Readable,
	silenceMs: number | undefined,
	signal?: AbortSignal,
): Promise<"ready" | "silent"> {
	return new Promise((resolve, reject) => {
		if (stream.readableLength > 0 || stream.readableEnded) return resolve("ready");
		const finish = (run: () => void) => () => {
			clearTimeout(timer);
			stream.off("readable", ready).off("end", ready).off("error", ready);
			signal?.removeEventListener("abort", aborted);
			run();
		};
		const ready = finish(() => resolve("ready")); // also on errors: reading the stream reports them
		const aborted = finish(() => reject(signal?.reason));
		const silent = finish(() => resolve("silent"));
		// Timers run before data that arrived while the process was busy is read.
		const timer = silenceMs === undefined ? undefined : setTimeout(() => setImmediate(silent), silenceMs);
		stream.on("readable", ready).on("end", ready).on("error", ready);
		if (signal?.aborted) aborted();
		else signal?.addEventListener("abort", aborted);
	});
}

async function readArgument(path: string, file: string, signal?: AbortSignal): Promise<Buffer> {
	refuseStdin(path, `@${file}`);
	try {
		return isFifo(path) ? await readFifo(path, `@${file}`, signal) : await readRegularFile(path);
	} catch (cause) {
		signal?.throwIfAborted();
		if (cause instanceof PiError && cause.code === "bad_arguments") throw cause;
		const isMissing = isNotFound(cause);
		const isDirectory = statOrNull(path)?.isDirectory() === true;
		const folderHint = isDirectory ? "name the directory without @: the model can list it" : undefined;
		throw new PiError("bad_arguments", `Cannot read @${file}: ${isMissing ? "no such file" : reasonOf(path, cause)}`, {
			hint: isMissing ? "check the path; put a message that starts with @ after --" : folderHint,
		});
	}
}

/** Why a file cannot be read, without its path. */
function reasonOf(path: string, error: unknown): string {
	const text = errorText(error);
	const start = `Cannot read ${path}`;
	if (!text.startsWith(start)) return text;
	return text.slice(start.length).replace(/^: /, "") || errorText(error instanceof PiError ? error.cause : error);
}

function tooLarge(source: string, max: number): PiError {
	return new PiError("bad_arguments", `${source} is larger than ${max / 1024 / 1024} MB`, {
		hint: "name the file in the message; the model can then read the lines it needs",
	});
}

/** A text without blank lines at its start; the indentation of its first line stays. */
function withoutBlankStart(text: string): string {
	const start = text.length - text.trimStart().length;
	return text.slice(text.lastIndexOf("\n", start) + 1);
}
