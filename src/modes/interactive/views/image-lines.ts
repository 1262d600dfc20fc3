import type { ImageContent } from "@mariozechner/pi-ai";
import { originalOf } from "../../../images/sent-image.js";
import { base64Bytes, type ImageSize, imageSize } from "../../../tui/image-size.js";
import { clipLine } from "../../../tui/line.js";
import type { ImageProtocol } from "../../../tui/terminal-images.js";
import { cleanLine } from "../clean-text.js";
import type { ViewStyle } from "./view.js";

/** An image and its name for the user, which may be empty. */
export interface NamedImage {
	readonly image: ImageContent;
	readonly name: string;
}

/** The images of one message: drawn if the terminal supports that, else described in one line each. */
export class ImageLines {
	/** Ids of the images, null for those that cannot be drawn. Cached until they can be drawn otherwise. */
	#ids: (number | null)[] = [];
	#protocol: ImageProtocol | null | undefined;

	constructor(
		private readonly style: ViewStyle,
		private readonly images: readonly NamedImage[],
	) {}

	/** True when an image is drawn: its block then appears and disappears in one piece. */
	get isDrawn(): boolean {
		return this.#found().some((id) => id !== null);
	}

	/** @returns lines of at most `width` columns. A caption names the original of an image that was scaled. */
	lines(width: number): string[] {
		const ids = this.#found();
		const room = { columns: width, rows: this.style.imageRows() };
		return this.images.flatMap((named, at) => {
			const id = ids[at] ?? null;
			const lines = id === null ? null : this.style.images.lines(id, room);
			const reason =
				id === null && this.style.images.cannotDraw(named.image.mimeType) ? "this terminal supports PNG only" : "";
			const isDescribed = lines === null || originalOf(named.image) !== null;
			const caption = isDescribed ? describe(named, reason) : [];
			return [...(lines ?? []), ...caption.map((line) => this.style.theme.dim(clipLine(line, width)))];
		});
	}

	#found(): readonly (number | null)[] {
		const { images } = this.style;
		if (this.#protocol === undefined || this.#protocol !== images.protocol) {
			this.#ids = this.images.map(({ image }) => images.add(image));
			this.#protocol = images.protocol;
		}
		return this.#ids;
	}
}

/**
 * `image  photo.png  640×480  png  34 KB` and why it is not drawn. A scaled image has both sizes, and a line with the path
 * of its original. Omits unknown facts.
 */
function describe({ image, name }: NamedImage, reason: string): string[] {
	const size = imageSize(image.data, image.mimeType);
	const original = originalOf(image);
	const type = (mimeType: string) => cleanLine(mimeType.replace(/^image\//, ""), 20);
	const pixels = (of: ImageSize) => `${of.width}×${of.height}`;
	const facts = [
		cleanLine(name, 80),
		both(original && pixels(original), size ? pixels(size) : ""),
		both(original && type(original.mimeType), type(image.mimeType)),
		both(original && formatSize(original.bytes), formatSize(base64Bytes(image.data))),
		reason,
	];
	const line = ["image", ...facts.filter(Boolean)].join("  ");
	return original?.path ? [line, `original  ${cleanLine(original.path, 400)}`] : [line];
}

/** A fact of the original and of the sent image; once if they are equal. */
function both(original: string | null, sent: string): string {
	return original === null || original === sent ? sent : `${original} → ${sent}`;
}

function formatSize(bytes: number): string {
	const kilobytes = bytes / 1024;
	return kilobytes < 1000 ? `${Math.max(1, Math.round(kilobytes))} KB` : `${(kilobytes / 1024).toFixed(1)} MB`;
}
