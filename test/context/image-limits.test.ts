import type { Message, Model } from "@mariozechner/pi-ai";
import { expect, test } from "vitest";
import { limitImages } from "../../src/context/image-limits.js";
import { png } from "../helpers/images.js";
import { model } from "../helpers/model.js";

const small = png(4, 4);
const user = (...images: (typeof small)[]): Message => ({
	role: "user",
	content: [{ type: "text", text: "look" }, ...images],
	timestamp: 0,
});
const result = (image: typeof small): Message => ({
	...{ role: "toolResult", toolCallId: "a", toolName: "read", isError: false, timestamp: 0 },
	content: [image],
});
const reply: Message = {
	...{ role: "assistant", api: "a", provider: "p", model: "m", stopReason: "stop", timestamp: 0 },
	content: [{ type: "text", text: "ok" }],
	usage: {
		...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	},
};
const limited = (images: NonNullable<Model<string>["inputLimits"]>["images"]) =>
	model("lab", "a", { name: "A", input: ["text", "image"], inputLimits: { images } });

/** One letter per image: `i` sent, `x` replaced. */
function sent(messages: Message[], images: Parameters<typeof limited>[0]): string {
	const found = limitImages(messages, limited(images));
	const words = found.messages.flatMap(({ content }) =>
		(typeof content === "string" ? [] : content).flatMap((block) => {
			if (block.type === "image") return ["i"];
			return block.type === "text" && block.text.startsWith("[An image was here") ? ["x"] : [];
		}),
	);
	expect(found.omitted).toBe(words.filter((word) => word === "x").length);
	return words.join("");
}

const turns = (count: number) => Array.from({ length: count }, () => [user(small), reply]).flat();

test("without limits, or within them, the list is the same", () => {
	const messages = turns(3);
	expect(limitImages(messages, model("lab", "a", { input: ["text", "image"] })).messages).toBe(messages);
	expect(limitImages(messages, limited({ maxPerRequest: 3, maxPerMessage: 1 })).messages).toBe(messages);
	expect(limitImages([user(), reply], limited({ maxPerRequest: 1 })).omitted).toBe(0);
});

test("the oldest images beyond the limit of a request are replaced, a quarter of the limit at once", () => {
	expect(sent(turns(8), { maxPerRequest: 8 })).toBe("iiiiiiii");
	// The start stays the same for the next request, and with it the prompt cache.
	expect(sent(turns(9), { maxPerRequest: 8 })).toBe("xxiiiiiii");
	expect(sent(turns(10), { maxPerRequest: 8 })).toBe("xxiiiiiiii");
	expect(sent(turns(11), { maxPerRequest: 8 })).toBe("xxxxiiiiiii");
	expect(sent(turns(3), { maxPerRequest: 1 })).toBe("xxi");
});

test("results without a reply between them are one message for a provider", () => {
	const messages = [
		user(small),
		reply,
		result(small),
		result(small),
		result(small),
		user(small),
		reply,
		user(small, small),
	];
	expect(sent(messages, { maxPerMessage: 2 })).toBe("ixxiiii");
});

test("an image that is larger than the model accepts is replaced, with the path of its original", () => {
	const original = { width: 9, height: 9, mimeType: "image/png", bytes: 1, path: "/tmp/a.png" };
	const large = { ...png(20, 8), original };
	const [message] = limitImages([user(large, small)], limited({ resize: { maxWidth: 10, maxHeight: 10 } })).messages;
	expect(message?.content).toEqual([
		{ type: "text", text: "look" },
		{
			type: "text",
			text: "[An image was here. It is not sent, because it is larger than A accepts; the original is /tmp/a.png]",
		},
		small,
	]);
	expect(sent([user(png(20, 8), small)], { resize: { maxBytes: small.data.length } })).toBe("xi");
	expect(sent([user(png(20, 8))], { resize: { maxWidth: 20, maxHeight: 8 } })).toBe("i");
});

test("a model without vision gets the placeholders of its client", () => {
	const blind = model("lab", "a", { input: ["text"], inputLimits: { images: { maxPerRequest: 1 } } });
	const messages = turns(3);
	expect(limitImages(messages, blind).messages).toBe(messages);
});
