import { spawn } from "node:child_process";
import type { ImageContent } from "@mariozechner/pi-ai";

/** A program that writes the clipboard's image to standard output. */
export type ImageProgram = readonly [string, ...string[]];

const MAX_BYTES = 20 * 1024 * 1024;
/** A program that takes longer hangs on a display that is not there, ms. */
const TIMEOUT_MS = 3000;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

/** Images that were pasted into the editor: a mark stands for each in the text until it is sent. */
export class PastedImages {
	readonly #images = new Map<string, ImageContent>();

	/** @param insert puts a mark where the cursor is */
	constructor(
		private readonly insert: (mark: string) => void,
		private readonly programs: readonly ImageProgram[] = platformPrograms(),
	) {}

	/** Takes the image out of the clipboard. @returns what to tell the user, null when all is well */
	async paste(): Promise<string | null> {
		for (const program of this.programs) {
			const data = imageOf(await output(program));
			if (!data) continue;
			const mark = `[image #${this.#images.size + 1}]`;
			this.#images.set(mark, { type: "image", data: data.toString("base64"), mimeType: "image/png" });
			this.insert(`${mark} `);
			return null;
		}
		return "there is no image in the clipboard that can be read";
	}

	/** The images whose marks are in a text, in their order there. */
	in(text: string): ImageContent[] {
		return [...text.matchAll(/\[image #\d+\]/g)].flatMap(([mark]) => this.#images.get(mark) ?? []);
	}
}

function platformPrograms(): ImageProgram[] {
	switch (process.platform) {
		case "darwin":
			return [
				["pngpaste", "-"],
				["osascript", "-e", "get the clipboard as «class PNGf»"],
			];
		case "win32":
			return [];
		default:
			return [
				["wl-paste", "--type", "image/png"],
				["xclip", "-selection", "clipboard", "-t", "image/png", "-o"],
			];
	}
}

function imageOf(bytes: Buffer): Buffer | null {
	if (bytes.subarray(0, PNG.length).equals(PNG)) return bytes;
	// AppleScript writes the bytes in hexadecimal.
	const hex = /«data PNGf([0-9A-F]+)»/.exec(bytes.subarray(0, MAX_BYTES).toString("utf8"))?.[1];
	return hex ? Buffer.from(hex, "hex") : null;
}

/** What a program writes; nothing when it is missing, fails or writes too much. */
function output([command, ...args]: ImageProgram): Promise<Buffer> {
	return new Promise((resolve) => {
		const child = spawn(command, args, { stdio: ["ignore", "pipe", "ignore"], timeout: TIMEOUT_MS });
		const chunks: Buffer[] = [];
		let size = 0;
		child.stdout.on("data", (chunk: Buffer) => {
			size += chunk.length;
			if (size > MAX_BYTES) child.kill();
			else chunks.push(chunk);
		});
		child.once("error", () => resolve(Buffer.alloc(0)));
		child.once("close", (code) => resolve(code === 0 ? Buffer.concat(chunks) : Buffer.alloc(0)));
	});
}
