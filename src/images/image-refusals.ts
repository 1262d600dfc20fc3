/** Why a provider refused a request with images: one of them, or all of them together. */
export type ImageRefusal = "image" | "total";

/** Words of providers for requests with too many images, or images that are too large together. */
const TOTAL: readonly [provider: string, pattern: RegExp][] = [
	["Anthropic", /too much media|many-image|too many images|request_too_large|request exceeds the maximum size/i],
	["OpenAI", /maximum number of images|total image (?:data|size)|payload (?:is )?too large|request entity too large/i],
	["Google", /request payload size exceeds/i],
	["Bedrock", /(?:number of|too many) images|too many image/i],
	["Mistral", /number of images|too many images/i],
	["vLLM", /at most \d+ (?:image|multi-?modal)/i],
];

/** Words of providers for an image that they do not accept or cannot read. Every provider uses the word, with few exceptions. */
const SINGLE: readonly [provider: string, pattern: RegExp][] = [
	["all", /\bimages?\b|image[_-]?(?:url|data|parse|size)|input_image|image\//i],
	["llama.cpp", /mmproj/i],
	["vLLM", /not a multi-?modal model/i],
	["LM Studio", /vision (?:model|add-on|support)/i],
	[
		"servers that know only text",
		/content\b.{0,60}(?:must be a string|should be a valid string|expected (?:a )?string)/i,
	],
];

/**
 * Whether a provider refused a request because of its images, by the text of its error.
 * @param text status and message; of a request that contained images
 */
export function imageRefusal(text: string): ImageRefusal | null {
	if (isOther(text)) return null;
	if (TOTAL.some(([, pattern]) => pattern.test(text))) return "total";
	return SINGLE.some(([, pattern]) => pattern.test(text)) ? "image" : null;
}

/** True for failures that no change of the request can prevent: keys, payment, rates, overload. */
function isOther(text: string): boolean {
	return /^\s*(?:\w+ API error \()?(?:401|402|403|408|429|502|503|504|529)\b|rate.?limit|quota|overloaded/i.test(text);
}
