import { promises } from "node:fs";
import type { Api, AssistantMessage, Model } from "@mariozechner/pi-ai";
import { describeFailure } from "../../agent/failure.js";
import type { BuiltContext, TracedMessage } from "../../context/context-message.js";
import { isSentReply } from "../../context/convert.js";
import { type ContextImage, hasImage, imageBlocks, imagesOf } from "../../context/omitted-images.js";
import { describeError } from "../../errors.js";
import { readImageHeader } from "../../images/image-header.js";
import { type ImageRefusal, imageRefusal } from "../../images/image-refusals.js";
import { COMMON_LIMITS, imageBounds, isWithinLimits } from "../../images/limits.js";
import { originalOf, type SentImage, type SourceImage } from "../../images/sent-image.js";
import { entryTimestamp } from "../../log/entry.js";
import type { ToolResult } from "../../tools/tool.js";
import { revealLine } from "../../util/reveal.js";
import type { AgentSessionEvent } from "../events.js";
import type { SessionCore } from "../session-core.js";

/** Maximum length of the provider's error in an entry, which the model reads. Characters. */
const MAX_REASON = 200;

export type SessionImagesDeps = Pick<SessionCore, "store" | "state" | "context" | "emit">;

/** Keeps every image of a session acceptable: fits new ones to the limits, and omits those that a provider refuses. */
export class SessionImages {
	/** Model for which the user was notified that it gets no images. */
	#blindModel: string | null = null;
	/** Model for which the user was notified that images are beyond its limits. */
	#limitedModel: string | null = null;

	/** The messages of a request in which no image was found. */
	#withoutImages: readonly TracedMessage[] = [];

	/** Saved originals that no session file names. */
	readonly #originals = new Set<string>();

	constructor(private readonly deps: SessionImagesDeps) {}

