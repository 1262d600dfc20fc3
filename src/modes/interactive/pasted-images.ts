import { spawn } from "node:child_process";
import { imageType } from "../../images/header.js";
import type { SourceImage } from "../../images/sent-image.js";
import { readRegularFileSync } from "../../util/fs.js";

/** A program that writes the clipboard's image to standard output. */
export type ImageProgram = readonly [string, ...string[]];

const MAX_BYTES = 50 * 1024 * 1024;
/** Timeout of a program, ms. Programs hang when the display is unreachable. */
const TIMEOUT_MS = 3000;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
/** Writes the image in Base64, because PowerShell treats binary output as text. */
const POWERSHELL = [
	"Add-Type -AssemblyName System.Windows.Forms,System.Drawing",
	"$image = [Windows.Forms.Clipboard]::GetImage()",
	"if ($image) { $png = New-Object IO.MemoryStream",
	"$image.Save($png, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($png.ToArray()) }",
].join("; ");

/** Images pasted into the editor. A mark in the text represents each image until the prompt is sent. */
export class PastedImages {
	readonly #images = new Map<string, SourceImage>();

	/** @param insert inserts a mark at the cursor */
	constructor(
		private readonly insert: (mark: string) => void,
		private readonly programs: readonly ImageProgram[] = platformPrograms(),
	) {}

	/** Pastes the image of the clipboard. @returns a hint for the user when that fails, else null */
	async paste(): Promise<string | null> {
		let isAnyInstalled = false;
		for (const program of this.programs) {
			const bytes = await output(program);
			isAnyInstalled ||= bytes !== null;
			const data = bytes && imageOf(bytes);
			if (!data) continue;
			this.insert(`${this.#add(data, { mimeType: "image/png" })} `);
			return null;
		}
		return isAnyInstalled
			? "the clipboard contains no supported image"
			: `no program found that reads images from the clipboard · install ${installable()}`;
	}

	/** Attaches an image file. @returns its mark; null when the file is not an image that models accept */
	addFile(path: string): string | null {
		try {
			const data = readRegularFileSync(path, { maxBytes: MAX_BYTES });
			const mimeType = imageType(data);
			return mimeType === undefined ? null : this.#add(data, { mimeType, path });
		} catch {
			return null; // a folder, too large or unreadable: the caller mentions the path instead
		}
	}

	/** The images whose marks occur in a text, in text order. */
	in(text: string): SourceImage[] {
		return [...text.matchAll(/\[image #\d+\]/g)].flatMap(([mark]) => this.#images.get(mark) ?? []);
	}

	#add(data: Buffer, from: Pick<SourceImage, "mimeType" | "path">): string {
		const mark = `[image #${this.#images.size + 1}]`;
		this.#images.set(mark, { type: "image", data: data.toString("base64"), ...from });
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
				// WSL uses the clipboard of Windows.
				["powershell.exe", "-NoProfile", "-STA", "-Command", POWERSHELL],
			];
	}
}

function installable(): string {
	if (process.platform === "darwin") return "pngpaste";
	return process.platform === "win32" ? "PowerShell" : "wl-clipboard or xclip";
}

function imageOf(bytes: Buffer): Buffer | null {
	if (bytes.subarray(0, PNG.length).equals(PNG)) return bytes;
	const text = bytes.subarray(0, MAX_BYTES).toString("utf8");
	// AppleScript writes the bytes in hexadecimal.
	const hex = /«data PNGf([0-9A-F]+)»/.exec(text)?.[1];
	if (hex) return Buffer.from(hex, "hex");
	return /^iVBORw0KGgo[\w+/]*={0,2}\s*$/.test(text) ? Buffer.from(text, "base64") : null;
}

/** Output of a program: empty when it fails or writes too much, null when it is not installed. */
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
