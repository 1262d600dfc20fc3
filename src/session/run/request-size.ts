import type { Api, Context, Model } from "@mariozechner/pi-ai";
import { formatBytes } from "../../tools/output.js";

/** JSON takes at most 6 bytes for a UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 6;

/** Why a request must not be sent, because it is larger than its provider accepts; null if it is not. */
export function describeRequestSize(model: Model<Api>, context: Context): string | null {
	const limit = model.inputLimits?.maxRequestBytes;
	if (limit === undefined) return null;
	const { images, units } = countUnits(context);
	// Measuring exactly takes milliseconds, and few requests are near the limit.
	if (images.bytes + units * MAX_BYTES_PER_UNIT <= limit) return null;
	const bytes = jsonBytes(context);
	if (bytes <= limit) return null;
	const number = images.count === 1 ? "1 image" : `${images.count} images`;
	const withImages = images.count === 0 ? "" : `, ${formatBytes(images.bytes)} of it in ${number}`;
	const before = images.count === 0 ? "" : ", or take the images back with /branch";
	return `The request is too large: ${formatBytes(bytes)}${withImages}, but ${model.name} accepts ${formatBytes(limit)}; free context with /compact${before}`;
}

/** Images, and UTF-16 units of all other parts. */
function countUnits({ systemPrompt = "", messages, tools = [] }: Context) {
	const images = { count: 0, bytes: 0 };
	let units = systemPrompt.length + JSON.stringify(tools).length;
	for (const { content } of messages) {
		if (typeof content === "string") units += content.length;
		else
			for (const block of content ?? []) {
				if (block.type !== "image") units += JSON.stringify(block).length;
				else {
					images.count += 1;
					images.bytes += block.data.length;
				}
			}
	}
	return { images, units };
}

/** The size of the parts that every wire format contains. */
function jsonBytes({ systemPrompt = "", messages, tools = [] }: Context): number {
	const parts = { systemPrompt, tools, messages: messages.map(({ role, content }) => ({ role, content })) };
	return Buffer.byteLength(JSON.stringify(parts));
}
