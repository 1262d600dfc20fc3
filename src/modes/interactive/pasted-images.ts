import { spawn } from "node:child_process";
import type { ImageContent } from "@mariozechner/pi-ai";
import { imageType } from "../../tools/file-type.js";
import { readRegularFileSync } from "../../util/fs.js";

/** A program that writes the clipboard's image to standard output. */
export type ImageProgram = readonly [string, ...string[]];

const MAX_BYTES = 20 * 1024 * 1024;
/** A program that takes longer hangs on a display that is not there, ms. */
const TIMEOUT_MS = 3000;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
/** Writes the image in Base64: PowerShell would take bytes for text. */
const POWERSHELL = [
	"Add-Type -AssemblyName System.Windows.Forms,System.Drawing",
	"$image = [Windows.Forms.Clipboard]::GetImage()",
	"if ($image) { $png = New-Object IO.MemoryStream",
	"$image.Save($png, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($png.ToArray()) }",
].join("; ");

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
		let isAnyThere = false;
		for (const program of this.programs) {
			const bytes = await output(program);
			isAnyThere ||= bytes !== null;
			const data = bytes && imageOf(bytes);
			if (!data) continue;
			this.insert(`${this.#add(data, "image/png")} `);
			return null;
		}
		return isAnyThere
			? "there is no image in the clipboard that can be read"
			: `no program that reads images from the clipboard is there · install ${installable()}`;
	}

	/** Takes an image out of a file. @returns its mark; null when the file is no image that models take */
	addFile(path: string): string | null {
		try {
			const data = readRegularFileSync(path, { maxBytes: MAX_BYTES });
			const mimeType = imageType(data);
			return mimeType === undefined ? null : this.#add(data, mimeType);
		} catch {
			return null; // a folder, too large, or not ours to read: it is named, not attached
		}
	}

	/** The images whose marks are in a text, in their order there. */
	in(text: string): ImageContent[] {
		return [...text.matchAll(/\[image #\d+\]/g)].flatMap(([mark]) => this.#images.get(mark) ?? []);
	}

	#add(data: Buffer, mimeType: string): string {
		const mark = `[image #${this.#images.size + 1}]`;
		this.#images.set(mark, { type: "image", data: data.toString("base64"), mimeType });
		return mark;
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
			return [["powershell", "-NoProfile", "-STA", "-Command", POWERSHELL]];
		default:
			return [
				["wl-paste", "--type", "image/png"],
				["xclip", "-selection", "clipboard", "-t", "image/png", "-o"],
				// Linux on Windows has the clipboard of Windows.
				["powershell.exe", "-NoProfile", "-STA", "-Command", POWERSHELL],
			];
	}
}

function installable(): string {
	switch (process.platform) {
		case "darwin":
			return "pngpaste";
		case "win32":
			return "PowerShell";
		default:
			return "wl-clipboard or xclip";
	}
}

function imageOf(bytes: Buffer): Buffer | null {
	if (bytes.subarray(0, PNG.length).equals(PNG)) return bytes;
	const text = bytes.subarray(0, MAX_BYTES).toString("utf8");
	// AppleScript writes the bytes in hexadecimal.
	const hex = /«data PNGf([0-9A-F]+)»/.exec(text)?.[1];
	if (hex) return Buffer.from(hex, "hex");
	return /^iVBORw0KGgo[\w+/]*={0,2}\s*$/.test(text) ? Buffer.from(text, "base64") : null;
}

/** What a program writes: nothing when it fails or writes too much, null when it is missing. */
function output([command, ...args]: ImageProgram): Promise<Buffer | null> {
	return new Promise((resolve) => {
		const child = spawn(command, args, { stdio: ["ignore", "pipe", "ignore"], timeout: TIMEOUT_MS });
		const chunks: Buffer[] = [];
		let size = 0;
		child.stdout.on("data", (chunk: Buffer) => {
			size += chunk.length;
			if (size > MAX_BYTES) child.kill();
			else chunks.push(chunk);
		});
		child.once("error", () => resolve(null));
		child.once("close", (code) => resolve(code === 0 ? Buffer.concat(chunks) : Buffer.alloc(0)));
	});
}
