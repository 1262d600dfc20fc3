import { spawn } from "node:child_process";

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

/**
 * Reads the image of the clipboard.
 * @param programs tried in this order
 * @returns the image as PNG, or a hint for the user
 */
export async function readClipboardImage(
	programs: readonly ImageProgram[] = platformPrograms(),
): Promise<Buffer | string> {
	let isAnyInstalled = false;
	for (const program of programs) {
		const bytes = await output(program);
		isAnyInstalled ||= bytes !== null;
		const image = bytes && imageOf(bytes);
		if (image) return image;
	}
	return isAnyInstalled
		? "the clipboard contains no supported image"
		: `no program found that reads images from the clipboard · install ${installable()}`;
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
