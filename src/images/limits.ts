import type { Model } from "@mariozechner/pi-ai";
import type { ImageHeader, ImageType } from "./image-header.js";

type ModelImageResizeOptions = NonNullable<NonNullable<NonNullable<Model<string>["inputLimits"]>["images"]>["resize"]>;

/** The images that an API accepts. */
interface ApiLimits {
	apis: string;
	/** Types that it accepts in every form; a GIF, for example, may not be animated. */
	types: readonly ImageType[];
	/** Bytes of one image, before base64. */
	bytes: number;
	/** Longest side in pixels: the longest accepted one, or a shorter one above which the provider scales down itself. */
	edge?: number;
	/** Page of the provider with these figures. */
	source: string;
}

/** Providers do not say whether their MB is 1000² or 1024² bytes: the smaller is safe. */
const MB = 1_000_000;
const PNG_JPEG_WEBP = ["image/png", "image/jpeg", "image/webp"] as const;

/** The documented limits of each API that pi supports, as of November 2026. */
export const API_LIMITS: readonly ApiLimits[] = [
	{
		// 5 MB of base64. Accepts 8000 px, and 2000 px in requests with more than 20 images. Scales to 1568 px, for some models
		// to 2576 px.
		apis: "anthropic-messages",
		types: [...PNG_JPEG_WEBP, "image/gif"],
		bytes: (5 * MB * 3) / 4,
		edge: 1568,
		source: "https://platform.claude.com/docs/en/build-with-claude/vision",
	},
	{
		// A GIF must not be animated. Up to 500 images and 50 MB in a request; scales to 2000 px, and 768 px on the shorter side.
		apis: "openai-completions, openai-responses, azure-openai-responses, openai-codex-responses",
		types: PNG_JPEG_WEBP,
		bytes: 20 * MB,
		edge: 2000,
		source: "https://platform.openai.com/docs/guides/images-vision",
	},
	{
		// 7 MB is the limit of Vertex AI for inline data; the Gemini API limits only the complete request. No limit in pixels.
		apis: "google-generative-ai, google-vertex",
		types: PNG_JPEG_WEBP,
		bytes: 7 * MB,
		source: "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-understanding",
	},
	{
		// Up to 20 images in a message.
		apis: "bedrock-converse-stream",
		types: [...PNG_JPEG_WEBP, "image/gif"],
		bytes: 3.75 * MB,
		edge: 8000,
		source: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html",
	},
	{
		// A GIF must not be animated.
		apis: "mistral-conversations",
		types: PNG_JPEG_WEBP,
		bytes: 10 * MB,
		source: "https://docs.mistral.ai/capabilities/vision",
	},
	{
		// What the list of pi-ai says about all models that accept images: 4.5 MiB of base64.
		apis: "models of the list",
		types: PNG_JPEG_WEBP,
		bytes: (4.5 * 1024 * 1024 * 3) / 4,
		edge: 2000,
		source: "https://www.npmjs.com/package/@earendil-works/pi-ai",
	},
	{
		// llama.cpp decodes images with stb_image, which does not read WebP; long images exceed small contexts.
		apis: "local servers",
		types: ["image/png", "image/jpeg"],
		bytes: 10 * MB,
		edge: 1568,
		source: "https://github.com/nothings/stb/blob/master/stb_image.h",
	},
];

/**
 * What every API accepts. pi sends all images within these limits, whatever the model: the log keeps what was sent, and a
 * session may continue with any other model.
 */
export const COMMON_LIMITS = {
	types: API_LIMITS.reduce(
		(common, { types }) => common.filter((type) => types.includes(type)),
		API_LIMITS[0]?.types ?? [],
	),
	bytes: Math.min(...API_LIMITS.map(({ bytes }) => bytes)),
	edge: Math.min(...API_LIMITS.map(({ edge }) => edge ?? Number.POSITIVE_INFINITY)),
};

/** What an image must not exceed. */
export interface ImageBounds {
	/** Pixels. */
	width: number;
	height: number;
	/** Size of the file. */
	bytes: number;
}

/** The bounds of an image that enters the session: those of all APIs, and those of the model where they are smaller. */
export function imageBounds(limits: ModelImageResizeOptions = {}): ImageBounds {
	const { bytes, edge } = COMMON_LIMITS;
	const { maxWidth = edge, maxHeight = edge, maxBytes } = limits;
	return {
		width: Math.min(edge, maxWidth),
		height: Math.min(edge, maxHeight),
		// Those of models are bytes of base64.
		bytes: Math.min(bytes, maxBytes === undefined ? bytes : Math.floor(maxBytes / 4) * 3),
	};
}

/** Images with more pixels are not decoded: decoding 100 million takes 1.2 GB of memory and 8 s. */
export const MAX_PIXELS = 100_000_000;

/** Whether an image can be sent as it is. @param bytes size of the file */
export function isWithinLimits(
	{ mimeType, width, height }: ImageHeader,
	bytes: number,
	bounds: ImageBounds = imageBounds(),
): boolean {
	const fits = width <= bounds.width && height <= bounds.height && bytes <= bounds.bytes;
	return fits && COMMON_LIMITS.types.includes(mimeType);
}
