/**
 * `pi --describe-images provider/model`: a model that can see describes each image once, and the session's own model gets the
 * description instead. So a model without vision can work with screenshots, and an image does not cost its tokens in every request.
 *
 * `pi.derive` asks before the request, and the session remembers the answer: a description is an entry.
 */
import {
	type AppMessage,
	convertToLlm,
	type HookAPI,
	type HookEventContext,
	isMessageEntry,
	messageText,
	type SessionEntry,
} from "@mariozechner/pi-coding-agent/hooks";

interface Image {
	mimeType: string;
	data: string;
}

const TASK =
	"Describe this image for a colleague who cannot see it and works on the program it comes from: first what it is, then all text " +
	"word for word, then layout, colors and what looks wrong. Say nothing else.";

export default function describeImages(pi: HookAPI): void {
	pi.flag("describe-images", { type: "string", description: "A model that describes images, as provider/model" });
	pi.entry("describe-images:description", {
		render: (_, theme) => theme.dim("◇ an image was described for the model"),
	});

	const descriptions = pi.derive<Image, string>("description", {
		at: "turn_start",
		from: (entries) => entries.flatMap(imagesOf),
		run: describe,
	});

	pi.on("context", ({ entries, messages, facts }) => {
		if (typeof facts.flags["describe-images"] !== "string") return undefined;
		let isChanged = false;
		const described = messages.map((item) => {
			const message = withDescriptions(item.message, (image) => descriptions.get(image, entries));
			isChanged ||= message !== item.message;
			return message === item.message ? item : { message, entryIndex: item.entryIndex };
		});
		return isChanged ? { messages: described } : undefined;
	});
}

async function describe({ mimeType, data }: Image, ctx: HookEventContext): Promise<string | undefined> {
	const name = ctx.flags["describe-images"];
	if (typeof name !== "string") return undefined;
	const [provider = "", ...id] = name.split("/");
	const model = ctx.findModel(provider, id.join("/"));
	if (!model?.input.includes("image")) throw new Error(`--describe-images ${name} is no model that can see`);
	const content = [
		{ type: "image" as const, mimeType, data },
		{ type: "text" as const, text: TASK },
	];
	const context = { messages: convertToLlm([{ role: "user", content, timestamp: Date.now() }]) };
	const reply = await (await ctx.stream(model, context, { signal: ctx.signal })).result();
	const text = messageText(reply).trim();
	if (reply.stopReason === "error" || text === "")
		throw new Error(reply.errorMessage ?? `${model.name} described nothing`);
	return text;
}

/** The images of an entry. */
function imagesOf(entry: SessionEntry): Image[] {
	if (!isMessageEntry(entry) || !("content" in entry.message) || typeof entry.message.content === "string") return [];
	return entry.message.content.flatMap((block) =>
		block.type === "image" ? [{ mimeType: block.mimeType, data: block.data }] : [],
	);
}

/** The message with descriptions instead of images; the same object if it has none that are described. */
function withDescriptions(message: AppMessage, find: (image: Image) => string | undefined): AppMessage {
	if (message.role !== "user" && message.role !== "toolResult") return message;
	if (typeof message.content === "string") return message;
	let isChanged = false;
	const content = message.content.map((block) => {
		const text = block.type === "image" ? find({ mimeType: block.mimeType, data: block.data }) : undefined;
		isChanged ||= text !== undefined;
		return text === undefined
			? block
			: { type: "text" as const, text: `(an image, described by a model that saw it)\n${text}` };
	});
	return isChanged ? { ...message, content } : message;
}