	/** Call with every event of the session: the originals that a session file names are kept. */
	observe(event: AgentSessionEvent): void {
		if (event.type !== "message_end" || this.#originals.size === 0 || this.deps.state.log.path === null) return;
		for (const image of imageBlocks(event.message)) {
			const path = originalOf(image)?.path;
			if (typeof path === "string") this.#originals.delete(path);
		}
	}

	/** Deletes the originals that no session file names, at the end of the session. Never rejects. */
	async deleteOriginals(): Promise<void> {
		const paths = [...this.#originals];
		this.#originals.clear();
		await Promise.all(paths.map((path) => promises.rm(path, { force: true }).catch(() => {}))); // only takes up space
	}

	/** Fits the images of a prompt to the limits of all providers, and of the model. @throws PiError `bad_arguments` for one that cannot be sent */
	async fit(images: readonly SourceImage[]): Promise<SentImage[]> {
		if (images.length === 0) return [];
		const { fitImage } = await import("../../images/fit-image.js");
		const bounds = imageBounds(this.deps.state.model?.inputLimits?.images?.resize);
		const fitted: SentImage[] = [];
		// One after the other: each may take much memory.
		for (const image of images) {
			const sent = await fitImage(image, this.deps.store.tmpDir, bounds);
			// The original of an image with a path is a file of the user.
			if (image.path === undefined && sent.original?.path) this.#originals.add(sent.original.path);
			fitted.push(sent);
		}
		return fitted;
	}

	/** Fits the images of a tool's result. A sentence replaces an image that cannot be sent. */
	async fitResult(result: ToolResult): Promise<ToolResult> {
		if (!result.content.some(({ type }) => type === "image")) return result;
		const content: ToolResult["content"] = [];
		for (const block of result.content) {
			if (block.type !== "image") {
				content.push(block);
				continue;
			}
			try {
				// An image that is already fitted remains the same, with its original.
				const [fitted] = await this.fit([block]);
				if (fitted) content.push({ ...block, ...fitted });
			} catch (error) {
				content.push({ type: "text", text: `[${describeError(error)}]` });
			}
		}
		return { ...result, content };
	}

	/**
	 * Call before a request is sent: notifies the user once if the model does not get the images of the context.
	 * @param omitted number of images beyond the limits of the model
	 */
	noteRequest(model: Model<Api>, { messages }: BuiltContext, omitted: number): void {
		const key = `${model.provider}/${model.id}`;
		if (omitted > 0 && this.#limitedModel !== key) {
			const images = omitted === 1 ? "1 image is" : `${omitted} images are`;
			const message = `${images} beyond the limits of ${model.name}: it gets a placeholder for each`;
			this.deps.emit({ type: "notice", level: "warning", message });
		}
		this.#limitedModel = omitted > 0 ? key : null;
		if (model.input.includes("image")) this.#blindModel = null;
		else if (this.#blindModel !== key && this.#findsImage(messages)) {
			this.#blindModel = key;
			const message = `${model.id} does not accept images: it gets a placeholder for each image in the context`;
			this.deps.emit({ type: "notice", level: "warning", message });
		}
	}

	/** Looks only at messages that are new since the last call: looking at all of a long session takes milliseconds. */
	#findsImage(messages: readonly TracedMessage[]): boolean {
		const known = this.#withoutImages;
		const isFound = messages.some((item, index) => item !== known[index] && hasImage(item.message));
		if (!isFound) this.#withoutImages = messages;
		return isFound;
	}

	/** True if the provider refused the last request because of its images. */
	isRefusal(reply: AssistantMessage): boolean {
		const { stopReason, errorMessage = "" } = reply;
		const { state, context } = this.deps;
		if (stopReason !== "error" || !state.model?.input.includes("image")) return false;
		if (imageRefusal(errorMessage) === null) return false;
		return context.lastRequest?.messages.some(({ message }) => hasImage(message)) ?? false;
	}

	/**
	 * Omits the images that probably caused a refusal: writes an `image_omission` entry. Repeated refusals omit more, in the
	 * end all images of the context.
	 * @returns false if the request contained no image
	 */
	omitRefused(reply: AssistantMessage): boolean {
		const { state, context } = this.deps;
		const messages = context.lastRequest?.messages ?? [];
		const images = imagesOf(messages);
		if (images.length === 0) return false;
		const refused = suspects(imageRefusal(reply.errorMessage ?? "") ?? "image", images, messages, reply);
		const unique = new Map(refused.map(({ digest, entryIndex }) => [digest, { digest, entryIndex }]));
		state.append({
			type: "image_omission",
			timestamp: entryTimestamp(),
			images: [...unique.values()],
			provider: reply.provider,
			modelId: reply.model,
			reason: revealLine(describeFailure(reply.errorMessage), { maxLength: MAX_REASON }),
		});
		return true;
	}
}

/**
 * The images to omit, most certain first: of too many, the older half; else those beyond the limits, from an old session or
 * a hook; else those that this model has not accepted before; else all.
 */
function suspects(
	refusal: ImageRefusal,
	images: readonly ContextImage[],
	messages: readonly TracedMessage[],
	{ provider, model }: AssistantMessage,
): readonly ContextImage[] {
	if (refusal === "total") return images.slice(0, Math.ceil(images.length / 2));
	const beyond = images.filter(({ image }) => !isSendable(image));
	if (beyond.length > 0) return beyond;
	const accepted = messages.findLastIndex(
		({ message }) =>
			message.role === "assistant" && message.provider === provider && message.model === model && isSentReply(message),
	);
	const unknown = images.filter(({ position }) => position > accepted);
	return unknown.length > 0 ? unknown : images;
}

function isSendable({ data, mimeType }: SourceImage): boolean {
	if ((data.length * 3) / 4 > COMMON_LIMITS.bytes + 2) return false;
	const bytes = Buffer.from(data, "base64");
	const header = readImageHeader(bytes);
	return header !== null && header.mimeType === mimeType && isWithinLimits(header, bytes.length);
}
